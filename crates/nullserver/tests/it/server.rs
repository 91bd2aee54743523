//! A null server as a child process that cannot outlive its test. Not a fake: it is the example
//! program that cargo built next to this test.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Resource, Rlimit, Signal};

use crate::client::{Client, REPLY, REQUEST};

/// A running server; dropping it kills it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    is_hello: bool,
    child: Child,
}

/// How many descriptors the server may have.
#[derive(Clone, Copy)]
pub(crate) enum Descriptors {
    AsGiven,
    AtMost(u64),
}

impl Server {
    /// Starts a server with these arguments.
    pub(crate) fn start(line: &str) -> Self {
        Self::start_within(line, Descriptors::AsGiven)
    }

    pub(crate) fn start_within(line: &str, descriptors: Descriptors) -> Self {
        let mut child = command(line, descriptors).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let address = ready.strip_prefix("listening ").expect("the ready line").trim_end();
        let address = address.parse().expect("a literal address with a port");
        Self { address, is_hello: line.contains("hello"), child }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.address)
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// The server still answers a new client.
    pub(crate) fn assert_serves(&self) {
        let mut client = self.connect();
        if self.is_hello {
            client.send(REQUEST);
            client.expect(REPLY);
        } else {
            client.send(b"still there?");
            client.expect(b"still there?");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail harmlessly when the server has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server's program with these arguments, set up so that it is killed when this process ends in
/// whatever way.
pub(crate) fn command(line: &str, descriptors: Descriptors) -> Command {
    let mut command = Command::new(program());
    command.args(line.split(' ')).stdin(Stdio::null());
    // SAFETY: The closure makes system calls only, and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if let Descriptors::AtMost(limit) = descriptors {
                let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
                rustix::process::setrlimit(Resource::Nofile, limit)?;
            }
            Ok(())
        });
    }
    command
}

/// Cargo puts tests into `deps` and examples into `examples` of the same folder. A plain `cargo
/// test` brings both up to date; `cargo test --test it` leaves the example as it is, so build that
/// first with `cargo build --examples`.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).expect("tests lie in PROFILE/deps");
    let program = profile.join("examples/null_server");
    assert!(program.exists(), "{} is missing; `cargo test` builds it", program.display());
    program
}
