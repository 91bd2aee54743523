//! Endpoints and source addresses of connections, and the making of their sockets.
//!
//! It knows nothing of protocols, and does not decide when to connect: `throttle` does. `first` makes
//! the connection of the preflight.

pub(crate) mod endpoint;
pub(crate) mod first;
pub(crate) mod sources;
pub(crate) mod throttle;

use rustix::{
    fd::OwnedFd,
    io::Errno,
    net::{SocketFlags, SocketType, ipproto, sockopt},
};
use std::sync::Arc;

pub(crate) use self::endpoint::Endpoint;
use self::{endpoint::bind, sources::Sources};

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

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;
    use rustix::net::getsockname;
    use std::net::{IpAddr, SocketAddr};
    use wirebench_schema::load::SourceRange;

    #[test]
    fn a_path_that_no_unix_socket_can_have_is_refused() {
        assert!(Endpoint::unix(&"a".repeat(107)).is_ok());
        let long = "a".repeat(108);
        let paths = [long.as_str(), "", "a\0b"];
        let sentences = paths.map(|path| Endpoint::unix(path).unwrap_err().to_string() + "\n");
        let sentences = sentences.concat();
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
