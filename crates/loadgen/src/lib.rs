//! The load generator: offers requests to a server, checks every reply and measures how long it
//! took.
//!
//! [`run`] carries out one load from start to end on threads of its own. It never knows what an
//! entry is, starts no server, prints nothing and installs no signal handler; the caller does all
//! that.
//!
//! From the inside out: a *codec* knows the bytes of requests and replies, a *connection* what it
//! owes, a *pacer* when to send, a *session* all of one thread, an *engine* moves the bytes, through
//! *TLS* where the target wants it, a *worker* is the thread, the *coordinator* keeps the time for
//! all of them. Everything up to the
//! session is pure: time is a parameter, bytes are slices. What a session reads by itself is
//! CPU time, of its thread and of the server, at the edges of the window, through functions that it
//! is given.
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
mod limits;
mod outcome;
mod pace;
mod plan;
mod preflight;
mod recorder;
mod resolve;
mod server_clocks;
mod session;
mod slice;
mod summary;
mod threads;
mod tls;
mod unanswered;
mod worker;

pub use error::LoadError;
pub use limits::check_descriptors;
pub use server_clocks::ServerClocks;

use std::{sync::atomic::AtomicBool, thread::Builder};
use wirebench_schema::load::{EngineChoice, LoadConfig, LoadEvent, LoadReport};

use crate::{
    codec::Codec,
    coordinator::Course,
    dial::{Dialer, sources::Sources},
    engine::{epoll::EpollEngine, io_uring::IoUringEngine},
    plan::{Plan, Speech},
    preflight::Preflight,
    session::Session,
    threads::{Harvest, run_threads},
    tls::{Connector, TlsDirector},
    worker::Party,
};

/// Carries out one load and reports.
///
/// `observe` is called on the calling thread with [`LoadEvent::Connecting`], [`LoadEvent::Connected`],
/// [`LoadEvent::WindowStart`] and [`LoadEvent::WindowEnd`] as they happen; the report is what this
/// function returns. A window that never begins, because the load is stopped before, has no edges
/// to tell of.
///
/// Setting `stop` ends the load early; the report then covers the window up to that moment and says
/// so.
pub fn run(
    config: &LoadConfig,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(LoadEvent),
) -> Result<LoadReport, LoadError> {
    run_observed(config, stop, &ServerClocks::default(), observe)
}

/// The same, with `clocks` read at both edges of the window, by a thread that loads: what the server
/// used and what it answered then belong to the same time. The readings come with
/// [`LoadEvent::ServerClocks`]. The load begins when `observe` returns from
/// [`LoadEvent::Connected`].
pub fn run_observed(
    config: &LoadConfig,
    stop: &AtomicBool,
    clocks: &ServerClocks,
    observe: &mut dyn FnMut(LoadEvent),
) -> Result<LoadReport, LoadError> {
    config.check().map_err(LoadError::Configuration)?;
    // Nothing is allocated for a thread or a connection before it is known that there can be one.
    limits::provide_descriptors(config)?;
    limits::memory::check(config)?;
    let mut plan = Plan { server_clocks: clocks.clone(), ..Plan::new(config)? };
    let sources = Sources::new(&config.sources);
    let connections = config.connections.saturating_add(config.idle_connections);
    let endpoints = sources.check(resolve::resolve(config)?, connections)?;
    limits::ports::check(config, &endpoints, &sources)?;
    let connector = Connector::new(config)?;
    let connector = connector.as_ref();
    let route = preflight::Route { endpoints: &endpoints, sources: &sources, connector };
    let found = preflight::preflight(config, route, &mut plan.speech, stop)?;
    let Preflight::Answered(endpoint, took) = found else {
        let course = Course { interrupted: true, ..Course::default() };
        return Ok(summary::summarize(config, &plan, &Harvest::nothing(&plan, course)));
    };
    plan.conduct.round_trip_ns = clock::nanoseconds(took);
    plan.chosen = plan.chosen.clone().suited(config.engine, plan.speech.reply_bytes());
    let dialer = Dialer::new(endpoint, sources);
    let harvest = match (&plan.speech, connector) {
        (Speech::Http1(codec), Some(connector)) => {
            let wrap = |session| TlsDirector::new(session, connector);
            by_engine(&plan, codec, &dialer, stop, observe, wrap)?
        }
        (Speech::Http1(codec), None) => {
            by_engine(&plan, codec, &dialer, stop, observe, |session| session)?
        }
        (Speech::Echo(codec), _) => {
            by_engine(&plan, codec, &dialer, stop, observe, |session| session)?
        }
    };
    if harvest.course.connections_made == 0 && !harvest.course.interrupted {
        return Err(no_connection(config.connections, &harvest));
    }
    let tls = connector.and_then(Connector::summary);
    Ok(LoadReport { tls, ..summary::summarize(config, &plan, &harvest) })
}

fn by_engine<C: Codec + Sync, P: Party<Codec = C>>(
    plan: &Plan,
    codec: &C,
    dialer: &Dialer,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(LoadEvent),
    wrap: impl Fn(Session<C>) -> P + Sync,
) -> Result<Harvest, LoadError> {
    let builder = |_| Builder::new();
    if plan.chosen.engine == EngineChoice::IoUring {
        return run_threads::<IoUringEngine, _, _>(
            plan, codec, dialer, stop, observe, wrap, builder,
        );
    }
    run_threads::<EpollEngine, _, _>(plan, codec, dialer, stop, observe, wrap, builder)
}

fn no_connection(connections: usize, harvest: &Harvest) -> LoadError {
    let mut failures = harvest.collected.total.counts.examples.iter().flatten();
    LoadError::NoConnection {
        connections,
        reason: failures.next().map_or("unknown".to_owned(), ToString::to_string),
        next_step: "check that the server still runs and takes more than one connection",
    }
}
