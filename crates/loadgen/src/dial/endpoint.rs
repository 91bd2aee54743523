//! The other ends of connections, and the addresses that sockets are bound to.

use nix::sys::socket::{setsockopt, sockopt::IpBindAddressNoPort};
use rustix::{
    fd::OwnedFd,
    io::Errno,
    net::{AddressFamily, SocketAddrUnix},
};
use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    os::unix::ffi::OsStrExt,
    path::Path,
};

use crate::error::LoadError;

/// The longest path of a Unix socket (unix(7)): 108 bytes with the one that ends it.
const UNIX_PATH_LIMIT_BYTES: usize = 107;

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Endpoint {
    Ip(SocketAddr),
    Unix(SocketAddrUnix),
}

impl Endpoint {
    /// The Unix socket of this path, which is relative to the current folder if it does not begin
    /// with a slash.
    pub(crate) fn unix(path: &str) -> Result<Self, LoadError> {
        let refuse = |reason: &str, next_step| LoadError::UnixSocket {
            path: path.to_owned(),
            reason: reason.to_owned(),
            next_step,
        };
        if path.is_empty() {
            return Err(refuse("its path is empty", "give the path of the server's socket"));
        }
        if path.len() > UNIX_PATH_LIMIT_BYTES {
            return Err(refuse(
                "its path is longer than 107 bytes, which is all that a socket's can have",
                "change to a folder near it and give a relative path",
            ));
        }
        match SocketAddrUnix::new(path) {
            Ok(address) => Ok(Self::Unix(address)),
            Err(_) => Err(refuse("its path contains a NUL", "check the path")),
        }
    }

    /// The address, unless it is a Unix socket.
    pub(crate) const fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::Ip(address) => Some(address.ip()),
            Self::Unix(_) => None,
        }
    }

    pub(super) fn family(&self) -> AddressFamily {
        match self {
            Self::Ip(SocketAddr::V4(_)) => AddressFamily::INET,
            Self::Ip(SocketAddr::V6(_)) => AddressFamily::INET6,
            Self::Unix(_) => AddressFamily::UNIX,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(address) => address.fmt(formatter),
            Self::Unix(address) => write!(formatter, "unix:{}", path_of(address)),
        }
    }
}

/// The path of a Unix socket, as text.
pub(super) fn path_of(address: &SocketAddrUnix) -> String {
    let bytes = address.path_bytes().unwrap_or_default();
    Path::new(std::ffi::OsStr::from_bytes(bytes)).display().to_string()
}

/// Binds a socket to an address and leaves the port for the kernel to choose when it connects. Only
/// then the kernel knows the other end, so that a port that is in use towards another one will do,
/// and one that is left in `TIME_WAIT` towards this one can be used again.
pub(super) fn bind(socket: &OwnedFd, source: IpAddr) -> Result<(), Errno> {
    setsockopt(socket, IpBindAddressNoPort, &true)
        .map_err(|error| Errno::from_raw_os_error(error as i32))?;
    rustix::net::bind(socket, &SocketAddr::new(source, 0))
}
