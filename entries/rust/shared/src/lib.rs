//! What the Rust entries share: the command line, the `listening` line, the ends of heads, the work
//! of requests and the start of workers that each have a listener.
//!
//! It deliberately serves no connection: that is the part of each entry's framework.

mod heads;
mod options;
#[cfg(feature = "prefork")]
pub mod prefork;
#[cfg(feature = "work")]
mod work;

use std::fmt::Display;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

pub use heads::{HeadCounter, REPLY, replies};
pub use options::{Options, Scenario};
#[cfg(feature = "work")]
pub use work::{WorkReader, work};

/// Bytes that a connection reads at once.
pub const READ_BYTES: usize = 16 * 1024;
/// Connections that may wait to be accepted.
pub const BACKLOG: u16 = 4096;
/// The pause after an accept that failed for lack of file descriptors or memory.
pub const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Runs a server that knows `scenarios` with the options of the command line. A server ends only
/// when it fails.
pub fn main(scenarios: &[&str], run: impl FnOnce(&Options) -> io::Result<()>) -> ExitCode {
    if let Err(error) = run(&Options::from_command_line(scenarios)) {
        eprintln!("{error}");
    }
    ExitCode::FAILURE
}

/// Reports that the server accepts connections.
pub fn announce(address: SocketAddr) -> io::Result<()> {
    let mut output = io::stdout();
    writeln!(output, "listening {address}")?;
    output.flush()
}

/// Ends the program because of an argument that it cannot use.
pub fn refuse(reason: impl Display) -> ! {
    eprintln!("{reason}");
    std::process::exit(2)
}
