//! Where connections go to, and how a socket for one is made.

use rustix::{
    fd::OwnedFd,
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, ipproto, sockopt},
};
use std::net::SocketAddr;

/// Makes the connections of a load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialer {
    address: SocketAddr,
}

impl Dialer {
    /// Connects to this address.
    pub(crate) const fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    /// Begins to make the connection with this number, which is unique over all threads. How that
    /// ends is told by the socket's readiness for output and its error, also when it has ended
    /// already.
    pub(crate) fn dial(&self, _number: usize) -> Result<OwnedFd, Errno> {
        let family = match self.address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket =
            rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        match rustix::net::connect(&socket, &self.address) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
            Err(error) => Err(error),
        }
    }
}
