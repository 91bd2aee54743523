//! One process of another load generator, run on its CPUs to its end. What it prints is only kept here.

use std::{path::Path, sync::atomic::AtomicBool, time::Duration};
use wirebench_schema::printable::printable;
use wirebench_server::command::{CommandError, Job, NO_ENV};

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
