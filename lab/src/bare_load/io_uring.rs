//! The loop over completion: one ring, multishot receives into a small ring of buffers, silent
//! sends from constant memory, one system call a round.
//!
//! A *silent* send posts a completion only if it could not send everything. The rest is sent when
//! there is room. A connection has at most one send a round, so that bytes stay in order.

use std::{
    io,
    num::NonZeroUsize,
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    thread,
    time::Duration,
};

use rustix::io::Errno;
use wirebench_uring::{Arrival, Exchange, Request, Shape, Wait};

use super::{
    broken,
    tally::{Requests, Tally},
};

/// One round of 512 connections fits with a re-armed receive for each.
const SUBMISSION_ENTRIES: u32 = 1024;
const COMPLETION_ENTRIES: u32 = 4096;
/// Total size of all buffers: the second-level cache of a typical core. More would evict everything
/// else from it.
const CACHE_BYTES: usize = 1024 * 1024;
/// The numbers of a wait for room and of the end. That of a receive or a send is the connection's index.
const AWAIT_OUTPUT: u64 = 1 << 32;
const END: u64 = 2 << 32;

/// The operations of one connection that are in flight or waiting.
#[derive(Clone, Copy, Debug)]
struct Connection {
    is_armed: bool,
    output: Output,
    /// Whether it is on the list of those for which something is to be submitted.
    is_marked: bool,
    /// Bytes of requests that are not sent.
    owed: usize,
    /// Bytes of the last send.
    sent: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Output {
    Idle,
    /// A send fell short, so the next one waits for room.
    Stuck,
    AwaitsRoom,
}

/// Each buffer holds what one connection has in flight, within limits: a reply in two buffers is two
/// completions.
pub(crate) fn shape_for(reply_bytes: NonZeroUsize, depth: NonZeroUsize) -> Shape {
    const LEAST_BYTES: usize = 2048;
    const MOST_BYTES: usize = 65 * 1024;
    const MOST_BUFFERS: usize = 512;
    let whole = reply_bytes.get().saturating_mul(depth.get()).clamp(LEAST_BYTES, MOST_BYTES);
    let buffers = (CACHE_BYTES / whole).next_power_of_two().min(MOST_BUFFERS);
    // One cache line longer than a power of two, for the reason that `Shape` gives.
    let buffer_bytes = whole.next_multiple_of(64) + 64;
    Shape {
        buffers: u16::try_from(buffers).expect("there are at most 512"),
        buffer_bytes: u32::try_from(buffer_bytes).expect("they are clamped"),
    }
}

/// Loads the sockets for the duration.
pub(crate) fn run(
    sockets: &[OwnedFd],
    requests: Requests,
    tally: &mut Tally,
    duration: Duration,
    shape: Shape,
) -> io::Result<()> {
    let mut exchange = Exchange::new(SUBMISSION_ENTRIES, COMPLETION_ENTRIES, shape)?;
    let owed = requests.first_bytes();
    let fresh =
        Connection { is_armed: false, output: Output::Idle, is_marked: true, owed, sent: 0 };
    let mut connections = vec![fresh; sockets.len()];
    let mut marked: Vec<usize> = (0..sockets.len()).collect();
    // A thread that sleeps costs a round nothing, and a limit of each wait would.
    let (end, closed_at_end) = UnixStream::pair()?;
    thread::spawn(move || {
        thread::sleep(duration);
        drop(closed_at_end);
    });
    let mut first = Some(Request::Receive { socket: end.as_fd(), number: END });
    let mut is_over = false;
    while !is_over {
        let next = marked.drain(..).flat_map(|place| {
            let socket = sockets[place].as_fd();
            connections[place].next(place as u64, socket, requests).into_iter().flatten()
        });
        exchange.round(first.take().into_iter().chain(next), || Wait::Forever)?;
        // Incomplete sends come first: they are older than all that was received.
        for (number, result) in exchange.unsent() {
            let (connection, place) = at(&mut connections, number);
            connection.owed += connection.sent - bytes(result)?;
            connection.output = Output::Stuck;
            connection.mark(place, &mut marked);
        }
        let mut result = Ok(());
        exchange.arrivals(|arrival| {
            if arrival.number == END {
                is_over = true;
                return;
            }
            let (connection, place) = at(&mut connections, arrival.number);
            let completed =
                connection.arrived(&arrival, |bytes| requests.bytes(tally.received(place, bytes)));
            match completed {
                Ok(true) => connection.mark(place, &mut marked),
                Ok(false) => {}
                Err(error) => result = Err(error),
            }
        });
        result?;
    }
    Ok(())
}

/// The connection of a number, and its place.
fn at(connections: &mut [Connection], number: u64) -> (&mut Connection, usize) {
    let place = (number & u64::from(u32::MAX)) as usize;
    (&mut connections[place], place)
}

impl Connection {
    fn mark(&mut self, place: usize, marked: &mut Vec<usize>) {
        if !std::mem::replace(&mut self.is_marked, true) {
            marked.push(place);
        }
    }

    /// The requests to the kernel that are due.
    fn next<'a>(
        &mut self,
        number: u64,
        socket: BorrowedFd<'a>,
        requests: Requests,
    ) -> [Option<Request<'a>>; 2] {
        self.is_marked = false;
        let is_armed = std::mem::replace(&mut self.is_armed, true);
        let receive = (!is_armed).then_some(Request::Receive { socket, number });
        let output = match self.output {
            Output::Idle if self.owed > 0 => {
                let bytes = requests.next(self.owed);
                self.sent = bytes.len();
                self.owed -= bytes.len();
                Some(Request::Send { socket, bytes, number })
            }
            Output::Stuck => {
                self.output = Output::AwaitsRoom;
                Some(Request::AwaitOutput { socket, number: number | AWAIT_OUTPUT })
            }
            Output::Idle | Output::AwaitsRoom => None,
        };
        [receive, output]
    }

    /// Notes a completion, and returns whether requests to the kernel may be due. `owe` turns bytes that arrived into
    /// bytes of requests.
    fn arrived(
        &mut self,
        arrival: &Arrival<'_>,
        owe: impl FnOnce(usize) -> usize,
    ) -> io::Result<bool> {
        if arrival.number & AWAIT_OUTPUT != 0 {
            self.output = Output::Idle;
            return Ok(true);
        }
        if arrival.result == 0 {
            return Err(broken());
        }
        let owed = owe(bytes(arrival.result)?);
        self.owed += owed;
        self.is_armed = arrival.more;
        Ok(owed > 0 || !self.is_armed)
    }
}

/// The bytes of a completion: none when buffers or room had run out, or a signal came, after which
/// the operation is submitted again.
fn bytes(result: i32) -> io::Result<usize> {
    match usize::try_from(result) {
        Ok(bytes) => Ok(bytes),
        Err(_) => match Errno::from_raw_os_error(-result) {
            Errno::NOBUFS | Errno::INTR | Errno::AGAIN => Ok(0),
            error => Err(error.into()),
        },
    }
}
