//! async-std: one task per connection on its global, work-stealing executor.
//!
//! It is deliberately not an HTTP server: it only looks for the end of each request head.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use async_std::io::prelude::*;
use async_std::io::timeout;
use async_std::net::{TcpListener, TcpStream};
use async_std::task;
use shared::{ACCEPT_RETRY, HeadCounter, Options, READ_BYTES, Scenario, replies};

/// async-std learns the number of its threads from this variable and from nowhere else.
const THREADS: &str = "ASYNC_STD_THREAD_COUNT";

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
    }
}

async fn accept(listener: TcpListener, scenario: Scenario) {
    loop {
        match listener.accept().await {
            // An error ends a connection that is reset or times out: it needs no report.
            Ok((stream, _)) => drop(task::spawn(serve(stream, scenario))),
            // Out of file descriptors or memory: the next accept would fail at once as well.
            Err(_) => task::sleep(ACCEPT_RETRY).await,
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let workers = options.workers.to_string();
    if std::env::var(THREADS).as_ref() != Ok(&workers) {
        shared::refuse(format!("WORKERS `{workers}`: the variable {THREADS} must say the same"));
    }
    let listener = task::block_on(TcpListener::bind(options.address))?;
    let address = listener.local_addr()?;
    task::spawn(accept(listener, options.scenario));
    shared::announce(address)?;
    loop {
        // Not `block_on`, which would poll for events on this thread, beside the workers.
        std::thread::park();
    }
}

fn main() -> ExitCode {
    shared::main(&["hello", "hello-timeout", "echo"], run)
}
