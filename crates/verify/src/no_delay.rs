//! Whether the server sets TCP_NODELAY on its connections.
//!
//! It is asked of the very socket, of which the kernel gives this process a second descriptor. No
//! time is measured: how long a delayed reply takes depends on the client's kernel too.

use rustix::{
    io::Errno,
    net::sockopt,
    process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open},
};
use std::os::fd::OwnedFd;
use wirebench_schema::scenario::Protocol;
use wirebench_server::{launch::Server, tree};

use super::{Verdict, process, protocols::support};

/// Result of asking one process for one of its descriptors.
enum Copied {
    /// A descriptor of the same socket.
    Socket(OwnedFd),
    /// The process or its descriptor is gone.
    Gone,
    /// The kernel does not give it to this process.
    Refused(Errno),
}

/// Has one request answered, so that the server has surely accepted, and looks at its socket.
pub(super) fn check(server: &Server, protocol: Protocol) -> Result<Verdict, String> {
    let address = server.address();
    let mut stream = (support(protocol).open)(address)?;
    stream.exchange()?;
    let inode = process::connection_inode(address.port(), stream.port())?
        .ok_or("the kernel does not list the server's side of an open connection")?;
    judge(&server.tree(), inode)
}

fn judge(pids: &[Pid], inode: u64) -> Result<Verdict, String> {
    let mut reason = "no process of the server has a descriptor of its connection".to_owned();
    for &pid in pids {
        for (fd, target) in tree::descriptors(pid) {
            if !matches!(target, procfs::process::FDTarget::Socket(number) if number == inode) {
                continue;
            }
            match copy(pid, fd) {
                Copied::Socket(socket) => return ask(&socket),
                Copied::Gone => {}
                Copied::Refused(errno) => {
                    reason = format!("the kernel does not let its sockets be examined: {errno}");
                }
            }
        }
    }
    Ok(Verdict::Skip { reason })
}

fn ask(socket: &OwnedFd) -> Result<Verdict, String> {
    match sockopt::tcp_nodelay(socket) {
        Ok(true) => Ok(Verdict::Pass),
        Ok(false) => {
            Err("TCP_NODELAY is off on an accepted connection: small replies may wait 40 \
                          ms for the client's acknowledgement"
                .into())
        }
        Err(errno) => Err(format!("TCP_NODELAY of an accepted connection cannot be read: {errno}")),
    }
}

fn copy(pid: Pid, fd: i32) -> Copied {
    let copied = pidfd_open(pid, PidfdFlags::empty())
        .and_then(|process| pidfd_getfd(process, fd, PidfdGetfdFlags::empty()));
    match copied {
        Ok(socket) => Copied::Socket(socket),
        Err(Errno::SRCH | Errno::BADF) => Copied::Gone,
        Err(errno) => Copied::Refused(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    #[ignore = "needs root"]
    fn the_option_is_read_from_the_servers_socket_as_root() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        client.set_nodelay(true).unwrap();
        let (server, _) = listener.accept().unwrap();
        let client_port = client.local_addr().unwrap().port();
        let inode = process::connection_inode(port, client_port).unwrap().unwrap();
        let own = [rustix::process::getpid()];
        assert!(judge(&own, inode).unwrap_err().starts_with("TCP_NODELAY is off"));
        server.set_nodelay(true).unwrap();
        assert_eq!(judge(&own, inode), Ok(Verdict::Pass));
    }

    #[test]
    fn a_socket_that_no_process_holds_gives_no_result() {
        let own = [rustix::process::getpid()];
        assert!(matches!(judge(&own, u64::MAX), Ok(Verdict::Skip { .. })));
        assert!(matches!(copy(own[0], i32::MAX), Copied::Gone | Copied::Refused(_)));
    }
}
