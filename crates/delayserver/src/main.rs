//! The program `wirebench-delay-server`: prints `listening HOST:PORT` and serves until SIGTERM,
//! whose default action ends it.

use clap::{CommandFactory, Parser, error::ErrorKind};
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::process::ExitCode;
use wirebench_delayserver::{Idle, Options, serve};

fn main() -> ExitCode {
    let Options { spin, port, mode } = Options::parse();
    if let Err(reason) = mode.check() {
        Options::command().error(ErrorKind::ValueValidation, reason).exit();
    }
    let idle = if spin { Idle::Spin } else { Idle::Sleep };
    let result = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|listener| {
        let mut output = std::io::stdout().lock();
        writeln!(output, "listening {}", listener.local_addr()?)?;
        output.flush()?;
        serve(&listener, mode, idle)
    });
    let Err(error) = result;
    eprintln!("wirebench-delay-server: port {port}: {error}");
    ExitCode::FAILURE
}
