//! A bare closed loop over HTTP/1.1: it sends a constant request, counts the bytes of the replies,
//! and does nothing else. The difference to a load generator is the price of checks and records.
//!
//! It shares the ring with the generator and no more: a yardstick that changes with the generator shows no difference.
//!
//! Deliberately absent: parsing of replies, latencies, reconnects, threads, load models. The caller
//! gives the length of the replies, which is not checked.
#![deny(unsafe_code)]

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

use clap::builder::{RangedU64ValueParser, TypedValueParser};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::tally::{Requests, Tally};

/// The I/O engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub enum Engine {
    /// Edge-triggered epoll: one read and one write for each batch of replies.
    Epoll,
    /// One ring: multishot receives, silent sends, one system call a round.
    #[value(name = "io_uring")]
    IoUring,
}

/// Run one bare loop against a server and print one line of JSON
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::Parser)]
#[command(name = "wirebench-bare-load")]
pub struct Options {
    /// I/O engine
    pub engine: Engine,
    /// Address of the server, such as 127.0.0.1:8080
    pub address: SocketAddr,
    /// Connections, up to 65536
    #[arg(value_parser = up_to(65_536))]
    pub connections: NonZeroUsize,
    /// Length of the load in seconds, up to 3600
    #[arg(value_name = "SECONDS", value_parser = duration)]
    pub duration: Duration,
    /// Length of each reply, with its head
    pub reply_bytes: NonZeroUsize,
    /// Requests of each connection in flight, up to 1024
    #[arg(value_parser = up_to(1024))]
    pub depth: NonZeroUsize,
}

/// A limit, so that a typing error does not exhaust the machine.
fn up_to(most: u64) -> impl TypedValueParser<Value = NonZeroUsize> {
    RangedU64ValueParser::<usize>::new().range(1..=most).try_map(NonZeroUsize::try_from)
}

fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 3600.0);
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "give a number above 0, up to 3600".into())
}

/// The counts of a bare loop.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub requests: u64,
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
            let shape = io_uring::shape_for(options.reply_bytes, options.depth);
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
