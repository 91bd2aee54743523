//! The load generator: sends requests to a server, checks every reply and measures latency.
//!
//! [`run`] runs one load from start to end on its own threads; a [`Load`] runs several windows over
//! the same connections. It does not know what an entry is, starts no server, prints nothing and
//! installs no signal handler; the caller does.
//!
//! From the inside out: a *codec* knows the bytes of requests and replies, a *connection* its open
//! requests, a *pacer* the send times, a *session* the state of one thread; an *engine* moves the
//! bytes, through *TLS* if the target wants it; a *worker* is the thread, and the *coordinator*
//! keeps time for all of them. Everything up to the session is pure: time is a parameter, bytes are
//! visits. A session itself reads only CPU time, of its thread and of the server, at the edges of
//! the window, through functions that it is given.
#![forbid(unsafe_code)]

mod clock;
mod codec;
mod collector;
mod connection;
mod coordinator;
mod dial;
mod director;
mod engine;
mod error;
mod failure;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod in_flight;
mod limits;
mod load;
mod outcome;
mod pace;
mod plan;
mod preflight;
mod recorder;
mod resolve;
mod segment;
mod session;
mod share;
mod stalls;
mod steps;
mod summary;
mod threads;
mod tls;
mod worker;

pub use clock::now_ns;
pub use error::LoadError;
pub use limits::check_descriptors;
pub use load::{Load, Measured};
pub use preflight::{Manner, ask_each, sample_unsafe};
pub use resolve::addresses;

use std::sync::atomic::AtomicBool;
use wirebench_schema::{
    agent::Windows,
    load::{LoadConfig, LoadEvent, LoadReport},
};

/// Runs one load and reports.
///
/// `observe` is called on the calling thread with [`LoadEvent::Connecting`], [`LoadEvent::Connected`],
/// [`LoadEvent::WindowStart`] and [`LoadEvent::WindowEnd`] as they happen; the report is what this
/// function returns. A window that never begins, because the load is stopped before, has no edges
/// to report.
///
/// Setting `stop` ends the load early; the report then covers the window up to that moment and says
/// so.
pub fn run(
    config: &LoadConfig,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(LoadEvent),
) -> Result<LoadReport, LoadError> {
    let mut load = Load::open(config, Windows::One, stop, observe)?;
    if load.threads.is_some() {
        observe(LoadEvent::Connected { connections: load.connections() });
    }
    Ok(load.first_window(stop, observe)?.report)
}
