//! Compio: a thread, a runtime and a SO_REUSEPORT listener of its own for each worker.
//!
//! It is deliberately no HTTP server: it only looks for the end of each request head.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use compio::buf::BufResult;
use compio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use compio::net::{TcpListener, TcpSocket, TcpStream};
use compio::runtime::Runtime;
use compio::time::{sleep, timeout};
use shared::{ACCEPT_RETRY, BACKLOG, HeadCounter, Options, READ_BYTES, Scenario, prefork, replies};

/// A read owns the buffer until it is done, and gives it back with the result.
async fn serve_hello(mut stream: TcpStream) -> io::Result<()> {
    let mut counter = HeadCounter::default();
    let mut buffer = Vec::with_capacity(READ_BYTES);
    loop {
        let result;
        BufResult(result, buffer) = stream.read(buffer).await;
        let length = result?;
        if length == 0 {
            return Ok(());
        }
        for output in replies(counter.count(&buffer[..length])) {
            stream.write_all(output).await.0?;
        }
    }
}

async fn serve_hello_timeout(mut stream: TcpStream, limit: Duration) -> io::Result<()> {
    let mut counter = HeadCounter::default();
    let mut buffer = Vec::with_capacity(READ_BYTES);
    loop {
        let result;
        BufResult(result, buffer) =
            timeout(limit, stream.read(buffer)).await.map_err(io::Error::other)?;
        let length = result?;
        if length == 0 {
            return Ok(());
        }
        for mut output in replies(counter.count(&buffer[..length])) {
            // Not `write_all`, because the limit holds for each step that makes progress.
            while !output.is_empty() {
                let length =
                    timeout(limit, stream.write(output)).await.map_err(io::Error::other)?.0?;
                output = &output[length..];
            }
        }
    }
}

async fn serve_echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(READ_BYTES);
    loop {
        let result;
        // A read may make the vector longer, but never shorter.
        buffer.clear();
        BufResult(result, buffer) = stream.read(buffer).await;
        if result? == 0 {
            return Ok(());
        }
        let result;
        BufResult(result, buffer) = stream.write_all(buffer).await;
        result?;
    }
}

async fn serve(stream: TcpStream, scenario: Scenario) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match scenario {
        Scenario::Hello => serve_hello(stream).await,
        Scenario::HelloTimeout(limit) => serve_hello_timeout(stream, limit).await,
        Scenario::Echo => serve_echo(stream).await,
    }
}

async fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4().await?,
        SocketAddr::V6(_) => TcpSocket::new_v6().await?,
    };
    socket.set_reuseaddr(true)?;
    socket.set_reuseport(true)?;
    socket.bind(address).await?;
    socket.listen(BACKLOG.into()).await
}

/// Accepts until the process ends; only a listener that cannot be opened makes it return.
async fn accept(
    address: SocketAddr,
    scenario: Scenario,
    accepting: &dyn Fn(),
) -> io::Result<Infallible> {
    let listener = listen_on(address).await?;
    accepting();
    loop {
        match listener.accept().await {
            // A connection that is reset or times out ends with an error: it needs no report.
            Ok((stream, _)) => compio::runtime::spawn(serve(stream, scenario)).detach(),
            // Out of file descriptors or memory: the next accept would fail at once as well.
            Err(_) => sleep(ACCEPT_RETRY).await,
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let scenario = options.scenario;
    prefork::run(options, move |address, accepting| {
        Runtime::new()?.block_on(accept(address, scenario, accepting))
    })
}

fn main() -> ExitCode {
    shared::main(&["hello", "hello-timeout", "echo"], run)
}
