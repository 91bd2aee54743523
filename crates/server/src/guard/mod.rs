//! The guard: a small process between wirebench and one server, so that no server survives.
//!
//! It is this same program behind a hidden verb. It adopts every descendant of the server
//! (`PR_SET_CHILD_SUBREAPER`), so that none escapes by forking twice, and reads its own standard
//! input: when wirebench ends in whatever way, `kill -9` included, the kernel closes that pipe and
//! the guard kills the whole tree. When the guard itself is killed, the kernel kills the server's
//! first process, and wirebench finds the others by a mark in their environment.
//!
//! The order of a normal life:
//! 1. wirebench starts the guard; the guard starts the server in a process group of its own:
//!    [`GuardEvent::Started`].
//! 2. Lines that the server prints are passed on: [`GuardEvent::Stdout`].
//! 3. wirebench writes `stop GRACE_MS`; the guard sends SIGTERM to the server.
//! 4. The server ends: [`GuardEvent::Exited`]. If it does not within the grace:
//!    [`GuardEvent::Forced`] and SIGKILL.
//! 5. Descendants get [`LINGER`] to follow, or [`LINGER_AT_WORK`] while one of them runs or waits for
//!    a CPU. Those that do not are [`GuardEvent::LeftBehind`], and killed.
//! 6. [`GuardEvent::Done`], and the guard ends.
//!
//! Builds and other jobs have one guard for all of them, on the same kind of pipe: [`JobGuard`].

mod jobs;
mod process;

pub use jobs::JobGuard;
pub(crate) use process::ONE_OUTPUT;
pub use process::{GuardOptions, main, parse_arguments};

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long descendants may outlive the server before they count as left behind.
pub const LINGER: Duration = Duration::from_millis(500);
/// The same for those that run or wait for a CPU then: on a busy machine even an end takes long.
pub const LINGER_AT_WORK: Duration = Duration::from_secs(5);

/// What the guard tells wirebench, one JSON object a line.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum GuardEvent {
    Started {
        pid: i32,
    },
    /// It could not be started.
    SpawnFailed {
        reason: String,
    },
    /// It printed a line on standard output. Only the first lines are passed on.
    Stdout {
        /// The line, without its end, cut at a bound.
        line: String,
    },
    Exited {
        exit: Exit,
    },
    /// It did not end within the grace after SIGTERM and was killed.
    Forced,
    /// Processes that outlived it and were killed.
    LeftBehind {
        processes: Vec<String>,
    },
    /// Nothing of it is left.
    Done {
        /// CPU time of all its processes over their lives; the kernel shows it in ticks.
        cpu_ns: u64,
    },
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// It was not observed: the guard was killed, and the kernel killed the server.
    Unseen,
}

impl std::fmt::Display for Exit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "exit code {code}"),
            Self::Signal(signal) => write!(formatter, "signal {signal}"),
            Self::Unseen => write!(formatter, "its guard, which was killed"),
        }
    }
}
