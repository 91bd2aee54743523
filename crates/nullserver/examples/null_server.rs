//! A null server for runs by hand: `null_server ENGINE SCENARIO HOST PORT WORKERS`. Not what users
//! start: they go through the program `wirebench`.

use std::process::ExitCode;

use wirebench_nullserver::{options_from_arguments, serve};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (message, code) = match options_from_arguments(&arguments) {
        Ok(options) => match serve(&options) {
            Err(error) => (error.to_string(), 1),
        },
        Err(error) => (error.to_string(), 2),
    };
    eprintln!("null_server: {message}");
    ExitCode::from(code)
}
