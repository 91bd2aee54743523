//! Tokio: one task per connection on the multi-threaded, work-stealing runtime.
//!
//! It is deliberately not hyper: it only looks for the end of each request head.

use std::io;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
const TERMINATOR: &[u8] = b"\r\n\r\n";
const REPLIES_PER_WRITE: usize = 256;
const READ_BYTES: usize = 16 * 1024;
const BACKLOG: u32 = 4096;
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
const DEFAULT_TIMEOUT: Duration = Duration::from_millis(5000);

static REPLY_BLOCK: LazyLock<Vec<u8>> = LazyLock::new(|| REPLY.repeat(REPLIES_PER_WRITE));

#[derive(Clone, Copy)]
enum Scenario {
    Hello,
    HelloTimeout(Duration),
    Echo,
}

struct Options {
    scenario: Scenario,
    address: SocketAddr,
    workers: usize,
}

/// Counts ends of heads; a terminator may be split over any number of reads.
#[derive(Default)]
struct HeadCounter {
    seen: usize,
}

impl HeadCounter {
    fn count(&mut self, mut input: &[u8]) -> usize {
        let mut heads = 0;
        while let Some((&byte, rest)) = input.split_first() {
            if self.seen == 0 && byte != b'\r' {
                let Some(skip) = memchr::memchr(b'\r', rest) else { break };
                input = &rest[skip..];
                continue;
            }
            input = rest;
            self.seen = match byte {
                _ if byte == TERMINATOR[self.seen] => self.seen + 1,
                b'\r' => 1,
                _ => 0,
            };
            if self.seen == TERMINATOR.len() {
                self.seen = 0;
                heads += 1;
            }
        }
        heads
    }
}

async fn serve_hello(mut stream: TcpStream) -> io::Result<()> {
    let mut counter = HeadCounter::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        let mut heads = counter.count(&buffer[..length]);
        while heads > 0 {
            let batch = heads.min(REPLIES_PER_WRITE);
            stream.write_all(&REPLY_BLOCK[..batch * REPLY.len()]).await?;
            heads -= batch;
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
        let mut heads = counter.count(&buffer[..length]);
        while heads > 0 {
            let batch = heads.min(REPLIES_PER_WRITE);
            let mut output = &REPLY_BLOCK[..batch * REPLY.len()];
            // Not `write_all`, because the limit holds for each step that makes progress.
            while !output.is_empty() {
                let length = timeout(limit, stream.write(output)).await??;
                output = &output[length..];
            }
            heads -= batch;
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
    socket.listen(BACKLOG)
}

fn run(options: &Options) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(options.workers)
        .enable_all()
        .build()?;
    let scenario = options.scenario;
    runtime.block_on(async {
        let listener = listen_on(options.address)?;
        let mut output = io::stdout();
        writeln!(output, "listening {}", listener.local_addr()?)?;
        output.flush()?;
        // Spawned, so that the workers accept too and the main thread only waits.
        tokio::spawn(accept(listener, scenario)).await.map_err(io::Error::other)
    })
}

fn parse<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error| format!("{name} `{text}`: {error}"))
}

fn parse_options(arguments: &[String]) -> Result<Options, String> {
    let (scenario, host, port, workers, timeout_ms) = match arguments {
        [scenario, host, port, workers] => (scenario, host, port, workers, None),
        [scenario, host, port, workers, timeout_ms] => {
            (scenario, host, port, workers, Some(timeout_ms))
        }
        _ => return Err("usage: server SCENARIO HOST PORT WORKERS [TIMEOUT_MS]".to_owned()),
    };
    let limit = match timeout_ms {
        Some(text) => {
            Duration::from_millis(parse::<std::num::NonZeroU64>("TIMEOUT_MS", text)?.get())
        }
        None => DEFAULT_TIMEOUT,
    };
    let scenario = match scenario.as_str() {
        "hello" => Scenario::Hello,
        "hello-timeout" => Scenario::HelloTimeout(limit),
        "echo" => Scenario::Echo,
        _ => return Err(format!("unknown scenario `{scenario}`")),
    };
    let host: IpAddr = parse("HOST", host)?;
    let address = SocketAddr::new(host, parse("PORT", port)?);
    let workers = parse::<std::num::NonZeroUsize>("WORKERS", workers)?.get();
    Ok(Options { scenario, address, workers })
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = match parse_options(&arguments) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    if let Err(error) = run(&options) {
        eprintln!("{error}");
    }
    ExitCode::FAILURE
}
