//! The first connection, which is awaited, and the messages for its failures.
//!
//! It uses the same code as the connections of the load, and finds out which of several endpoints
//! answers and how long a connection takes. The preflight uses it for an exchange.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    io::Errno,
    net::{
        SocketFlags,
        sockopt::{self, Timeout},
    },
};
use std::{
    fs,
    os::unix::fs::FileTypeExt,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_schema::units::write_duration;

use crate::{
    dial::{Dialer, Endpoint, sources::Sources},
    error::LoadError,
};

/// Interval of the check whether to give up a wait.
const SLICE: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct First {
    pub(crate) socket: OwnedFd,
    pub(crate) endpoint: Endpoint,
    /// Time it took to make it.
    pub(crate) took: Duration,
}

/// The time limit of a wait, and a flag to stop it earlier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitLimit<'a> {
    pub(crate) timeout: Duration,
    pub(crate) stop: &'a AtomicBool,
}

/// Tries one endpoint after the other. Returns neither a connection nor an error if it was stopped.
pub(crate) fn connect(
    endpoints: &[Endpoint],
    sources: &Sources,
    limit: WaitLimit<'_>,
) -> Result<Option<First>, LoadError> {
    let mut failure = None;
    for endpoint in endpoints {
        let began = Instant::now();
        let dialer = Dialer::new(endpoint.clone(), sources.clone());
        match dialer.dial_and_wait(limit) {
            Ok(None) => return Ok(None),
            Ok(Some(socket)) => {
                let (endpoint, took) = (endpoint.clone(), began.elapsed());
                return Ok(Some(First { socket, endpoint, took }));
            }
            Err(error) => failure = explain(endpoint, error, limit.timeout).or(failure),
        }
    }
    let all = || endpoints.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
    Err(failure.unwrap_or_else(|| LoadError::NothingListens { addresses: all() }))
}

