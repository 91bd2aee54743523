//! The program `wirebench-delay-server`: prints `listening HOST:PORT` and serves until SIGTERM,
//! whose default action ends it.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::process::ExitCode;

use wirebench_delayserver::{options_from_arguments, serve};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = match options_from_arguments(&arguments) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("wirebench-delay-server: {error}");
            return ExitCode::from(2);
        }
    };
    let result = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).and_then(|listener| {
        let mut output = std::io::stdout().lock();
        writeln!(output, "listening {}", listener.local_addr()?)?;
        output.flush()?;
        serve(&listener, options.mode, options.idle)
    });
    let Err(error) = result;
    eprintln!("wirebench-delay-server: port {}: {error}", options.port);
    ExitCode::FAILURE
}
