//! Listening sockets, one for each worker. Not an acceptor: accepting is the engines' own business.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use rustix::io::Errno;
use socket2::{Domain, Protocol, Socket, Type};

use crate::Options;

/// How many connections may wait to be accepted; the kernel lowers it to `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// How long accepting rests after the kernel refused a connection for want of something, such as
/// descriptors. The listening socket stays readable meanwhile, so trying on without a rest would
/// burn a whole CPU.
pub(crate) const ACCEPT_REST: Duration = Duration::from_millis(100);

/// The consequence of a failed accept for the next one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AcceptFailure {
    /// This connection is lost, and the next one may be fine.
    Passing,
    /// The next one would fail as well.
    Exhausted,
}

impl AcceptFailure {
    pub(crate) fn of(error: Errno) -> Self {
        match error {
            // accept(2) reports errors that are already pending on the new socket; they concern
            // no other socket.
            Errno::CONNABORTED
            | Errno::INTR
            | Errno::PROTO
            | Errno::NETDOWN
            | Errno::NETUNREACH
            | Errno::HOSTDOWN
            | Errno::HOSTUNREACH
            | Errno::NOPROTOOPT
            | Errno::NONET
            | Errno::TIMEDOUT => Self::Passing,
            _ => Self::Exhausted,
        }
    }
}

/// Opens one listening socket for each worker, all at one address, which is returned with the real
/// port.
pub(crate) fn open_listeners(options: &Options) -> io::Result<(Vec<TcpListener>, SocketAddr)> {
    let workers = options.workers.get();
    let sharing = if workers == 1 { PortSharing::Refused } else { PortSharing::AmongWorkers };
    let first = open_listener(SocketAddr::new(options.host, options.port), sharing)?;
    // With port 0 the first bind lets the kernel choose, and the others follow it.
    let address = first.local_addr()?;
    let mut listeners = vec![first];
    for _ in 1..workers {
        listeners.push(open_listener(address, sharing)?);
    }
    Ok((listeners, address))
}

/// Whether several sockets may listen at one address.
#[derive(Clone, Copy, Debug)]
enum PortSharing {
    /// A port that is taken is an error. A second server would otherwise silently get half of the
    /// connections.
    Refused,
    /// The kernel spreads the connections over the workers' sockets.
    AmongWorkers,
}

fn open_listener(address: SocketAddr, sharing: PortSharing) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of an earlier server that are still in TIME_WAIT must not keep the port.
    socket.set_reuse_address(true)?;
    if matches!(sharing, PortSharing::AmongWorkers) {
        socket.set_reuse_port(true)?;
    }
    // On Linux an accepted socket inherits the option, which saves a system call for each
    // connection.
    socket.set_tcp_nodelay(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, TcpStream};
    use std::num::NonZeroU32;

    use super::*;
    use crate::{Engine, Scenario};

    fn options(port: u16, workers: u32) -> Options {
        Options {
            engine: Engine::Epoll,
            scenario: Scenario::Hello,
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port,
            workers: NonZeroU32::new(workers).unwrap(),
            timeout_ms: None,
            body_bytes: 12,
            extra_work: 0,
        }
    }

    #[test]
    fn all_workers_listen_at_the_port_that_the_kernel_chose() {
        let (listeners, address) = open_listeners(&options(0, 3)).unwrap();
        assert_ne!(address.port(), 0);
        assert_eq!(listeners.len(), 3);
        for listener in listeners {
            assert_eq!(listener.local_addr().unwrap(), address);
        }
    }

    #[test]
    fn accepted_sockets_inherit_that_nothing_is_delayed() {
        let (listeners, address) = open_listeners(&options(0, 1)).unwrap();
        let _client = TcpStream::connect(address).unwrap();
        let (accepted, _) = listeners[0].accept().unwrap();
        assert!(accepted.nodelay().unwrap());
    }
}
