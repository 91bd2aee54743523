//! Load generators of other people, for those who want to see a suite with the program of its
//! document: which workloads they can carry out, their arguments, and what they say.
//!
//! They check no reply and tell neither the edges of a window nor a distribution, so that
//! `wirebench load` stays the instrument; what they do not report stays absent.

mod parse;

pub use parse::{ToolFigures, parse};

use std::{path::Path, sync::atomic::AtomicBool, time::Duration};
use wirebench_schema::{
    journal::{Generator, GeneratorVersion},
    load::{ClosedPolicy, LoadConfig, LoadModel, Stop},
    printable::printable,
    scenario::Protocol,
    suite::{Phase, Workload},
};
use wirebench_server::command::{CommandError, Job, NO_ENV, ask_twice};

/// How long a program may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub struct Tool {
    pub version: GeneratorVersion,
}

impl Tool {
    /// Looks for the program. The error names the package that installs it.
    pub fn find(generator: Generator, stop: &AtomicBool) -> Result<Self, String> {
        let Some(package) = generator.debian_package() else {
            return Err(format!("{generator} is not a third-party generator"));
        };
        if !wirebench_server::executable::exists(generator.name()) {
            return Err(format!(
                "the program `{generator}` is missing: `sudo apt-get install {package}` installs \
                 it; `wirebench setup` does not, because no entry needs it"
            ));
        }
        let printed = printed_version(generator, package, stop)?;
        let version = version(generator, &printed).unwrap_or_default();
        Ok(Self { version: GeneratorVersion { name: generator, version } })
    }

    /// The command that asks for `config`.
    #[must_use]
    pub fn command(&self, config: &LoadConfig) -> Vec<String> {
        let generator = self.version.name;
        let mut words = vec![generator.name().to_owned()];
        words.extend(arguments(generator, config));
        words
    }

    /// How many threads generate the load of `config`. wrk gives each thread as many connections as the
    /// others and drops the rest, so it gets the most threads with which there is none.
    #[must_use]
    pub fn threads(&self, config: &LoadConfig) -> usize {
        let comes_out_even = |threads: &usize| config.connections.is_multiple_of(*threads);
        match self.version.name {
            Generator::Wrk => (1..=config.threads).rev().find(comes_out_even).unwrap_or(1),
            Generator::Wirebench | Generator::Hey | Generator::H2load => config.threads,
        }
    }

    /// When a load that warms the server up ends. wrk knows no counts, so it takes the shortest
    /// time that it can.
    #[must_use]
    pub fn warm_up(&self, requests: u64) -> Stop {
        match self.version.name {
            Generator::Wrk => Stop::After(Duration::from_secs(1)),
            Generator::Wirebench | Generator::Hey | Generator::H2load => Stop::Requests(requests),
        }
    }
}

/// A generator that has ended well.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) output: String,
    /// CPU time of all its threads.
    pub(crate) cpu: Duration,
}

/// Runs `argv` on `cpus` to its end, or until `stop` or `patience` ends it. An error is a sentence on how it ended
/// otherwise.
pub(crate) fn run(
    argv: &[String],
    cpus: Option<&[u32]>,
    patience: Duration,
    stop: &AtomicBool,
) -> Result<Finished, String> {
    let program = &argv[0];
    let job = Job { argv, folder: Path::new("."), env: NO_ENV, timeout: patience };
    let (status, cpu, [output, errors]) =
        job.measured(cpus, stop).map_err(|error| match error {
            CommandError::Start(reason) => format!("{program} could not be run: {reason}"),
            CommandError::Io { error, .. } => format!("{program} could not be run: {error}"),
            CommandError::Timeout { .. } => format!("{program} did not end in time and was killed"),
            CommandError::Flood(_) | CommandError::Interrupted => error.to_string(),
        })?;
    if status.success() {
        return Ok(Finished { output, cpu });
    }
    let mut said = [errors, output]
        .into_iter()
        .filter_map(|text| text.trim().lines().last().map(|line| printable(line).into_owned()));
    Err(match said.next() {
        Some(line) => format!("{program} ended with {status}: {line}"),
        None => format!("{program} ended with {status} and said nothing"),
    })
}

/// What the program prints of its version. hey prints nothing, but its package has one.
fn printed_version(
    generator: Generator,
    package: &str,
    stop: &AtomicBool,
) -> Result<String, String> {
    let words: &[&str] = match generator {
        Generator::Wirebench => return Ok(String::new()),
        Generator::Wrk => &["wrk", "-v"],
        Generator::H2load => &["h2load", "--version"],
        Generator::Hey => &["dpkg-query", "--show", "--showformat=${Version}", package],
    };
    let argv: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    asked(&argv, VERSION_TIMEOUT, stop)
}

/// What `argv` prints. A program that cannot be asked has no version; one that does not end is an
/// error, for it would not load either.
fn asked(argv: &[String], timeout: Duration, stop: &AtomicBool) -> Result<String, String> {
    let job = Job { argv, folder: Path::new("."), env: NO_ENV, timeout };
    match ask_twice(|| job.output(stop)) {
        Ok(output) => Ok(output.text),
        Err(CommandError::Start(_) | CommandError::Io { .. }) => Ok(String::new()),
        Err(error @ (CommandError::Timeout { .. } | CommandError::Flood(_))) => Err(format!(
            "{error} (asked for its version with `{}`): check that it is the right program",
            argv.join(" ")
        )),
        Err(CommandError::Interrupted) => Err("interrupted".to_owned()),
    }
}

