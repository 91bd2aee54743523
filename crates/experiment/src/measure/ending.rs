//! How a run ends: the server is stopped whatever happened, and what failed becomes a record.

use std::sync::atomic::AtomicBool;
use wirebench_judge::validity::ServerEnd;
use wirebench_schema::journal::Outcome;
use wirebench_server::launch::{Server, Stopped, stop_grace};

/// The outcome of a run that could not be made.
pub(crate) const fn failed(reason: String, server_stderr: String) -> Outcome {
    Outcome::Failed { reason, server_stderr }
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
) -> (Result<T, String>, Stopped) {
    let (ended, joined) = (server.ended(), server.joined());
    let stopped = server.stop(stop_grace(stop));
    let done = match (done, ended) {
        (Ok(done), None) => joined.map_or(Ok(done), |error| Err(error.to_string())),
        (Ok(_), Some(exit)) => Err(format!("the server ended with {exit} during the run")),
        (Err(reason), None) => Err(reason),
        (Err(reason), Some(exit)) => {
            Err(format!("the server ended with {exit} during the run; {reason}"))
        }
    };
    (done, stopped)
}
