//! Mio: an event loop by hand for each worker thread, each with a listener of its own.
//!
//! This file starts them; `worker.rs` is the loop and `connection.rs` what it does for a client.

mod connection;
mod worker;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;

use shared::{BACKLOG, Options};
use socket2::{Domain, Socket, Type};

use worker::Worker;

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    // Linux lets accepted sockets inherit it.
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG.into())?;
    Ok(socket.into())
}

fn run(options: &Options) -> io::Result<()> {
    let first = listen_on(options.address)?;
    let address = first.local_addr()?;
    let mut first = Worker::new(first, options.scenario)?;
    for _ in 1..options.workers {
        // The address with the port that the kernel chose, if it was asked to choose.
        let mut worker = Worker::new(listen_on(address)?, options.scenario)?;
        std::thread::Builder::new().spawn(move || {
            let Err(error) = worker.run();
            eprintln!("{error}");
            std::process::exit(1);
        })?;
    }
    shared::announce(address)?;
    // The main thread is one of the workers.
    match first.run()? {}
}

fn main() -> ExitCode {
    shared::main(&["hello", "echo"], run)
}
