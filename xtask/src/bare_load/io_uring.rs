//! The loop over completion: one ring, multishot receives into a small ring of buffers, silent
//! sends from constant memory, one system call a round.
//!
//! A *silent* send posts a completion only if it could not send everything. The rest is sent with a
//! completion. A connection has at most one send a round, so that bytes stay in order. The ring and
//! its buffers are those of the servers and the generator; only the loop is separate.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use ::io_uring::{cqueue, opcode, squeue, types};
use rustix::io::Errno;
use wirebench_uring::{BufferRing, GROUP, Ring, SILENT, SILENT_SEND_FLAGS, Shape, Wait};

use super::broken;
use super::tally::{Requests, Tally};

/// One round of 512 connections fits with a re-armed receive for each.
const SUBMISSION_ENTRIES: u32 = 1024;
const COMPLETION_ENTRIES: u32 = 4096;

/// Total size of all buffers: the second-level cache of a typical core. More would evict everything
/// else from it.
const CACHE_BYTES: usize = 1024 * 1024;

/// The operation of a completion; stored above the connection's index in its number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u64)]
enum Operation {
    Receive = 0,
    Send = 1 << 32,
    End = 2 << 32,
}

impl Operation {
    fn of(completion: &cqueue::Entry) -> Self {
        match completion.user_data() >> 32 {
            0 => Self::Receive,
            1 => Self::Send,
            _ => Self::End,
        }
    }

    fn tagged(self, connection: usize) -> u64 {
        self as u64 | connection as u64
    }
}

/// The operations of one connection that are in flight or waiting.
#[derive(Clone, Copy, Debug)]
struct Connection {
    fd: types::Fd,
    input: Input,
    output: Output,
    settling: Settling,
    /// Bytes of requests that are not sent, or that are being sent with a completion.
    owed: usize,
    /// Bytes of the last silent send.
    silent: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Input {
    Stopped,
    Armed,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Output {
    Idle,
    /// A silent send fell short, so the next one waits for room.
    Stuck,
    InFlight,
}

/// Whether the connection is on the list of those for which something is to be submitted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Settling {
    No,
    Marked,
}

struct Loop {
    ring: Ring,
    buffers: BufferRing,
    requests: Requests,
    connections: Vec<Connection>,
    to_settle: Vec<usize>,
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
    let mut ring = Ring::new(SUBMISSION_ENTRIES, COMPLETION_ENTRIES)?;
    let buffers = ring.provide(shape)?;
    let connection = |socket: &OwnedFd| Connection {
        fd: types::Fd(socket.as_raw_fd()),
        input: Input::Stopped,
        output: Output::Idle,
        settling: Settling::Marked,
        owed: requests.first_bytes(),
        silent: 0,
    };
    let connections: Vec<_> = sockets.iter().map(connection).collect();
    let to_settle = (0..connections.len()).collect();
    let mut this = Loop { ring, buffers, requests, connections, to_settle };
    this.arm_end(duration)?;
    this.run(tally)
}

impl Loop {
    fn run(&mut self, tally: &mut Tally) -> io::Result<()> {
        let (mut completions, mut unsent) = (Vec::new(), Vec::new());
        loop {
            self.buffers.publish();
            self.settle_all()?;
            self.ring.enter(Wait::Forever)?;
            self.ring.take_completions(&mut completions, &mut unsent);
            // Incomplete silent sends come first: they are older than all that was received.
            for completion in unsent.drain(..) {
                self.fell_short(&completion)?;
            }
            for completion in completions.drain(..) {
                match Operation::of(&completion) {
                    Operation::Receive => self.received(&completion, tally)?,
                    Operation::Send => self.sent(&completion)?,
                    Operation::End => return Ok(()),
                }
            }
        }
    }

    /// A completion comes when the load is to end.
    fn arm_end(&mut self, duration: Duration) -> io::Result<()> {
        // The kernel reads it when the request is submitted; leaking these few bytes saves proving
        // when that is.
        let timespec: &'static types::Timespec = Box::leak(Box::new(duration.into()));
        let entry = opcode::Timeout::new(timespec).build().user_data(Operation::End.tagged(0));
        // SAFETY: The time is never freed.
        unsafe { self.ring.push(&entry) }
    }

