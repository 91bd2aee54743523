//! A service that runs already: where it accepts connections, and which processes of this host are its own.

use rustix::process::{Pid, getpid};
use std::{
    net::{SocketAddr, TcpStream, UdpSocket},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wirebench_schema::entry::Service;

use super::{LaunchError, StderrTail, listeners};
use crate::tree;

/// How long a connection to a service may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A service that accepts connections.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) address: SocketAddr,
    /// In the place of a command.
    pub(super) url: Vec<String>,
    pub(super) stderr: StderrTail,
    roots: Vec<Pid>,
}

impl Running {
    pub(super) fn tree(&self) -> Vec<Pid> {
        with_descendants(&self.roots)
    }
}

/// The service at the first of its addresses that accepts a connection.
pub(super) fn find(service: &Service, stop: &AtomicBool) -> Result<Running, LaunchError> {
    let mut reason = "its name has no address".to_owned();
    for address in &service.addresses {
        if stop.load(Ordering::Relaxed) {
            return Err(LaunchError::Interrupted);
        }
        match TcpStream::connect_timeout(address, CONNECT_TIMEOUT) {
            Ok(_) => {
                return Ok(Running {
                    address: *address,
                    url: vec![service.target.to_string()],
                    stderr: StderrTail::default(),
                    roots: roots(service, *address),
                });
            }
            Err(error) => reason = format!("{address}: {error}"),
        }
    }
    Err(LaunchError::Service { url: service.target.to_string(), reason })
}

/// The processes of a service that are known on this host.
#[must_use]
pub fn processes(service: &Service) -> Vec<Pid> {
    let mut of_each = service.addresses.iter().map(|address| roots(service, *address));
    with_descendants(&of_each.find(|pids| !pids.is_empty()).unwrap_or_default())
}

/// The processes that were named, or those that listen on the address.
fn roots(service: &Service, address: SocketAddr) -> Vec<Pid> {
    let named: Vec<Pid> = service.processes.iter().filter_map(|pid| Pid::from_raw(*pid)).collect();
    if !named.is_empty() {
        return named;
    }
    // A listener on all addresses takes connections to those of this host only.
    if UdpSocket::bind((address.ip(), 0)).is_err() {
        return Vec::new();
    }
    let mut holders = listeners::holders(&listeners::taking(address));
    if holders.len() > 1 {
        // It holds the sockets of the services that it starts on demand, and is none of them.
        holders.retain(|pid| *pid != Pid::INIT);
    }
    holders
}

/// These processes and what they have started, without wirebench, which one of them may have started.
fn with_descendants(roots: &[Pid]) -> Vec<Pid> {
    let with = |pid: Pid| [vec![pid], tree::descendants(pid)].concat();
    let own = with(getpid());
    let mut all: Vec<Pid> = Vec::new();
    for pid in roots.iter().filter(|pid| tree::is_alive(**pid)).flat_map(|pid| with(*pid)) {
        // A root is meant itself, also where it is this process, as in a test.
        let is_its = roots.contains(&pid) || !own.contains(&pid);
        if is_its && !all.contains(&pid) {
            all.push(pid);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use wirebench_schema::target::Target;

    fn service(address: SocketAddr, processes: &[i32]) -> Service {
        let target: Target = format!("http://{address}/").parse().unwrap();
        Service {
            target,
            addresses: vec![address],
            processes: processes.to_vec(),
            full_speed: true,
        }
    }

    #[test]
    fn the_process_that_listens_is_that_of_the_service_unless_another_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let found = find(&service(address, &[]), &AtomicBool::new(false)).unwrap();
        assert_eq!(found.address, address);
        assert!(found.tree().contains(&getpid()));
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&other);
        let named = service(address, &[pid.as_raw_nonzero().get()]);
        assert_eq!(processes(&named), [pid]);
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(processes(&named), []);
    }

    #[test]
    fn a_service_elsewhere_has_no_process_here_whatever_listens_on_all_addresses() {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let elsewhere =
            SocketAddr::new([192, 0, 2, 1].into(), listener.local_addr().unwrap().port());
        assert_eq!(processes(&service(elsewhere, &[])), []);
    }

    #[test]
    fn a_service_that_does_not_run_is_named_with_the_reason() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = find(&service(free, &[]), &AtomicBool::new(false)).unwrap_err().to_string();
        let begin = format!("no connection to http://{free}/: {free}: Connection refused");
        assert!(error.starts_with(&begin) && error.contains("start the service"), "{error}");
    }
}
