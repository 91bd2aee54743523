//! Makes all connections before the clock starts. It sends nothing.

use std::io;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Options;

/// Long enough for a full listen backlog; only a server that is not there makes it run out.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn connect_all(options: &Options) -> io::Result<Vec<OwnedFd>> {
    raise_open_files()?;
    (0..options.connections.get())
        .map(|_| {
            let stream = TcpStream::connect_timeout(&options.address, PATIENCE)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            Ok(stream.into())
        })
        .collect()
}

/// Many connections need more descriptors than the usual soft limit allows.
fn raise_open_files() -> io::Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}