/// The version in the first line of what was printed.
fn version(generator: Generator, printed: &str) -> Option<String> {
    let before = match generator {
        Generator::Wirebench | Generator::Hey => "",
        Generator::Wrk => "wrk ",
        Generator::H2load => "h2load ",
    };
    let word = printed.lines().next()?.strip_prefix(before)?.split_whitespace().next()?;
    // The complaint of a package manager about an unknown package is no version.
    word.contains(|character: char| character.is_ascii_digit()).then(|| word.to_owned())
}

/// Whether `duration` has no fraction of a second; some programs take nothing else.
const fn is_whole_seconds(duration: Duration) -> bool {
    duration.subsec_nanos() == 0 && duration.as_secs() > 0
}

/// Why `generator` cannot carry out `workload`, as a sentence with the next step.
pub fn check(generator: Generator, workload: &Workload) -> Result<(), String> {
    let only = |condition: bool, what: &str| match condition {
        true => Ok(()),
        false => Err(format!("{generator} {what}: omit --generator")),
    };
    if workload.phase == Phase::Idle {
        // It makes no load there, and wirebench itself makes the connections.
        return Ok(());
    }
    let no_rate = "cannot hold the rate of the phase `cost`";
    only(workload.phase != Phase::Cost, no_rate)?;
    only(workload.scenario.protocol() == Protocol::Http1, "supports HTTP only")?;
    only(
        workload.model == LoadModel::Closed,
        "is supported for closed loops without think time only",
    )?;
    only(workload.pipeline == 1, "is supported without pipelining only")?;
    only(workload.requests.is_none(), "makes no requests of --path and --requests")?;
    only(workload.scenario.heavy().is_none(), "makes the same request on all connections")?;
    only(workload.idle_connections == 0, "keeps no idle connections")?;
    only(workload.requests_per_connection.is_none(), "does not close connections after a count")?;
    let repeats = workload.on_closed == ClosedPolicy::Fail || generator == Generator::Hey;
    only(repeats, "does not repeat requests on closed connections")?;
    let is_named = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("user-agent") && value != HEY_HEADERS[0].1
    };
    let appends = generator == Generator::Hey && workload.headers.iter().any(is_named);
    only(!appends, "appends its own User-Agent")?;
    match (generator, workload.stop) {
        (Generator::Wrk, Stop::After(time)) if is_whole_seconds(time) => Ok(()),
        (Generator::Wrk, Stop::After(_)) => {
            Err("wrk measures whole seconds: give --duration 1s".to_owned())
        }
        (Generator::Wrk, Stop::Requests(_) | Stop::RequestsPerConnection(_)) => {
            Err("wrk ends after a time and not after a count: give --duration 5s".to_owned())
        }
        (_, Stop::Requests(count)) if count < workload.connections as u64 => Err(format!(
            "{generator} needs at least a request for each of {} connections: give --duration 5s",
            workload.connections
        )),
        _ => Ok(()),
    }
}

/// Seconds as a whole number, never less than asked for.
fn seconds_up(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

fn arguments(generator: Generator, config: &LoadConfig) -> Vec<String> {
    let (threads, connections) = (config.threads, config.connections);
    let timeout = seconds_up(config.timeout);
    let url = config.target.to_string();
    let count = config.stop.count(connections);
    let milliseconds = config.stop.length().map_or(0, |time| time.as_millis());
    let amount = |of_count: &str, of_time: &str| match count {
        Some(count) => format!("{of_count}{count}"),
        None => format!("{of_time} {milliseconds}ms"),
    };
    let text = match generator {
        Generator::Wirebench => String::new(),
        Generator::Wrk => {
            let seconds = milliseconds.div_ceil(1000);
            format!("-t{threads} -c{connections} -d{seconds}s --latency --timeout {timeout}s")
        }
        Generator::Hey => {
            let amount = amount("-n ", "-z");
            format!("{amount} -c {connections} -cpus {threads} -t {timeout}")
        }
        // A connection on which nothing happens for so long is given up.
        Generator::H2load => {
            let amount = amount("-n", "-D");
            format!("--h1 -t{threads} -c{connections} {amount} -N {timeout}s")
        }
    };
    let words = text.split_whitespace().map(str::to_owned);
    words.chain(headers(generator, config)).chain([url]).collect()
}

/// The header lines that hey sends unasked.
const HEY_HEADERS: [(&str, &str); 3] =
    [("User-Agent", "hey/0.0.1"), ("Content-Type", "text/html"), ("Accept-Encoding", "gzip")];

/// The options for header lines, which are the same in all programs.
fn headers(generator: Generator, config: &LoadConfig) -> Vec<String> {
    let is_sent_anyway = |(name, value): &&(String, String)| {
        generator == Generator::Hey
            && HEY_HEADERS.iter().any(|own| own.0.eq_ignore_ascii_case(name) && own.1 == value)
    };
    let asked = config.headers.iter().filter(|header| !is_sent_anyway(header));
    asked.flat_map(|(name, value)| ["-H".to_owned(), format!("{name}: {value}")]).collect()
}

#[cfg(test)]
mod tests;