    fn received(&mut self, completion: &cqueue::Entry, tally: &mut Tally) -> io::Result<()> {
        let connection = index(completion);
        // SAFETY: The completion is of a receive, and is looked at once.
        if let Some(lent) = unsafe { self.buffers.take(completion) } {
            self.buffers.give_back(lent);
        }
        if completion.result() == 0 {
            return Err(broken());
        }
        let bytes = bytes(completion)?;
        let completed = tally.received(connection, bytes);
        let state = &mut self.connections[connection];
        state.owed += self.requests.bytes(completed);
        if !cqueue::more(completion.flags()) {
            state.input = Input::Stopped;
        }
        if completed > 0 || state.input == Input::Stopped {
            mark(state, connection, &mut self.to_settle);
        }
        Ok(())
    }

    /// A send with a completion is over.
    fn sent(&mut self, completion: &cqueue::Entry) -> io::Result<()> {
        let state = &mut self.connections[index(completion)];
        state.output = Output::Idle;
        state.owed -= bytes(completion)?;
        mark(state, index(completion), &mut self.to_settle);
        Ok(())
    }

    /// A silent send sent only a part, or nothing because there was no room.
    fn fell_short(&mut self, completion: &cqueue::Entry) -> io::Result<()> {
        let state = &mut self.connections[index(completion)];
        state.owed += state.silent - bytes(completion)?;
        state.output = Output::Stuck;
        mark(state, index(completion), &mut self.to_settle);
        Ok(())
    }

    /// Submits the next operation of each connection with news.
    fn settle_all(&mut self) -> io::Result<()> {
        let mut to_settle = std::mem::take(&mut self.to_settle);
        for connection in to_settle.drain(..) {
            self.connections[connection].settling = Settling::No;
            self.settle(connection)?;
        }
        self.to_settle = to_settle;
        Ok(())
    }

    fn settle(&mut self, connection: usize) -> io::Result<()> {
        let state = &mut self.connections[connection];
        let fd = state.fd;
        let output = self.requests.next(state.owed);
        let length = u32::try_from(output.len()).expect("a batch is shorter than 4 GiB");
        let must_arm = std::mem::replace(&mut state.input, Input::Armed) == Input::Stopped;
        let send = opcode::Send::new(fd, output.as_ptr(), length);
        let send = match state.output {
            _ if output.is_empty() => None,
            Output::InFlight => None,
            Output::Idle if output.len() == state.owed => {
                state.silent = state.owed;
                state.owed = 0;
                let entry =
                    send.flags(SILENT_SEND_FLAGS).build().flags(squeue::Flags::SKIP_SUCCESS);
                Some(entry.user_data(SILENT | connection as u64))
            }
            Output::Idle | Output::Stuck => {
                state.output = Output::InFlight;
                let entry = send.flags(libc::MSG_NOSIGNAL).build();
                Some(entry.user_data(Operation::Send.tagged(connection)))
            }
        };
        if must_arm {
            let receive = opcode::RecvMulti::new(fd, GROUP)
                .build()
                .user_data(Operation::Receive.tagged(connection));
            // SAFETY: The entry points to no memory; the buffers of its group are the ring's.
            unsafe { self.ring.push(&receive) }?;
        }
        match send {
            // SAFETY: The requests are never freed and never change.
            Some(send) => unsafe { self.ring.push(&send) },
            None => Ok(()),
        }
    }
}

/// The bytes of a completion: none when buffers or room had run out, or a signal came, after which
/// the operation is submitted again.
fn bytes(completion: &cqueue::Entry) -> io::Result<usize> {
    match usize::try_from(completion.result()) {
        Ok(bytes) => Ok(bytes),
        Err(_) => match Errno::from_raw_os_error(-completion.result()) {
            Errno::NOBUFS | Errno::INTR | Errno::AGAIN => Ok(0),
            error => Err(error.into()),
        },
    }
}

fn mark(state: &mut Connection, connection: usize, to_settle: &mut Vec<usize>) {
    if std::mem::replace(&mut state.settling, Settling::Marked) == Settling::No {
        to_settle.push(connection);
    }
}

/// The connection that a completion is about.
fn index(completion: &cqueue::Entry) -> usize {
    (completion.user_data() & u64::from(u32::MAX)) as usize
}
