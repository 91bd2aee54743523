//! Mio: an event loop by hand for each worker thread, each with a listener of its own.
//!
//! This file starts them; `worker.rs` is the loop and `connection.rs` what it does for a client.

mod connection;
mod worker;

use std::convert::Infallible;
use std::io;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::process::ExitCode;

use socket2::{Domain, Socket, Type};

use connection::Scenario;
use worker::Worker;

const BACKLOG: i32 = 4096;

struct Options {
    scenario: Scenario,
    address: SocketAddr,
    workers: usize,
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    // Linux lets accepted sockets inherit it.
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn run(options: &Options) -> io::Result<Infallible> {
    let first = listen_on(options.address)?;
    let address = first.local_addr()?;
    let mut first = Worker::new(first, options.scenario)?;
    for _ in 1..options.workers {
        // The address with the port that the kernel chose, if it was asked to choose.
        let mut worker = Worker::new(listen_on(address)?, options.scenario)?;
        std::thread::Builder::new().spawn(move || {
            let Err(error) = worker.run();
            eprintln!("{error}");
            std::process::exit(1);
        })?;
    }
    let mut output = io::stdout();
    writeln!(output, "listening {address}")?;
    output.flush()?;
    // The main thread is one of the workers.
    first.run()
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
        _ => return Err("usage: server SCENARIO HOST PORT WORKERS".to_owned()),
    };
    let scenario = match scenario.as_str() {
        "hello" => Scenario::Hello,
        "echo" => Scenario::Echo,
        _ => return Err(format!("unknown scenario `{scenario}`: there are `hello` and `echo`")),
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
    let Err(error) = run(&options);
    eprintln!("{error}");
    ExitCode::FAILURE
}
