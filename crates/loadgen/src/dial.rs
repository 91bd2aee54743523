//! Endpoints and source addresses of connections, and the making of their sockets.
//!
//! It knows nothing of protocols, and does not decide when to connect: `throttle` does. `first` makes
//! the connection of the preflight.

pub(crate) mod first;
pub(crate) mod sources;
pub(crate) mod throttle;

use nix::sys::socket::{setsockopt, sockopt::IpBindAddressNoPort};
use rustix::{
    fd::OwnedFd,
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, ipproto, sockopt},
};
use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    os::unix::ffi::OsStrExt,
    path::Path,
    sync::Arc,
};

use crate::{dial::sources::Sources, error::LoadError};

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
        let refuse = |reason: &str, next_step: &str| LoadError::UnixSocket {
            path: path.to_owned(),
            reason: reason.to_owned(),
            next_step: next_step.to_owned(),
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

    fn family(&self) -> AddressFamily {
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
fn path_of(address: &SocketAddrUnix) -> String {
    let bytes = address.path_bytes().unwrap_or_default();
    Path::new(std::ffi::OsStr::from_bytes(bytes)).display().to_string()
}

/// Makes the connections of a load.
#[derive(Clone, Debug)]
pub(crate) struct Dialer {
    route: Arc<Route>,
}

#[derive(Debug)]
struct Route {
    endpoint: Endpoint,
    sources: Sources,
}

impl Dialer {
    /// Connects to this endpoint, from these addresses in turn.
    pub(crate) fn new(endpoint: Endpoint, sources: Sources) -> Self {
        Self { route: Arc::new(Route { endpoint, sources }) }
    }

    /// Begins to make the connection with this number, which is unique over all threads. The
    /// socket's readiness for output and its error report the result, also when it is already
    /// known.
    ///
    /// A full backlog of a Unix socket is reported at once, as `EAGAIN`, and no attempt is in
    /// progress: the caller tries again.
    pub(crate) fn dial(&self, number: usize) -> Result<OwnedFd, Errno> {
        let socket = self.socket(number, SocketFlags::NONBLOCK)?;
        match self.connect(&socket) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
            Err(error) => Err(error),
        }
    }

    /// A socket for the connection with this number, which comes from where it should.
    fn socket(&self, number: usize, flags: SocketFlags) -> Result<OwnedFd, Errno> {
        let Route { endpoint, sources } = &*self.route;
        let protocol = endpoint.ip().map(|_| ipproto::TCP);
        let flags = flags | SocketFlags::CLOEXEC;
        let socket =
            rustix::net::socket_with(endpoint.family(), SocketType::STREAM, flags, protocol)?;
        if protocol.is_some() {
            sockopt::set_tcp_nodelay(&socket, true)?;
        }
        if let Some(source) = sources.of(number) {
            bind(&socket, source)?;
        }
        Ok(socket)
    }

    fn connect(&self, socket: &OwnedFd) -> Result<(), Errno> {
        match &self.route.endpoint {
            Endpoint::Ip(address) => rustix::net::connect(socket, address),
            Endpoint::Unix(address) => rustix::net::connect(socket, address),
        }
    }
}

/// Binds a socket to an address and leaves the port for the kernel to choose when it connects. Only
/// then the kernel knows the other end, so that a port that is in use towards another one will do,
/// and one that is left in `TIME_WAIT` towards this one can be used again.
fn bind(socket: &OwnedFd, source: IpAddr) -> Result<(), Errno> {
    setsockopt(socket, IpBindAddressNoPort, &true)
        .map_err(|error| Errno::from_raw_os_error(error as i32))?;
    rustix::net::bind(socket, &SocketAddr::new(source, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;
    use rustix::net::getsockname;
    use wirebench_schema::load::SourceRange;

    fn sentence(path: &str) -> String {
        Endpoint::unix(path).unwrap_err().to_string()
    }

    #[test]
    fn a_path_that_no_unix_socket_can_have_is_refused() {
        assert!(Endpoint::unix(&"a".repeat(107)).is_ok());
        let long = "a".repeat(108);
        let paths = [long.as_str(), "", "a\0b"];
        let sentences = paths.map(|path| sentence(path) + "\n").concat();
        let text = sentences.replace(&long, "LONG").replace('\0', "NUL");
        expect_file!["golden/dial.txt"].assert_eq(&text);
    }

    #[test]
    fn an_endpoint_is_shown_as_its_target_is_written() {
        assert_eq!(Endpoint::unix("run/a b").unwrap().to_string(), "unix:run/a b");
        assert_eq!(Endpoint::Ip("[::1]:7".parse().unwrap()).to_string(), "[::1]:7");
    }

    #[test]
    fn a_socket_that_is_bound_has_no_port_before_it_connects() {
        for source in ["127.0.0.2", "::1"] {
            let source: IpAddr = source.parse().unwrap();
            let endpoint = Endpoint::Ip(SocketAddr::new(source, 1));
            let range = SourceRange { first: source, last: source };
            let dialer = Dialer::new(endpoint, Sources::new(&[range]));
            let socket = dialer.socket(0, SocketFlags::empty()).unwrap();
            let local = SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
            assert_eq!(local, SocketAddr::new(source, 0));
        }
    }
}
