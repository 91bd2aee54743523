//! A null server for runs by hand: `null_server ENGINE SCENARIO HOST PORT WORKERS`. Not what users
//! start: they go through the program `wirebench`.

use clap::Parser;
use std::process::ExitCode;
use wirebench_nullserver::{Options, serve};

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let Err(error) = serve(&Arguments::parse().options);
    eprintln!("null_server: {error}");
    ExitCode::FAILURE
}
