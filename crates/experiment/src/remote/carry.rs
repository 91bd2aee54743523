//! What stands for a carrier on the host of the servers: a process that hands its script and its lines to the
//! process that has started it, which has them carried from the other side.

use serde::{Deserialize, Serialize};
use std::{
    io::{self, BufRead, BufReader, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::Path,
};
use wirebench_schema::hosting::HostCommand;
use wirebench_server::parallel;

/// The environment variable with the socket of the process that has the lines carried.
pub(super) const SOCKET_VARIABLE: &str = "WIREBENCH_RELAY";

/// The first line that is handed over.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Order {
    pub(super) host: String,
    pub(super) script: String,
}

/// Has `script` carried to `host`, with this process's input and output. The answer is the exit code.
pub fn carry(host: String, script: String) -> io::Result<i32> {
    let missing = || io::Error::other("only wirebench itself starts this");
    let socket = std::env::var_os(SOCKET_VARIABLE).ok_or_else(missing)?;
    let mut stream = UnixStream::connect(Path::new(&socket))?;
    writeln!(stream, "{}", serde_json::to_string(&Order { host, script })?)?;
    let mut to = stream.try_clone()?;
    parallel::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut to);
        let _ = to.shutdown(Shutdown::Write);
    })?;
    for line in BufReader::new(stream).lines() {
        match serde_json::from_str(&line?)? {
            HostCommand::Line { line, .. } => {
                let mut stdout = io::stdout().lock();
                writeln!(stdout, "{line}")?;
                stdout.flush()?;
            }
            HostCommand::Closed { code, stderr, .. } => {
                let _ = io::stderr().write_all(stderr.as_bytes());
                return Ok(code.unwrap_or(1));
            }
            _ => {}
        }
    }
    Err(io::Error::other("the process that has the lines carried has ended"))
}
