//! ntex: the web framework, on its own runtime with epoll.
//!
//! It deliberately has no `hello-timeout`: ntex counts its limits in whole seconds.

use std::io;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ntex::SharedCfg;
use ntex::http::{HttpServiceConfig, KeepAlive};
use ntex::rt::{DefaultRuntime, System};
use ntex::time::Seconds;
use ntex::web::{self, App, HttpServer};

struct Options {
    address: SocketAddr,
    workers: usize,
}

async fn hello() -> &'static str {
    "Hello world!"
}

fn announce(address: SocketAddr) -> io::Result<()> {
    let mut output = io::stdout();
    writeln!(output, "listening {address}")?;
    output.flush()
}

async fn serve(listener: TcpListener, workers: usize) -> io::Result<()> {
    let address = listener.local_addr()?;
    let missing_workers = Arc::new(AtomicUsize::new(workers));
    // `hello` keeps connections alive, so the limits of a few seconds are switched off.
    let http =
        HttpServiceConfig::new().set_keepalive(KeepAlive::Os).set_client_timeout(Seconds::ZERO);
    HttpServer::new(async move || {
        // Each worker makes its application once; the last one says that all are there.
        if missing_workers.fetch_sub(1, Ordering::Relaxed) == 1
            && let Err(error) = announce(address)
        {
            eprintln!("{error}");
        }
        App::new().route("/", web::get().to(hello))
    })
    .workers(workers)
    // Its own handler of SIGTERM would wait for the open connections.
    .disable_signals()
    .config(SharedCfg::new("hello").add(http))
    .listen(listener)?
    .run()
    .await
}

fn run(options: &Options) -> io::Result<()> {
    let listener = TcpListener::bind(options.address)?;
    let workers = options.workers;
    System::build()
        .name("server")
        .disable_signals()
        .build(DefaultRuntime)
        .block_on(serve(listener, workers))
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
