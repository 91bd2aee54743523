//! Monoio: a thread, a runtime and a SO_REUSEPORT listener of its own for each worker.
//!
//! It is deliberately no HTTP server: it only looks for the end of each request head.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use monoio::io::{AsyncReadRent, AsyncWriteRent, AsyncWriteRentExt};
use monoio::net::{ListenerOpts, TcpListener, TcpStream};
use monoio::time::{sleep, timeout};
use monoio::{IoUringDriver, LegacyDriver, RuntimeBuilder};
use shared::{ACCEPT_RETRY, BACKLOG, HeadCounter, Options, READ_BYTES, Scenario, prefork, replies};

/// A read owns the buffer until it is done, and gives it back with the result.
async fn serve_hello(mut stream: TcpStream) -> io::Result<()> {
    let mut counter = HeadCounter::default();
    let mut buffer = Vec::with_capacity(READ_BYTES);
    loop {
        let result;
        (result, buffer) = stream.read(buffer).await;
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
        (result, buffer) = timeout(limit, stream.read(buffer)).await?;
        let length = result?;
        if length == 0 {
            return Ok(());
        }
        for mut output in replies(counter.count(&buffer[..length])) {
            // Not `write_all`, because the limit holds for each step that makes progress.
            while !output.is_empty() {
                let length = timeout(limit, stream.write(output)).await?.0?;
                output = &output[length..];
            }
        }
    }
}

async fn serve_echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(READ_BYTES);
    loop {
        let result;
        (result, buffer) = stream.read(buffer).await;
        if result? == 0 {
            return Ok(());
        }
        let result;
        (result, buffer) = stream.write_all(buffer).await;
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

/// Accepts until the process ends; only a listener that cannot be opened makes it return.
async fn accept(
    address: SocketAddr,
    scenario: Scenario,
    accepting: &dyn Fn(),
) -> io::Result<Infallible> {
    let options = ListenerOpts::new().reuse_addr(true).reuse_port(true).backlog(BACKLOG.into());
    let listener = TcpListener::bind_with_config(address, &options)?;
    accepting();
    loop {
        match listener.accept().await {
            // A connection that is reset or times out ends with an error: it needs no report.
            Ok((stream, _)) => drop(monoio::spawn(serve(stream, scenario))),
            // Out of file descriptors or memory: the next accept would fail at once as well.
            Err(_) => sleep(ACCEPT_RETRY).await,
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let scenario = options.scenario;
    match options.variant.as_str() {
        "io_uring" => prefork::run(options, move |address, accepting| {
            let mut runtime = RuntimeBuilder::<IoUringDriver>::new().enable_timer().build()?;
            runtime.block_on(accept(address, scenario, accepting))
        }),
        "epoll" => prefork::run(options, move |address, accepting| {
            let mut runtime = RuntimeBuilder::<LegacyDriver>::new().enable_timer().build()?;
            runtime.block_on(accept(address, scenario, accepting))
        }),
        other => shared::refuse(format!("unknown variant `{other}`: use io_uring or epoll")),
    }
}

fn main() -> ExitCode {
    shared::main(&["hello", "hello-timeout", "echo"], run)
}
