//! wirebench-fiber: one fiber per connection, on the poller, policy and run queue that the variant chooses.
//!
//! It is deliberately not an HTTP server: it only looks for the end of each request head.

mod sync;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use shared::{ACCEPT_RETRY, BACKLOG, HeadCounter, Options, READ_BYTES, Scenario, replies};
use socket2::{Domain, Socket, Type};
use sync::Common;
use wirebench_fiber::net::{TcpListener, TcpStream};
use wirebench_fiber::queue::{BoundedMpmc, BoundedSpmc, Locking, SimpleMpmc};
use wirebench_fiber::{Epoll, IoUring, Parts, Poller, Sharing, Stealing, run, sleep, spawn};

fn serve_hello<P: Parts>(stream: &TcpStream<P>, limit: Option<Duration>) -> io::Result<()> {
    let mut counter = HeadCounter::default();
    let mut buffer = [0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer, limit)?;
        if length == 0 {
            return Ok(());
        }
        for output in replies(counter.count(&buffer[..length])) {
            stream.write_all(output, limit)?;
        }
    }
}

fn serve_echo<P: Parts>(stream: &TcpStream<P>) -> io::Result<()> {
    let mut buffer = [0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer, None)?;
        if length == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..length], None)?;
    }
}

/// An error ends a connection that is reset or times out: it needs no report.
fn serve<P: Parts>(stream: TcpStream<P>, scenario: Scenario, common: &Common<P>) {
    let _ = match scenario {
        Scenario::Hello => serve_hello(&stream, None),
        Scenario::HelloTimeout(limit) => serve_hello(&stream, Some(limit)),
        Scenario::Echo => serve_echo(&stream),
        Scenario::Mutex => sync::serve_mutex(&stream, common),
        Scenario::Channel => sync::serve_channel(&stream, common),
        Scenario::Skewed => sync::serve_skewed(&stream),
        Scenario::Handoff => sync::serve_handoff(stream),
    };
}

fn accept<P: Parts>(listener: &TcpListener<P>, scenario: Scenario) -> io::Result<Infallible> {
    let common = Common::start()?;
    loop {
        let accepted = listener.accept().and_then(|stream| {
            let common = Arc::clone(&common);
            spawn::<P, _>(move || serve(stream, scenario, &common))
        });
        // Out of file descriptors or memory: the next accept would fail at once as well.
        if accepted.is_err() {
            sleep::<P>(ACCEPT_RETRY);
        }
    }
}

/// One runtime for all workers.
fn together<P: Parts>(options: &Options) -> io::Result<()> {
    let Options { workers, address, scenario, .. } = *options;
    run::<P, _>(workers, move || {
        let listener = TcpListener::<P>::bind(address)?;
        shared::announce(listener.local_addr()?)?;
        accept(&listener, scenario).map(|never| match never {})
    })?
}

/// A runtime for one worker, on this thread.
fn apart<P: Parts>(
    address: SocketAddr,
    scenario: Scenario,
    ready: &dyn Fn(),
) -> io::Result<Infallible> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG.into())?;
    ready();
    run::<P, _>(1, move || {
        let listener = TcpListener::<P>::from_std(socket.into())?;
        accept(&listener, scenario)
    })?
}

fn start_on<L: Poller>(options: &Options, parts: &str) -> io::Result<()> {
    let scenario = options.scenario;
    match parts {
        "sharing-locking" => together::<(Sharing<Locking>, L)>(options),
        "sharing-bounded-mpmc" => together::<(Sharing<BoundedMpmc>, L)>(options),
        "sharing-simple-mpmc" => together::<(Sharing<SimpleMpmc>, L)>(options),
        "stealing-locking" => together::<(Stealing<Locking>, L)>(options),
        "stealing-bounded-mpmc" => together::<(Stealing<BoundedMpmc>, L)>(options),
        "stealing-bounded-spmc" => together::<(Stealing<BoundedSpmc>, L)>(options),
        "prefork" => shared::prefork::run(options, move |address, ready| {
            apart::<(Sharing<Locking>, L)>(address, scenario, ready)
        }),
        other => shared::refuse(format!("unknown variant `{other}`")),
    }
}

fn start(options: &Options) -> io::Result<()> {
    match options.variant.split_once('-') {
        Some(("epoll", parts)) => start_on::<Epoll>(options, parts),
        Some(("io_uring", parts)) => start_on::<IoUring>(options, parts),
        _ => shared::refuse(format!("unknown variant `{}`", options.variant)),
    }
}

fn main() -> ExitCode {
    let work = ["mutex", "channel", "skewed", "handoff"];
    shared::main(&[&["hello", "hello-timeout", "echo"], &work[..]].concat(), start)
}
