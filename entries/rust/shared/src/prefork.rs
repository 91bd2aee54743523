//! Workers on threads of their own, each with a SO_REUSEPORT listener on the same port.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::channel;

use socket2::{Domain, Socket, Type};

use crate::{Options, announce};

/// Runs `work` on as many threads as there are workers, and returns when one of them fails.
///
/// `work` gets the address to listen on and calls the function when it accepts.
pub fn run(
    options: &Options,
    work: impl Fn(SocketAddr, &dyn Fn()) -> io::Result<Infallible> + Clone + Send + 'static,
) -> io::Result<()> {
    let (reservation, address) = reserve(options.address)?;
    let (report, reports) = channel();
    for _ in 0..options.workers {
        let (work, report) = (work.clone(), report.clone());
        std::thread::spawn(move || {
            // Sending fails only when another worker has failed before.
            let outcome = work(address, &|| drop(report.send(Ok(()))));
            let _ = report.send(outcome.map(|never| match never {}));
        });
    }
    drop(report);
    for _ in 0..options.workers {
        reports.recv().map_err(io::Error::other)??;
    }
    drop(reservation);
    announce(address)?;
    reports.recv().map_err(io::Error::other)?
}

/// Binds, but does not listen: the port is known and held before the workers share it.
fn reserve(address: SocketAddr) -> io::Result<(Socket, SocketAddr)> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&address.into())?;
    let address = socket.local_addr()?.as_socket();
    Ok((socket, address.ok_or_else(|| io::Error::other("the socket has no IP address"))?))
}
