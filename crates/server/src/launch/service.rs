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
    service: Service,
}

impl Running {
    pub(super) fn tree(&self) -> Vec<Pid> {
        with_descendants(&self.roots)
    }

    /// Why figures are not those of the service that was there at first.
    pub(super) fn replaced(&self) -> Option<LaunchError> {
        replaced(&self.service)
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
                if let Some(replaced) = replaced(service) {
                    return Err(replaced);
                }
                return Ok(Running {
                    address: *address,
                    url: vec![service.target.to_string()],
                    stderr: StderrTail::default(),
                    roots: roots(service, *address),
                    service: service.clone(),
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
    with_descendants(&known_roots(service))
}

fn known_roots(service: &Service) -> Vec<Pid> {
    let mut of_each = service.addresses.iter().map(|address| roots(service, *address));
    of_each.find(|pids| !pids.is_empty()).unwrap_or_default()
}

/// The oldest of them and since when it runs, in words. Workers come and go with the same instance.
#[must_use]
pub fn instance(service: &Service) -> Option<String> {
    let stats = known_roots(service).into_iter().filter_map(|pid| tree::process(pid)?.stat().ok());
    let oldest = stats.filter(tree::lives).min_by_key(|stat| stat.starttime)?;
    let seconds = oldest.starttime as f64 / procfs::ticks_per_second() as f64;
    Some(format!("{} ({}), started {seconds:.2} s after boot", oldest.pid, oldest.comm))
}

fn replaced(service: &Service) -> Option<LaunchError> {
    let before = service.instance.clone()?;
    let now = instance(service).unwrap_or_else(|| "gone".to_owned());
    let url = service.target.to_string();
    (before != now).then_some(LaunchError::Replaced { url, before, now })
}

/// The address of a service on which the named process does not listen, although others do.
#[must_use]
pub fn listens_elsewhere(service: &Service) -> Option<SocketAddr> {
    let own = with_descendants(&known_roots(service));
    let listens = |address: &SocketAddr| {
        let sockets = listeners::taking(*address);
        !sockets.is_empty() && listeners::foreign(sockets.clone(), &own) == sockets
    };
    let named = (!service.processes.is_empty()).then_some(&service.addresses);
    named.into_iter().flatten().find(|it| listens(it)).copied()
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
            instance: None,
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
    fn a_service_that_was_restarted_is_named_with_both_processes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut known = service(listener.local_addr().unwrap(), &[]);
        assert_eq!(listens_elsewhere(&known), None);
        known.instance = instance(&known);
        let running = find(&known, &AtomicBool::new(false)).unwrap();
        assert!(running.replaced().is_none());
        known.instance = Some("1 (other), started 0.01 s after boot".to_owned());
        let text = find(&known, &AtomicBool::new(false)).unwrap_err().to_string();
        assert!(text.contains("was 1 (other), started 0.01 s after boot and is "), "{text}");
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&other).as_raw_nonzero().get();
        let named = service(known.addresses[0], &[pid]);
        assert_eq!(listens_elsewhere(&named), Some(known.addresses[0]));
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(instance(&named), None);
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
