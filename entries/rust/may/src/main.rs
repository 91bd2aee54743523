//! may: one stackful coroutine per connection, on worker threads that steal from each other.
//!
//! It is deliberately not an HTTP server: it only looks for the end of each request head.

mod bounded;
mod sync;

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use may::coroutine::sleep;
use may::go;
use may::net::{TcpListener, TcpStream};
use shared::{ACCEPT_RETRY, HeadCounter, Options, READ_BYTES, Scenario, replies};

const SCENARIOS: &[&str] =
    &["hello", "hello-timeout", "echo", "mutex", "channel", "skewed", "handoff"];

fn serve_hello(mut stream: TcpStream) -> io::Result<()> {
    let mut counter = HeadCounter::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        for output in replies(counter.count(&buffer[..length])) {
            stream.write_all(output)?;
        }
    }
}

/// The limit holds for each step of `write_all`, which is a write of its own.
fn serve_hello_timeout(stream: TcpStream, limit: Duration) -> io::Result<()> {
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    serve_hello(stream)
}

fn serve_echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..length])?;
    }
}

fn serve(stream: TcpStream, scenario: Scenario) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match scenario {
        Scenario::Hello => serve_hello(stream),
        Scenario::HelloTimeout(limit) => serve_hello_timeout(stream, limit),
        Scenario::Echo => serve_echo(stream),
        Scenario::Mutex => sync::serve_mutex(stream),
        Scenario::Channel => sync::serve_channel(stream),
        Scenario::Skewed => sync::serve_skewed(stream),
        Scenario::Handoff => sync::serve_handoff(stream),
    }
}

fn accept(listener: &TcpListener, scenario: Scenario) {
    loop {
        match listener.accept() {
            // An error ends a connection that is reset or times out: it needs no report.
            Ok((stream, _)) => drop(go!(move || serve(stream, scenario))),
            // Out of file descriptors or memory: the next accept would fail at once as well.
            Err(_) => sleep(ACCEPT_RETRY),
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    may::config().set_workers(options.workers).set_worker_pin(false);
    let listener = TcpListener::bind(options.address)?;
    shared::announce(listener.local_addr()?)?;
    let scenario = options.scenario;
    go!(move || accept(&listener, scenario)).join().map_err(|_| io::Error::other("accept panicked"))
}

fn main() -> ExitCode {
    shared::main(SCENARIOS, run)
}
