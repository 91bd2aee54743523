//! The two ways to learn that a server accepts connections.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use super::{LaunchError, Launcher, Request, Server, listeners};
use crate::guard::{Exit, GuardEvent};

/// How often a wait looks whether a signal asked to end, and tries to connect again.
const STEP: Duration = Duration::from_millis(20);
/// How long one attempt to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);

/// The server prints `listening HOST:PORT`.
pub(super) fn by_line(
    launcher: &Launcher,
    request: &Request<'_>,
    stop: &AtomicBool,
) -> Result<Server, LaunchError> {
    let mut server = Server::spawn(launcher, request, 0)?;
    let missing = || "it printed no line `listening HOST:PORT`".to_owned();
    let line = wait(&mut server, launcher.ready_timeout, stop, |_, event| match event {
        Some(GuardEvent::Stdout { line }) => Ok(Ok(line)),
        _ => Ok(Err(missing())),
    })?;
    let address = line.strip_prefix("listening ").and_then(|text| text.trim().parse().ok());
    let Some(address) = address else { return Err(LaunchError::ReadyLine { line }) };
    // Usually it listens by now, and no wait is needed.
    if !listens(&server, address)? {
        let missing = || "nothing listens on the address that it printed".to_owned();
        wait(&mut server, launcher.ready_timeout, stop, |server, _| {
            Ok(listens(server, address)?.then_some(()).ok_or_else(missing))
        })
        .map_err(|error| instead(error, &server, address))?;
    }
    server.is_ready(address);
    Ok(server)
}

/// The server says nothing: a connection succeeds to an address on which it listens.
pub(super) fn by_connect(
    launcher: &Launcher,
    request: &Request<'_>,
    stop: &AtomicBool,
) -> Result<Server, LaunchError> {
    let address = free_address(launcher)?;
    let mut server = Server::spawn(launcher, request, address.port())?;
    let missing = || "nothing accepts connections on the port that it was given".to_owned();
    wait(&mut server, launcher.ready_timeout, stop, |server, _| {
        if TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_err() {
            return Ok(Err(missing()));
        }
        Ok(listens(server, address)?.then_some(()).ok_or_else(missing))
    })
    .map_err(|error| instead(error, &server, address))?;
    server.is_ready(address);
    Ok(server)
}

/// Whether the server listens on `address`. It is an error if another process does.
fn listens(server: &Server, address: SocketAddr) -> Result<bool, LaunchError> {
    // The sockets come first: a process that holds one of them and hands it on is in the tree.
    let sockets = listeners::taking(address);
    let is_any = !sockets.is_empty();
    match listeners::foreign(sockets, &server.tree()).first() {
        None => Ok(is_any),
        Some(&socket) => Err(LaunchError::Foreign { address, holder: listeners::holder(socket) }),
    }
}

/// The same error with where the server listens instead of on `address`, if it does.
fn instead(error: LaunchError, server: &Server, address: SocketAddr) -> LaunchError {
    let LaunchError::NotReady { after, mut missing, stderr } = error else { return error };
    let found = listeners::of(&server.tree());
    if let Some(other) = found.iter().find(|it| it.port() == address.port()) {
        missing += &format!(
            "; it listens on {other}: make it listen on {}, or give --address {}",
            address.ip(),
            other.ip()
        );
    } else if !found.is_empty() {
        let others: Vec<String> = found.iter().map(SocketAddr::to_string).collect();
        missing += &format!(
            "; it listens on {}: make it listen on {address}, whose port replaces {{port}} in its command",
            others.join(", ")
        );
    }
    LaunchError::NotReady { after, missing, stderr }
}

/// A port that the kernel chose and that no process holds any more. Another program may take it before
/// the server does; that is noticed, because the accepting socket must be the server's.
fn free_address(launcher: &Launcher) -> Result<SocketAddr, LaunchError> {
    Ok(TcpListener::bind((launcher.host, 0))?.local_addr()?)
}

/// Waits until `found` has an answer instead of what is missing. It sees each event of the guard,
/// and `None` at least every [`STEP`].
fn wait<T>(
    server: &mut Server,
    timeout: Duration,
    stop: &AtomicBool,
    mut found: impl FnMut(&Server, Option<GuardEvent>) -> Result<Result<T, String>, LaunchError>,
) -> Result<T, LaunchError> {
    let until = Instant::now() + timeout;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(LaunchError::Interrupted);
        }
        let event = server.next_event(STEP)?;
        let missing = match event {
            Some(GuardEvent::SpawnFailed { reason }) => return Err(LaunchError::Spawn(reason)),
            Some(GuardEvent::Exited { exit }) => {
                let processes = server.outlived_by();
                if exit == Exit::Code(0) && !processes.is_empty() {
                    return Err(LaunchError::Background { processes });
                }
                return Err(LaunchError::Exited { exit, stderr: server.final_stderr() });
            }
            event => match found(server, event)? {
                Ok(answer) => return Ok(answer),
                Err(missing) => missing,
            },
        };
        if Instant::now() >= until {
            let stderr = server.stderr().text();
            return Err(LaunchError::NotReady { after: timeout, missing, stderr });
        }
    }
}
