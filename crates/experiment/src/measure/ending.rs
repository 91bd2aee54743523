//! How a run ends: the server is stopped whatever happened, and what failed becomes a record.

use std::sync::atomic::AtomicBool;
use wirebench_judge::validity::ServerEnd;
use wirebench_schema::journal::Outcome;
use wirebench_server::launch::{LaunchError, Server, Stopped, stop_grace};

/// A run that could not be made; the reason becomes part of the record.
pub(super) struct Failure {
    pub(super) reason: String,
    pub(super) stderr: String,
}

impl Failure {
    pub(super) fn of_start(error: &LaunchError) -> Self {
        Self { reason: error.to_string(), stderr: String::new() }
    }

    pub(super) fn into_outcome(self) -> Outcome {
        Outcome::Failed { reason: self.reason, server_stderr: self.stderr }
    }
}

/// What a run says of how its server ended.
pub(crate) fn server_end(stopped: &Stopped) -> ServerEnd {
    ServerEnd {
        forced: stopped.forced,
        left_behind: stopped.left_behind.clone(),
        stderr_bytes: stopped.stderr_bytes,
        runs_on: stopped.runs_on,
    }
}

/// Ends a server, however the work with it went.
pub(super) fn end<T>(
    mut server: Server,
    done: Result<T, String>,
    stop: &AtomicBool,
) -> Result<(T, Stopped), Failure> {
    let ended = server.ended();
    let joined = server.joined();
    let stopped = server.stop(stop_grace(stop));
    let failure = |reason| Failure { reason, stderr: stopped.stderr.clone() };
    match (done, ended) {
        (Ok(done), None) => match joined {
            None => Ok((done, stopped)),
            Some(error) => Err(failure(error.to_string())),
        },
        (Ok(_), Some(exit)) => Err(failure(format!("the server ended with {exit} during the run"))),
        (Err(reason), None) => Err(failure(reason)),
        (Err(reason), Some(exit)) => {
            Err(failure(format!("the server ended with {exit} during the run; {reason}")))
        }
    }
}
