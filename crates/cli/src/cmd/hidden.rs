//! The verbs with which wirebench starts itself again: an agent that generates load, the guard of a server, and a
//! built-in null server.

use std::process::ExitCode;

/// Anything; the words are taken from the command line itself, because clap would swallow the
/// guard's `--`.
#[derive(Debug, clap::Args)]
pub(crate) struct RawArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<String>,
}

/// The arguments that follow the verb, unchanged.
fn words() -> Vec<String> {
    std::env::args_os().skip(2).map(|word| word.to_string_lossy().into_owned()).collect()
}

pub(crate) fn agent() -> ExitCode {
    let input = std::io::BufReader::new(std::io::stdin());
    ended(wirebench_agent::serve(input, std::io::stdout()))
}

fn ended(done: std::io::Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::out::error(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

pub(crate) fn guard() -> ExitCode {
    wirebench_server::guard::main(&words())
}

pub(crate) fn null_server(options: &wirebench_nullserver::Options) -> ExitCode {
    let Err(error) = wirebench_nullserver::serve(options);
    ended(Err(std::io::Error::other(error)))
}
