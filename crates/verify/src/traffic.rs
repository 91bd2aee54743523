//! Requests in either protocol, for checks that only need a server that is busy or a client that
//! behaves badly.

use rustix::process::Pid;
use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};
use wirebench_schema::scenario::Protocol;

use super::{
    Verdict,
    client::{Buffers, Trouble},
    echo, http,
    process::RunTimes,
    show,
};

/// Connections that keep the workers busy.
const BUSY_CONNECTIONS: usize = 32;
/// Requests in one write, so that the server has more to do than the client.
const BUSY_BATCH: usize = 16;
const BUSY_ROUND: Duration = Duration::from_millis(100);
/// Rounds in which the second worker may show itself.
const BUSY_ROUNDS: usize = 4;
/// A thread has really worked when it has this part of its fair share of the time of all.
const WORKED_PART: u64 = 10;
/// So many must have worked, however many there are: with few CPUs a shared queue leaves little to
/// the others.
const WORKED_LEAST: usize = 2;
/// Bytes of one echo, and of all on one connection.
const ECHO_BYTES: usize = 64;
const ECHO_STREAM_BYTES: usize = 512 * 1024;

/// A connection on which requests can be repeated.
pub(super) enum Talk {
    Http(http::Conversation),
    Echo { conversation: echo::Conversation, at: usize },
}

impl Talk {
    pub(super) fn open(protocol: Protocol, address: SocketAddr) -> Result<Self, String> {
        Ok(match protocol {
            Protocol::Http1 => Self::Http(http::Conversation::open(address, Buffers::Usual)?),
            Protocol::Echo => {
                let stream = vec![b'x'; ECHO_STREAM_BYTES];
                let conversation = echo::Conversation::open(address, Buffers::Usual, stream)?;
                Self::Echo { conversation, at: 0 }
            }
        })
    }

    /// The port on this side.
    pub(super) fn port(&self) -> u16 {
        match self {
            Self::Http(conversation) => conversation.client.port(),
            Self::Echo { conversation, .. } => conversation.port(),
        }
    }

    /// One request and its answer.
    pub(super) fn exchange(&mut self) -> Result<(), String> {
        self.send(1)?;
        self.receive(1)
    }

    fn send(&mut self, count: usize) -> Result<(), String> {
        match self {
            Self::Http(conversation) => conversation.send(count)?,
            Self::Echo { conversation, at } => conversation.send(*at + count * ECHO_BYTES)?,
        }
        Ok(())
    }

    fn receive(&mut self, count: usize) -> Result<(), String> {
        match self {
            Self::Http(conversation) => {
                conversation.exchange(&[], conversation.replies.count() + count)
            }
            Self::Echo { conversation, at } => {
                *at += count * ECHO_BYTES;
                conversation.exchange(*at)
            }
        }
    }
}

/// Whether the server answers on a fresh connection.
pub(super) fn works(protocol: Protocol, address: SocketAddr) -> Result<(), String> {
    match protocol {
        Protocol::Http1 => http::works(address),
        Protocol::Echo => echo::works(address),
    }
}

/// Clients that go away with RST at moments that hurt.
pub(super) fn reset_clients(protocol: Protocol, address: SocketAddr) -> Result<(), Trouble> {
    match protocol {
        Protocol::Http1 => http::reset_clients(address),
        Protocol::Echo => echo::reset_clients(address),
    }
}

/// Keeps many connections busy and looks whether at least two threads or processes of the tree,
/// which was started with `workers`, really run.
pub(super) fn workers(
    tree: &dyn Fn() -> Vec<Pid>,
    address: SocketAddr,
    protocol: Protocol,
    workers: u32,
) -> Result<Verdict, String> {
    let mut finding = String::new();
    for _ in 0..BUSY_ROUNDS {
        let mut talks = Vec::new();
        for _ in 0..BUSY_CONNECTIONS {
            let mut talk = Talk::open(protocol, address)?;
            talk.exchange()?;
            talks.push(talk);
        }
        let Some(before) = RunTimes::read(&tree()) else { return Ok(not_counted()) };
        keep_busy(&mut talks)?;
        let Some(after) = RunTimes::read(&tree()) else { return Ok(not_counted()) };
        let ran = after.since(&before);
        let total: u64 = ran.iter().map(|(_, time)| time).sum();
        if total == 0 {
            return Err("no thread of the server used CPU time while requests were served".into());
        }
        let parts = WORKED_PART * u64::from(workers);
        let worked = ran.iter().filter(|(_, time)| time * parts >= total).count();
        if worked >= WORKED_LEAST {
            return Ok(Verdict::Pass);
        }
        finding = format!(
            "it was started with {workers} workers, but under {BUSY_CONNECTIONS} busy connections only {worked} of its \
             {} did the work",
            show::count(ran.len(), "thread", "threads")
        );
    }
    Ok(Verdict::Fail { finding })
}

fn not_counted() -> Verdict {
    Verdict::Skip { reason: "this kernel does not count the CPU time of threads".into() }
}

fn keep_busy(talks: &mut [Talk]) -> Result<(), String> {
    // The stream of an echo is long enough for so many batches.
    const BATCHES_MOST: usize = ECHO_STREAM_BYTES / (ECHO_BYTES * BUSY_BATCH) - 1;
    let began = Instant::now();
    for _ in 0..BATCHES_MOST {
        if began.elapsed() > BUSY_ROUND {
            break;
        }
        for talk in &mut *talks {
            talk.send(BUSY_BATCH)?;
        }
        for talk in &mut *talks {
            talk.receive(BUSY_BATCH)?;
        }
    }
    Ok(())
}
