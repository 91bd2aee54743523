//! A bare closed loop over HTTP/1.1: it sends a constant request, counts the bytes of the replies, and does nothing
//! else. The difference to a load generator is the price of checks and records.
//!
//! `wirebench-uring` is all that it shares with the generator: a yardstick that changes with the
//! generator shows no difference. The length of the first reply is that of all, which is not checked.

mod epoll;
mod io_uring;
#[cfg(test)]
mod tests;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use std::{
    io::{self, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpStream},
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

/// For a connection, and for the first reply: long enough for a full listen backlog.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one wait lasts at most, so that the end is seen although nothing arrives.
const WAIT: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum Engine {
    Epoll,
    #[value(name = "io_uring")]
    IoUring,
}

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Arguments {
    engine: Engine,
    address: SocketAddr,
    connections: usize,
    seconds: f64,
    /// Requests of each connection in flight
    depth: usize,
}

/// The counts that every generator has. A bare loop has no errors.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Counted {
    pub(crate) requests: u64,
    pub(crate) requests_per_second: f64,
    pub(crate) errors: u64,
}

impl Counted {
    pub(crate) fn of(requests: u64, errors: u64, seconds: f64) -> Self {
        Self { requests, requests_per_second: requests as f64 / seconds, errors }
    }
}

/// Counts: bytes in, replies out, and a request for each of them.
#[derive(Debug)]
struct Tally {
    reply_bytes: usize,
    /// Received bytes of an incomplete reply, by connection.
    begun: Vec<usize>,
    replies: u64,
    /// All requests that a connection has in flight. They are never freed, so that some can be sent while the counts
    /// change.
    requests: &'static [u8],
    request_bytes: usize,
}

impl Tally {
    fn new(arguments: &Arguments, reply_bytes: usize) -> Self {
        let request = request(arguments.address);
        let requests = request.repeat(arguments.depth).into_bytes().leak();
        let begun = vec![0; arguments.connections];
        Self { reply_bytes, begun, replies: 0, requests, request_bytes: request.len() }
    }

    /// Counts bytes that arrived, and returns how many replies they completed.
    fn received(&mut self, connection: usize, bytes: usize) -> usize {
        let begun = self.begun[connection] + bytes;
        // Most arrivals are exactly one reply, and a division costs more than this comparison.
        let completed = if begun == self.reply_bytes { 1 } else { begun / self.reply_bytes };
        self.begun[connection] = begun - completed * self.reply_bytes;
        self.replies += completed as u64;
        completed
    }

    /// Bytes of the replies that a connection has in flight.
    fn in_flight_bytes(&self) -> usize {
        self.requests.len() / self.request_bytes * self.reply_bytes
    }

    /// This many requests; there are never more than are in flight.
    fn requests(&self, count: usize) -> &'static [u8] {
        &self.requests[..count * self.request_bytes]
    }
}

fn request(address: SocketAddr) -> String {
    format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n")
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string(&load(arguments)?)?);
    Ok(())
}

/// Connects, loads for the duration, and counts. There is no partial outcome, because it would be no reference.
fn load(arguments: &Arguments) -> anyhow::Result<Counted> {
    let Arguments { engine, address, connections, seconds, .. } = *arguments;
    wirebench_sys::limits::raise_open_files()?;
    let duration = Duration::try_from_secs_f64(seconds)?;
    let mut tally = Tally::new(arguments, reply_bytes(address)?);
    let sockets = (0..connections).map(|_| connect(address)).collect::<io::Result<Vec<OwnedFd>>>();
    let sockets = sockets.with_context(|| address.to_string())?;
    let began = Instant::now();
    match engine {
        Engine::Epoll => epoll::run(&sockets, &mut tally, began + duration)?,
        Engine::IoUring => io_uring::run(&sockets, &mut tally, began + duration)?,
    }
    Ok(Counted::of(tally.replies, 0, began.elapsed().as_secs_f64()))
}

/// The length of a reply, head and body: the server closes after the client has ended its side.
fn reply_bytes(address: SocketAddr) -> anyhow::Result<usize> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(request(address).as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    let bytes = stream.read_to_end(&mut Vec::new())?;
    ensure!(bytes > 0, "{address} closed a connection without a reply");
    Ok(bytes)
}

fn connect(address: SocketAddr) -> io::Result<OwnedFd> {
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(stream.into())
}

fn broken() -> io::Error {
    io::Error::other("the server closed a connection: it must keep the connection open")
}

/// A few requests of some 50 bytes always have room in an empty socket, so a loop without the slow path for those that
/// have none is a simpler yardstick.
fn no_room() -> io::Error {
    io::Error::other("a socket had no room for the requests: fewer in flight are needed")
}
