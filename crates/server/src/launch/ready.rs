//! The ways to learn that a server accepts connections.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_schema::{entry::Ready, scenario::Protocol};

use super::{
    LaunchError, Launcher, ReadyWhen, Request, listeners, socket::Socket, started::Started,
};
use crate::guard::{Exit, GuardEvent};

/// How often a wait looks whether a signal asked to end, and tries to connect again.
const STEP: Duration = Duration::from_millis(20);
/// How long one attempt to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);

/// How long to wait, and what a signal to end sets.
type Limit<'a> = (Duration, &'a AtomicBool);

/// Starts a server and waits until it accepts connections.
pub(super) fn start(
    launcher: &Launcher,
    request: &Request<'_>,
    stop: &AtomicBool,
) -> Result<Started, LaunchError> {
    let on_socket = request.listens_on_socket();
    let prints = request.variant.run.ready == Ready::Line;
    // The kernel chooses the port of a server that prints it.
    let port = if on_socket || prints { 0 } else { free_port(launcher)? };
    let mut server = Started::spawn(launcher, request, port)?;
    let limit = (launcher.ready_timeout, stop);
    let address = match prints {
        _ if on_socket => by_socket(&mut server, limit),
        true => by_line(&mut server, limit),
        false => by_connect(&mut server, limit),
    }?;
    server.is_ready(address);
    let is_http = request.scenario.protocol() == Protocol::Http1;
    if launcher.ready_when == ReadyWhen::Reply && is_http && !on_socket {
        wait(&mut server, limit, |_, _| Ok(answers(address)))?;
    }
    Ok(server)
}

/// The server prints `listening HOST:PORT`.
fn by_line(server: &mut Started, limit: Limit<'_>) -> Result<SocketAddr, LaunchError> {
    let missing = || "it printed no line `listening HOST:PORT`".to_owned();
    let line = wait(server, limit, |_, event| match event {
        Some(GuardEvent::Stdout { line }) => Ok(Ok(line)),
        _ => Ok(Err(missing())),
    })?;
    let address = line.strip_prefix("listening ").and_then(|text| text.trim().parse().ok());
    let Some(address) = address else { return Err(LaunchError::ReadyLine { line }) };
    // Usually it listens by now, and no wait is needed.
    if !listens(server, address)? {
        let missing = || "nothing listens on the address that it printed".to_owned();
        wait(server, limit, |server, _| {
            Ok(listens(server, address)?.then_some(()).ok_or_else(missing))
        })
        .map_err(|error| instead(error, server, address))?;
    }
    Ok(address)
}

/// The server says nothing: a connection succeeds to an address on which it listens.
fn by_connect(server: &mut Started, limit: Limit<'_>) -> Result<SocketAddr, LaunchError> {
    let address = server.address;
    let missing = || "nothing accepts connections on the port that it was given".to_owned();
    wait(server, limit, |server, _| {
        let accepts = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok();
        Ok((accepts && listens(server, address)?).then_some(()).ok_or_else(missing))
    })
    .map_err(|error| instead(error, server, address))?;
    Ok(address)
}

/// The server listens on a Unix socket in a folder that is its own, so that no other process can take its connections.
fn by_socket(server: &mut Started, limit: Limit<'_>) -> Result<SocketAddr, LaunchError> {
    wait(server, limit, |server, _| {
        let accepts = server.socket.as_ref().is_some_and(Socket::accepts);
        Ok(accepts.then_some(()).ok_or_else(|| {
            "nothing accepts connections on the Unix socket whose path replaces {path}".to_owned()
        }))
    })?;
    Ok(server.address)
}

/// Whether `GET /` gives status 200, or what it gives instead.
fn answers(address: SocketAddr) -> Result<(), String> {
    let begun = get(address).unwrap_or_else(|error| error.to_string().into_bytes());
    let status = begun.get(8..12).filter(|_| begun.starts_with(b"HTTP/1."));
    match status {
        Some(b" 200") => Ok(()),
        _ => Err(format!("GET / gave `{}`", String::from_utf8_lossy(&begun))),
    }
}

/// The first bytes of the reply to `GET /`.
fn get(address: SocketAddr) -> io::Result<Vec<u8>> {
    const STATUS_LINE_BYTES: u64 = 15;
    let mut stream = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT)?;
    stream.set_read_timeout(Some(CONNECT_TIMEOUT))?;
    let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut begun = Vec::new();
    stream.take(STATUS_LINE_BYTES).read_to_end(&mut begun)?;
    Ok(begun)
}

/// Whether the server listens on `address`. It is an error if another process does.
fn listens(server: &Started, address: SocketAddr) -> Result<bool, LaunchError> {
    // The sockets come first: a process that holds one of them and hands it on is in the tree.
    let sockets = listeners::taking(address);
    let is_any = !sockets.is_empty();
    match listeners::foreign(sockets, &server.tree()).first() {
        None => Ok(is_any),
        Some(&socket) => {
            let holder = listeners::named(listeners::holder(socket));
            Err(LaunchError::Foreign { address, holder })
        }
    }
}

/// The same error with where the server listens instead of on `address`, if it does.
fn instead(error: LaunchError, server: &Started, address: SocketAddr) -> LaunchError {
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
fn free_port(launcher: &Launcher) -> Result<u16, LaunchError> {
    Ok(TcpListener::bind((launcher.host, 0))?.local_addr()?.port())
}

/// Waits until `found` has an answer instead of what is missing. It sees each event of the guard,
/// and `None` at least every [`STEP`].
fn wait<T>(
    server: &mut Started,
    (timeout, stop): Limit<'_>,
    mut found: impl FnMut(&Started, Option<GuardEvent>) -> Result<Result<T, String>, LaunchError>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_answers_once_its_status_is_200() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let replies = ["HTTP/1.1 503 Service Unavailable\r\n", "SSH-2.0", "HTTP/1.1 200 OK\r\n"];
        let server = std::thread::spawn(move || {
            for reply in replies {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 1024];
                let length = stream.read(&mut request).unwrap();
                assert!(request[..length].starts_with(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:"));
                stream.write_all(reply.as_bytes()).unwrap();
            }
        });
        assert_eq!(answers(address), Err("GET / gave `HTTP/1.1 503 Se`".to_owned()));
        assert_eq!(answers(address), Err("GET / gave `SSH-2.0`".to_owned()));
        assert_eq!(answers(address), Ok(()));
        server.join().unwrap();
    }
}
