//! The load generator: offers requests to a server, checks every reply and measures how long it
//! took.
//!
//! [`run`] carries out one load from start to end on threads of its own. It never knows what an
//! entry is, starts no server, prints nothing and installs no signal handler; the caller does all
//! that.
//!
//! From the inside out: a *codec* knows the bytes of requests and replies, a *connection* what it
//! owes, a *pacer* when to send, a *session* all of one thread, an *engine* moves the bytes, a
//! *worker* is the thread, the *coordinator* keeps the time for all of them. Everything up to the
//! session is pure.
#![forbid(unsafe_code)]

mod clock;
mod codec;
mod connection;
mod coordinator;
mod engine;
mod error;
mod failure;
mod limits;
mod outcome;
mod pace;
mod plan;
mod preflight;
mod recorder;
mod resolve;
mod session;
mod summary;
mod worker;

pub use error::LoadError;

use std::{
    net::SocketAddr,
    sync::{
        atomic::{AtomicBool, AtomicU64},
        mpsc,
    },
    thread,
};
use wirebench_schema::load::{LoadConfig, LoadEvent, LoadReport};

use crate::{
    clock::Clock,
    codec::Codec,
    coordinator::{Coordinator, Course},
    engine::epoll::EpollEngine,
    outcome::Outcome,
    plan::{Plan, Speech},
    preflight::Preflight,
    session::Session,
    worker::Wires,
};

/// Carries out one load and reports.
///
/// `observe` is called on the calling thread with [`LoadEvent::Connected`],
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
    let mut plan = Plan::new(config)?;
    limits::provide_descriptors(config.connections, config.threads)?;
    let addresses = resolve::resolve(&config.target)?;
    let found = preflight::preflight(config, &addresses, &mut plan.speech, stop)?;
    let Preflight::Answered(address) = found else {
        let course = Course { interrupted: true, ..Course::default() };
        return Ok(summary::summarize(config, &plan, course, &[]));
    };
    let (course, outcomes) = match &plan.speech {
        Speech::Http1(codec) => run_threads(&plan, codec, address, stop, observe)?,
        Speech::Echo(codec) => run_threads(&plan, codec, address, stop, observe)?,
    };
    if course.connections_made == 0 && !course.interrupted {
        return Err(no_connection(config.connections, &outcomes));
    }
    Ok(summary::summarize(config, &plan, course, &outcomes))
}

/// Runs all threads to their end. The codec, and so the whole loop of a thread, is chosen once,
/// here.
fn run_threads<C: Codec + Sync>(
    plan: &Plan,
    codec: &C,
    address: SocketAddr,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(LoadEvent),
) -> Result<(Course, Vec<Outcome>), LoadError> {
    let clock = Clock::start();
    let end_ns = &AtomicU64::new(u64::MAX);
    let (notes_in, notes) = mpsc::channel();
    thread::scope(|scope| {
        let mut starts = Vec::new();
        let mut threads = Vec::new();
        for share in &plan.shares {
            let (start_in, start) = mpsc::channel();
            starts.push(start_in);
            let wires = Wires { end_ns, notes: notes_in.clone(), start };
            threads.push(scope.spawn(move || {
                let session = Session::new(share, plan.timing, codec, clock::thread_cpu_ns);
                worker::work(|| EpollEngine::new(address, share.connections, clock), session, wires)
            }));
        }
        drop(notes_in);
        let course = Coordinator { clock, end_ns, stop, notes, starts, observe }.run(plan);
        let mut outcomes = Vec::new();
        for thread in threads {
            outcomes.push(thread.join().map_err(|_| LoadError::Thread("panicked"))??);
        }
        Ok((course, outcomes))
    })
}

fn no_connection(connections: usize, outcomes: &[Outcome]) -> LoadError {
    let mut failures = outcomes.iter().flat_map(|outcome| outcome.record.examples.iter().flatten());
    LoadError::NoConnection {
        connections,
        reason: failures.next().map_or("unknown".to_owned(), ToString::to_string),
        next_step: "check that the server still runs and takes more than one connection",
    }
}
