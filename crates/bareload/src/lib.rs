//! A bare closed loop over HTTP/1.1: it sends a constant request, counts the bytes of the replies,
//! and does nothing else. The difference to a load generator is the price of checks and records.
//!
//! Deliberately absent: parsing of replies, latencies, reconnects, threads, load models. The caller
//! gives the length of the replies, which is not checked.
#![deny(unsafe_code)]

mod arguments;
mod connect;
mod epoll;
#[allow(
    unsafe_code,
    reason = "a ring shares memory with the kernel, which no safe interface covers"
)]
mod io_uring;
mod tally;
#[cfg(test)]
mod tests;

pub use arguments::{ArgumentError, options_from_arguments};

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::tally::{Requests, Tally};

/// The I/O engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Engine {
    /// Edge-triggered epoll: one read and one write for each batch of replies.
    Epoll,
    /// One ring: multishot receives, silent sends, one system call a round.
    IoUring,
}

/// Everything that a bare loop needs to know.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Options {
    /// The I/O engine.
    pub engine: Engine,
    /// Where the server listens.
    pub address: SocketAddr,
    /// How many connections.
    pub connections: NonZeroUsize,
    /// How long.
    pub duration: Duration,
    /// The length of each reply, with its head.
    pub reply_bytes: NonZeroUsize,
    /// How many requests each connection has in flight.
    pub depth: NonZeroUsize,
}

/// The counts of a bare loop.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Replies that arrived whole.
    pub requests: u64,
    /// How long it really took.
    pub elapsed: Duration,
    /// CPU time of this process meanwhile.
    pub cpu: Duration,
}

impl Outcome {
    /// Replies for each second.
    #[must_use]
    pub fn requests_per_second(&self) -> f64 {
        self.requests as f64 / self.elapsed.as_secs_f64()
    }
}

/// Connects, loads for the duration, and counts.
///
/// # Errors
///
/// Returns an error if a connection cannot be made or breaks, or if the kernel lacks a feature that
/// the engine needs. There is no partial outcome, because it would be no reference.
pub fn run(options: &Options) -> io::Result<Outcome> {
    let sockets = connect::connect_all(options)?;
    let mut tally = Tally::new(sockets.len(), options.reply_bytes.get());
    let requests = Requests::new(options.address, options.depth.get());
    let (began, cpu_before) = (Instant::now(), process_cpu());
    let deadline = began + options.duration;
    match options.engine {
        Engine::Epoll => epoll::run(&sockets, requests, &mut tally, deadline)?,
        Engine::IoUring => {
            let shape = io_uring::Shape::for_replies(options.reply_bytes, options.depth);
            io_uring::run(&sockets, requests, &mut tally, options.duration, shape)?;
        }
    }
    let (elapsed, cpu) = (began.elapsed(), process_cpu().saturating_sub(cpu_before));
    Ok(Outcome { requests: tally.replies(), elapsed, cpu })
}

/// CPU time of all threads of this process.
fn process_cpu() -> Duration {
    // The clock of the own process cannot run backwards, nor be negative.
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default()
}

/// The server closed a connection, or it broke.
fn broken(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::ConnectionAborted,
        format!("{what}: the server must answer every request and keep the connection open"),
    )
}
