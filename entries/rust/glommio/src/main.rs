//! Glommio: an executor on a thread of its own, with a SO_REUSEPORT listener, for each worker.
//!
//! It is deliberately no HTTP server: it only looks for the end of each request head.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use futures_lite::io::{AsyncReadExt, AsyncWriteExt};
use glommio::net::{TcpListener, TcpStream};
use glommio::timer::sleep;
use glommio::{LocalExecutorBuilder, Placement};
use shared::{ACCEPT_RETRY, HeadCounter, Options, READ_BYTES, Scenario, prefork, replies};

async fn serve_hello(mut stream: TcpStream) -> io::Result<()> {
    let mut counter = HeadCounter::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        for output in replies(counter.count(&buffer[..length])) {
            stream.write_all(output).await?;
        }
    }
}

async fn serve_echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..length]).await?;
    }
}

async fn serve(stream: TcpStream, scenario: Scenario) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match scenario {
        Scenario::Hello => serve_hello(stream).await,
        // The stream arms its timer anew for each step that makes it wait.
        Scenario::HelloTimeout(limit) => {
            stream.set_read_timeout(Some(limit))?;
            stream.set_write_timeout(Some(limit))?;
            serve_hello(stream).await
        }
        Scenario::Echo => serve_echo(stream).await,
    }
}

/// Accepts until the process ends; only a listener that cannot be opened makes it return.
async fn accept(
    address: SocketAddr,
    scenario: Scenario,
    accepting: &dyn Fn(),
) -> io::Result<Infallible> {
    // `bind` sets SO_REUSEPORT.
    let listener = TcpListener::bind(address)?;
    accepting();
    loop {
        match listener.accept().await {
            // A connection that is reset or times out ends with an error: it needs no report.
            Ok(stream) => drop(glommio::spawn_local(serve(stream, scenario)).detach()),
            // Out of file descriptors or memory: the next accept would fail at once as well.
            Err(_) => sleep(ACCEPT_RETRY).await,
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let scenario = options.scenario;
    prefork::run(options, move |address, accepting| {
        // Unbound: the executor runs wherever the process may run.
        LocalExecutorBuilder::new(Placement::Unbound)
            .make()
            .map_err(|error| io::Error::other(format!("cannot make an executor: {error}")))?
            .run(accept(address, scenario, accepting))
    })
}

fn main() -> ExitCode {
    shared::main(&["hello", "hello-timeout", "echo"], run)
}