impl Dialer {
    /// Makes the connection with number 0, and waits until it is established.
    fn dial_and_wait(&self, limit: WaitLimit<'_>) -> Result<Option<OwnedFd>, Errno> {
        let deadline = Instant::now().checked_add(limit.timeout);
        let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let is_stopped = || limit.stop.load(Ordering::Relaxed);
        match &self.route.endpoint {
            Endpoint::Ip(_) => {
                let socket = self.dial(0)?;
                let slice = Timespec { tv_sec: 0, tv_nsec: i64::from(SLICE.subsec_nanos()) };
                while !is_stopped() {
                    let mut watched = [PollFd::new(&socket, PollFlags::OUT)];
                    match poll(&mut watched, Some(&slice)) {
                        Ok(0) | Err(Errno::INTR) if is_late() => return Err(Errno::TIMEDOUT),
                        Ok(0) | Err(Errno::INTR) => {}
                        Ok(_) => return sockopt::socket_error(&socket)?.map(|()| Some(socket)),
                        Err(error) => return Err(error),
                    }
                }
            }
            Endpoint::Unix(_) => {
                // A backlog that is full cannot be polled for, but a blocking call waits for it.
                let socket = self.socket(0, SocketFlags::empty())?;
                sockopt::set_socket_timeout(&socket, Timeout::Send, Some(SLICE))?;
                while !is_stopped() {
                    match self.connect(&socket) {
                        Ok(()) => return Ok(Some(socket)),
                        Err(Errno::AGAIN | Errno::INTR) if is_late() => return Err(Errno::AGAIN),
                        Err(Errno::AGAIN | Errno::INTR) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Why there is no connection. Addresses without a listener are reported together.
fn explain(endpoint: &Endpoint, error: Errno, timeout: Duration) -> Option<LoadError> {
    let address = match endpoint {
        Endpoint::Unix(address) => {
            return Some(explain_unix(&super::endpoint::path_of(address), error, timeout));
        }
        Endpoint::Ip(address) => address.to_string(),
    };
    let reason = match error {
        Errno::CONNREFUSED => return None,
        Errno::TIMEDOUT => format!("no answer within {}", write_duration(timeout)),
        Errno::ADDRNOTAVAIL => {
            let sentence = format!(
                "no local port is free for a connection to {address}: wait a minute until closed \
                 ones have left TIME_WAIT, or give --source another address of this host"
            );
            return Some(LoadError::Configuration(sentence));
        }
        // The way to an address of this machine is its loopback interface.
        Errno::NETUNREACH if matches!(endpoint, Endpoint::Ip(it) if it.ip().is_loopback()) => {
            let sentence = format!(
                "cannot connect to {address}: the loopback interface is down: run `ip link set lo up`"
            );
            return Some(LoadError::Configuration(sentence));
        }
        other => other.to_string(),
    };
    Some(LoadError::Connect { address, reason })
}

fn explain_unix(path: &str, error: Errno, timeout: Duration) -> LoadError {
    let is_socket = || fs::metadata(path).is_ok_and(|file| file.file_type().is_socket());
    let (reason, next_step) = match error {
        Errno::NOENT => ("there is no such file", "start the server first, or check the path"),
        Errno::ACCESS => (
            "permission denied",
            "run as a user who may write to it and enter the folders above it",
        ),
        // The kernel gives the same error for a socket without a listener and a file that is not a socket.
        Errno::CONNREFUSED if is_socket() => (
            "nothing listens on it",
            "start the server first; the file of a socket outlives its server",
        ),
        Errno::CONNREFUSED => ("it is not a socket", "check the path"),
        Errno::PROTOTYPE => ("it is a socket, but not one for streams", "check the path"),
        Errno::AGAIN => (
            &*format!("its backlog stayed full for {}", write_duration(timeout)),
            "check that the server accepts connections",
        ),
        other => (&*other.to_string(), "check the path"),
    };
    LoadError::UnixSocket { path: path.to_owned(), reason: reason.to_owned(), next_step }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;
    use std::{
        net::TcpListener,
        os::unix::net::{UnixDatagram, UnixListener},
    };

    const TIMEOUT: Duration = Duration::from_millis(300);

    fn try_connect(endpoints: &[Endpoint]) -> Result<Option<First>, LoadError> {
        let stop = AtomicBool::new(false);
        connect(endpoints, &Sources::default(), WaitLimit { timeout: TIMEOUT, stop: &stop })
    }

    fn unix_sentence(path: &std::path::Path) -> String {
        let endpoint = Endpoint::unix(path.to_str().unwrap()).unwrap();
        try_connect(&[endpoint]).unwrap_err().to_string()
    }

    #[test]
    fn one_endpoint_after_the_other_is_tried() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (good, bad) = (listener.local_addr().unwrap(), "127.0.0.1:9".parse().unwrap());
        let first = try_connect(&[Endpoint::Ip(bad), Endpoint::Ip(good)]).unwrap().unwrap();
        assert_eq!(first.endpoint, Endpoint::Ip(good));
    }

    #[test]
    fn each_way_in_which_a_unix_socket_cannot_be_connected_to_has_its_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "").unwrap();
        drop(UnixListener::bind(path("gone")).unwrap());
        let _datagram = UnixDatagram::bind(path("datagram")).unwrap();
        let names = ["none", "file", "gone", "datagram", "file/x"];
        let sentences = names.map(|name| unix_sentence(&path(name)) + "\n").concat();
        let sentences = sentences.replace(folder.path().to_str().unwrap(), "FOLDER");
        let denied = explain_unix("x", Errno::ACCESS, TIMEOUT);
        expect_file!["golden/unix.txt"].assert_eq(&format!("{sentences}{denied}\n"));
    }

    #[test]
    fn a_backlog_that_stays_full_is_reported_after_the_timeout_and_a_stop_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("full");
        let listener = UnixListener::bind(&path).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let endpoint = Endpoint::unix(path.to_str().unwrap()).unwrap();
        let _held = try_connect(std::slice::from_ref(&endpoint)).unwrap().unwrap();
        let sentence = unix_sentence(&path).replace(path.to_str().unwrap(), "PATH");
        assert_eq!(
            sentence,
            "cannot connect to the Unix socket `PATH` (its backlog stayed full for 300ms): check \
             that the server accepts connections"
        );
        let stop = AtomicBool::new(true);
        let limit = WaitLimit { timeout: TIMEOUT, stop: &stop };
        assert!(connect(&[endpoint], &Sources::default(), limit).unwrap().is_none());
    }
}
