//! axum: router and handler over hyper, on Tokio's multi-threaded runtime.
//!
//! It is deliberately not `axum::serve`, which has no option to answer half-closed connections.

use std::io;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::sleep;

const BACKLOG: u32 = 4096;
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

struct Options {
    address: SocketAddr,
    workers: usize,
}

async fn hello() -> &'static str {
    "Hello world!"
}

async fn serve(stream: TcpStream, router: Router) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let mut http = auto::Builder::new(TokioExecutor::new());
    // A client that ended its side after a request still gets the reply.
    http.http1().half_close(true);
    // An error ends a connection that is reset: it needs no report.
    let _ = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).await;
}

async fn accept(listener: TcpListener) {
    let router = Router::new().route("/", get(hello));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve(stream, router.clone()))),
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
    runtime.block_on(async {
        let listener = listen_on(options.address)?;
        let mut output = io::stdout();
        writeln!(output, "listening {}", listener.local_addr()?)?;
        output.flush()?;
        // Spawned, so that the workers accept too and the main thread only waits.
        tokio::spawn(accept(listener)).await.map_err(io::Error::other)
    })
}

fn parse<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error| format!("{name} `{text}`: {error}"))
}

fn parse_options(arguments: &[String]) -> Result<Options, String> {
    let (scenario, host, port, workers) = match arguments {
        // The timeout is for a scenario that this entry does not have.
        [scenario, host, port, workers] | [scenario, host, port, workers, _] => {
            (scenario, host, port, workers)
        }
        _ => return Err("usage: server hello HOST PORT WORKERS".to_owned()),
    };
    if scenario != "hello" {
        return Err(format!("unknown scenario `{scenario}`: there is only `hello`"));
    }
    let host: IpAddr = parse("HOST", host)?;
    let address = SocketAddr::new(host, parse("PORT", port)?);
    let workers = parse::<std::num::NonZeroUsize>("WORKERS", workers)?.get();
    Ok(Options { address, workers })
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
