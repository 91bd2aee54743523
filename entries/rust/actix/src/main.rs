//! Actix: the framework actix-web, and our own service on the server below it.
//!
//! This file reads the arguments; `web.rs` and `raw.rs` are the two variants.

mod raw;
mod web;

use std::future::poll_fn;
use std::io;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::process::ExitCode;
use std::task::Poll;
use std::time::Duration;

use actix_server::Server;

const DEFAULT_TIMEOUT: Duration = Duration::from_millis(5000);

#[derive(Clone, Copy)]
enum Variant {
    Web,
    Raw,
}

#[derive(Clone, Copy, PartialEq)]
enum Scenario {
    Hello,
    HelloTimeout(Duration),
    Echo,
}

struct Options {
    variant: Variant,
    scenario: Scenario,
    address: SocketAddr,
    workers: usize,
}

/// The first poll of a server starts its workers and returns when all are there to accept.
async fn announce_and_serve(server: Server, address: SocketAddr) -> io::Result<()> {
    let mut server = pin!(server);
    let started = poll_fn(|context| Poll::Ready(server.as_mut().poll(context))).await;
    if let Poll::Ready(result) = started {
        return result;
    }
    let mut output = io::stdout();
    writeln!(output, "listening {address}")?;
    output.flush()?;
    server.await
}

fn parse<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error| format!("{name} `{text}`: {error}"))
}

fn parse_options(arguments: &[String]) -> Result<Options, String> {
    let (variant, scenario, host, port, workers, timeout_ms) = match arguments {
        [variant, scenario, host, port, workers] => (variant, scenario, host, port, workers, None),
        [variant, scenario, host, port, workers, timeout_ms] => {
            (variant, scenario, host, port, workers, Some(timeout_ms))
        }
        _ => return Err("usage: server web|raw SCENARIO HOST PORT WORKERS [TIMEOUT_MS]".to_owned()),
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
    let variant = match (variant.as_str(), scenario) {
        ("web", Scenario::Hello) => Variant::Web,
        ("web", _) => return Err("the variant `web` has only the scenario `hello`".to_owned()),
        ("raw", _) => Variant::Raw,
        _ => return Err(format!("unknown variant `{variant}`")),
    };
    let host: IpAddr = parse("HOST", host)?;
    let address = SocketAddr::new(host, parse("PORT", port)?);
    let workers = parse::<std::num::NonZeroUsize>("WORKERS", workers)?.get();
    Ok(Options { variant, scenario, address, workers })
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
    let result = match options.variant {
        Variant::Web => web::run(&options),
        Variant::Raw => raw::run(&options),
    };
    if let Err(error) = result {
        eprintln!("{error}");
    }
    ExitCode::FAILURE
}
