//! The program `wirebench`. This file is its table of contents: one verb, one file in `cmd/`.
#![forbid(unsafe_code)]

mod args;
mod building;
mod cmd;
mod context;
mod deliver;
mod embedded;
mod examples;
mod exit;
mod experiment_of;
mod files;
mod foreign;
mod junit;
mod live;
mod options;
mod out;
mod plan;
mod preparation;
mod request_options;
mod results;
mod scenarios;
mod session;
mod short_help;
mod suites;
mod value;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt as _,
    process::{Command, ExitCode},
};
use wirebench_schema::{argv, journal::Start, secrets};

use crate::{
    exit::usage,
    session::{Resumable, refusal},
};

/// Benchmark network servers: build, start, pin, verify, load and compare them
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 success, 1 a run, build, check or installation failed, 2 usage, 3 not \
                  comparable or not valid, 4 --fail-if found a regression, 129/130/143 interrupted with a \
                  partial report."
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Measure and compare servers [default: the suite `quick`]
    Run(Box<cmd::run::Arguments>),
    /// Compare two servers and report the difference in one sentence
    Ab(Box<cmd::ab::Arguments>),
    /// Generate load on one server
    Load(Box<cmd::load::Arguments>),
    /// Find the best number of workers and connections, or the highest rate that meets an objective
    Tune(Box<cmd::tune::Arguments>),
    /// Show a saved result; --explain shows all details
    Report(cmd::report::Arguments),
    /// Compare two results and report significant changes
    Compare(cmd::compare::Arguments),
    /// Join the blocks of one plan, measured on several machines, into one result
    Join(cmd::join::Arguments),
    /// Make a static site of many results, with what changed
    Site(cmd::site::Arguments),
    /// List entries and their missing requirements
    List(cmd::list::Arguments),
    /// Create an entry from a working template
    New(cmd::new::Arguments),
    /// Build entries
    Build(cmd::build::Arguments),
    /// Run conformance checks on entries, commands and services
    Verify(Box<cmd::verify::Arguments>),
    /// Start one entry and keep it running until Ctrl-C
    Serve(cmd::serve::Arguments),
    /// Show versions of languages, frameworks and compilers
    Versions(cmd::versions::Arguments),
    /// Install what the entries need
    Setup(cmd::setup::Arguments),
    /// Check this machine for problems; change nothing
    Doctor(cmd::doctor::Arguments),
    /// Print the JSON Schema of a kind of result
    Schema(cmd::schema::Arguments),
    /// Print a shell completion script
    Completions(cmd::completions::Arguments),
    /// Write manual pages
    Man(cmd::man::Arguments),
    /// Run loads as commanded on standard input (internal)
    #[command(hide = true)]
    Agent,
    /// Guard one server process (internal)
    #[command(hide = true)]
    Guard(cmd::hidden::RawArguments),
    /// Run a built-in null server (internal)
    #[command(hide = true)]
    NullServer(wirebench_nullserver::Options),
}

/// The command line. The help of each verb has examples.
fn parsed() -> Result<Arguments, clap::Error> {
    let program = short_help::shortened(Arguments::command(), env::args_os());
    let mut program = examples::added_to(program);
    let matches = program.try_get_matches_from_mut(env::args_os())?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut program))
}

/// The variables with which a hook of git has its children use its repository and its index.
const GIT_VARIABLES: &str = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_COMMON_DIR GIT_OBJECT_DIRECTORY \
                             GIT_ALTERNATE_OBJECT_DIRECTORIES";

/// Starts this program again without the variables of a hook. Its git calls are about other repositories than the
/// hook's, such as those of a revision, and so are those of builds and servers. Where that fails, it goes on.
fn leave_hook() {
    let is_of_hook = |name: &str| GIT_VARIABLES.split(' ').any(|it| it == name);
    let of_hook = env::vars_os().map(|it| it.0).filter(|it| it.to_str().is_some_and(is_of_hook));
    let of_hook: Vec<OsString> = of_hook.collect();
    if let (Ok(program), false) = (env::current_exe(), of_hook.is_empty()) {
        let mut command = Command::new(program);
        of_hook.iter().for_each(|name| _ = command.env_remove(name));
        let _ = command.args(env::args_os().skip(1)).exec();
    }
}

/// Hides the values of secrets that this process was given by arguments and variables, apart from paths.
fn learn_secrets() {
    let text = |it: OsString| it.to_string_lossy().into_owned();
    let variables = env::vars_os().map(|(name, value)| [text(name), text(value)]);
    let variables = variables.filter(|[_, value]| !value.starts_with('/'));
    secrets::learn(&variables.collect::<Vec<_>>());
    secrets::learn(&env::args_os().map(text).collect::<Vec<_>>());
}

fn main() -> ExitCode {
    leave_hook();
    learn_secrets();
    let arguments = match parsed() {
        Ok(arguments) => arguments,
        Err(error) => return foreign::report(&error),
    };
    let result = match arguments.verb {
        Verb::Run(arguments) => cmd::run::run(&arguments, original),
        Verb::Ab(arguments) => cmd::ab::run(&arguments),
        Verb::Load(arguments) => cmd::load::run(&arguments),
        Verb::Tune(arguments) => cmd::tune::run(&arguments),
        Verb::Report(arguments) => cmd::report::run(&arguments),
        Verb::Compare(arguments) => cmd::compare::run(&arguments),
        Verb::Join(arguments) => cmd::join::run(&arguments, original),
        Verb::Site(arguments) => cmd::site::run(&arguments),
        Verb::List(arguments) => cmd::list::run(&arguments),
        Verb::New(arguments) => cmd::new::run(&arguments),
        Verb::Build(arguments) => cmd::build::run(&arguments),
        Verb::Verify(arguments) => cmd::verify::run(&arguments),
        Verb::Serve(arguments) => cmd::serve::run(&arguments),
        Verb::Versions(arguments) => cmd::versions::run(&arguments),
        Verb::Setup(arguments) => cmd::setup::run(&arguments),
        Verb::Doctor(arguments) => cmd::doctor::run(&arguments, original),
        Verb::Schema(arguments) => Ok(cmd::schema::run(&arguments)),
        Verb::Completions(arguments) => cmd::completions::run(&arguments, &Arguments::command()),
        Verb::Man(arguments) => cmd::man::run(&arguments, Arguments::command()),
        Verb::Agent => return cmd::hidden::agent(),
        Verb::Guard(_) => return cmd::hidden::guard(),
        Verb::NullServer(options) => return cmd::hidden::null_server(&options),
    };
    exit::report(result)
}

/// The command that began a run, for `run --resume`, or one that `doctor --detect` makes. It is parsed here, so that no
/// verb depends on another.
fn original(start: &Start) -> anyhow::Result<Box<dyn Resumable>> {
    let parsed = Arguments::try_parse_from(&start.command).map_err(|error| {
        let error = error.to_string();
        let first = error.lines().next().unwrap_or_default();
        let reason = first.trim_start_matches("error: ");
        refusal(start, &[format!("this version does not accept its options: {reason}")])
    })?;
    match parsed.verb {
        Verb::Run(arguments) => Ok(arguments),
        Verb::Ab(arguments) => Ok(arguments),
        _ => Err(usage(format!(
            "`{}` wrote this folder, and only `wirebench run` and `wirebench ab` can be resumed",
            argv::display(&start.command)
        ))),
    }
}
