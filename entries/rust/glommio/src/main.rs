//! Glommio: an executor on a thread of its own, with a SO_REUSEPORT listener, for each worker.
//!
//! It is deliberately no HTTP server: it only looks for the end of each request head.

use std::convert::Infallible;
use std::io;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use futures_lite::io::{AsyncReadExt, AsyncWriteExt};
use glommio::net::{TcpListener, TcpStream};
use glommio::timer::sleep;
use glommio::{LocalExecutorBuilder, Placement};
use socket2::{Domain, Socket, Type};

const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
const TERMINATOR: &[u8] = b"\r\n\r\n";
const REPLIES_PER_WRITE: usize = 256;
const READ_BYTES: usize = 16 * 1024;
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
    report: &Sender<io::Result<()>>,
) -> io::Result<Infallible> {
    // `bind` sets SO_REUSEPORT.
    let listener = TcpListener::bind(address)?;
    report.send(Ok(())).map_err(io::Error::other)?;
    loop {
        match listener.accept().await {
            // A connection that is reset or times out ends with an error: there is nobody to tell.
            Ok(stream) => drop(glommio::spawn_local(serve(stream, scenario)).detach()),
            // Out of file descriptors or memory: the next accept would fail at once as well.
            Err(_) => sleep(ACCEPT_RETRY).await,
        }
    }
}

/// Reports once when it accepts, and again only when it fails.
fn work(address: SocketAddr, scenario: Scenario, report: Sender<io::Result<()>>) {
    // Unbound: the executor runs wherever the process may run.
    let outcome = LocalExecutorBuilder::new(Placement::Unbound)
        .make()
        .map_err(|error| io::Error::other(format!("cannot make an executor: {error}")))
        .and_then(|executor| executor.run(accept(address, scenario, &report)));
    // Nobody listens any more when another worker has failed before.
    let _ = report.send(outcome.map(|never| match never {}));
}

/// Binds, but does not listen: the port is known and held before the workers share it.
fn reserve(address: SocketAddr) -> io::Result<(Socket, SocketAddr)> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&address.into())?;
    let address = socket.local_addr()?.as_socket();
    Ok((socket, address.ok_or_else(|| io::Error::other("the socket has no IP address"))?))
}

fn run(options: &Options) -> io::Result<()> {
    let (reservation, address) = reserve(options.address)?;
    let (report, reports) = channel();
    for _ in 0..options.workers {
        let (scenario, report) = (options.scenario, report.clone());
        std::thread::spawn(move || work(address, scenario, report));
    }
    drop(report);
    for _ in 0..options.workers {
        reports.recv().map_err(io::Error::other)??;
    }
    drop(reservation);
    let mut output = io::stdout();
    writeln!(output, "listening {address}")?;
    output.flush()?;
    reports.recv().map_err(io::Error::other)?
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
