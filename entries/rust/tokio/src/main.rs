//! Tokio: one task per connection on the multi-threaded, work-stealing runtime.
//!
//! It is deliberately not hyper: it only looks for the end of each request head.

mod sync;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use shared::{ACCEPT_RETRY, BACKLOG, HeadCounter, Options, READ_BYTES, Scenario, replies};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

const SCENARIOS: &[&str] =
    &["hello", "hello-timeout", "echo", "mutex", "channel", "skewed", "handoff"];

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

async fn serve_hello_timeout(mut stream: TcpStream, limit: Duration) -> io::Result<()> {
    let mut counter = HeadCounter::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = timeout(limit, stream.read(&mut buffer)).await??;
        if length == 0 {
            return Ok(());
        }
        for mut output in replies(counter.count(&buffer[..length])) {
            // Not `write_all`, because the limit holds for each step that makes progress.
            while !output.is_empty() {
                let length = timeout(limit, stream.write(output)).await??;
                output = &output[length..];
            }
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
        Scenario::HelloTimeout(limit) => serve_hello_timeout(stream, limit).await,
        Scenario::Echo => serve_echo(stream).await,
        Scenario::Mutex => sync::serve_mutex(stream).await,
        Scenario::Channel => sync::serve_channel(stream).await,
        Scenario::Skewed => sync::serve_skewed(stream).await,
        Scenario::Handoff => sync::serve_handoff(stream).await,
    }
}

async fn accept(listener: TcpListener, scenario: Scenario) {
    loop {
        match listener.accept().await {
            // An error is how a connection ends that is reset or times out: it needs no report.
            Ok((stream, _)) => drop(tokio::spawn(serve(stream, scenario))),
            // Out of file descriptors or memory: the next accept would fail at once as well.
            Err(_) => sleep(ACCEPT_RETRY).await,
        }
    }
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG.into())
}

fn run(options: &Options) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(options.workers)
        .enable_all()
        .build()?;
    let scenario = options.scenario;
    runtime.block_on(async {
        let listener = listen_on(options.address)?;
        shared::announce(listener.local_addr()?)?;
        // Spawned, so that the workers accept too and the main thread only waits.
        tokio::spawn(accept(listener, scenario)).await.map_err(io::Error::other)
    })
}

fn main() -> ExitCode {
    shared::main(SCENARIOS, run)
}
