//! A service that runs already, in the place of a command that starts a server.

use std::net::SocketAddr;

use crate::target::Target;

/// A service that is measured as it runs: wirebench neither starts nor stops it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Service {
    /// Its URL; the path is requested where no request says another one.
    pub target: Target,
    /// The addresses of its host, resolved once, so that all loads reach the same one.
    pub addresses: Vec<SocketAddr>,
    /// Its processes on this host, if they were named; else those that listen on the address.
    pub processes: Vec<i32>,
    /// Its oldest process on this host, and since when that runs; absent where none is known.
    pub instance: Option<String>,
    /// Whether it may be loaded as fast as it answers; else never faster than at the rate of a workload.
    pub full_speed: bool,
}
