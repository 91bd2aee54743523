//! smol: one task per connection on an executor that `WORKERS` threads run.
//!
//! It is deliberately not an HTTP server: it only looks for the end of each request head.

mod sync;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use shared::{ACCEPT_RETRY, HeadCounter, Options, READ_BYTES, Scenario, replies};
use smol::future::{FutureExt as _, pending};
use smol::io::{AsyncReadExt as _, AsyncWriteExt as _};
use smol::net::{TcpListener, TcpStream};
use smol::{Executor, Timer};

const SCENARIOS: &[&str] =
    &["hello", "hello-timeout", "echo", "mutex", "channel", "skewed", "handoff"];

static EXECUTOR: Executor<'static> = Executor::new();

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

/// The operation comes first: it is polled before the timer, and its result wins.
async fn timeout<T>(
    limit: Duration,
    operation: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    let expire = async {
        Timer::after(limit).await;
        Err(io::ErrorKind::TimedOut.into())
    };
    operation.or(expire).await
}

async fn serve_hello_timeout(mut stream: TcpStream, limit: Duration) -> io::Result<()> {
    let mut counter = HeadCounter::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = timeout(limit, stream.read(&mut buffer)).await?;
        if length == 0 {
            return Ok(());
        }
        for mut output in replies(counter.count(&buffer[..length])) {
            // Not `write_all`, because the limit holds for each step that makes progress.
            while !output.is_empty() {
                let length = timeout(limit, stream.write(output)).await?;
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
            // An error ends a connection that is reset or times out: it needs no report.
            Ok((stream, _)) => EXECUTOR.spawn(serve(stream, scenario)).detach(),
            // Out of file descriptors or memory: the next accept would fail at once as well.
            Err(_) => drop(Timer::after(ACCEPT_RETRY).await),
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let listener = smol::block_on(TcpListener::bind(options.address))?;
    let address = listener.local_addr()?;
    EXECUTOR.spawn(accept(listener, options.scenario)).detach();
    for _ in 1..options.workers {
        let run_tasks = || smol::block_on(EXECUTOR.run(pending::<()>()));
        std::thread::Builder::new().spawn(run_tasks)?;
    }
    shared::announce(address)?;
    // The main thread is one of the workers.
    smol::block_on(EXECUTOR.run(pending()))
}

fn main() -> ExitCode {
    shared::main(SCENARIOS, run)
}
