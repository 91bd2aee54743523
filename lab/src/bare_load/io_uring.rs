//! The loop over completion: one ring, multishot receives into a small ring of buffers, silent
//! sends from constant memory, one system call a round.
//!
//! A *silent* send posts a completion only if it could not send everything. The rest is sent with a
//! completion. A connection has at most one send a round, so that bytes stay in order. The ring and
//! its buffers are those of the servers and the generator; only the loop is separate.

use ::io_uring::{cqueue, opcode, squeue, types};
use rustix::io::Errno;
use std::{
    io,
    num::NonZeroUsize,
    os::fd::{AsRawFd as _, OwnedFd},
    time::Duration,
};
use wirebench_uring::{BufferRing, GROUP, Ring, SILENT, SILENT_SEND_FLAGS, Shape, Wait};

use super::{
    broken,
    tally::{Requests, Tally},
};

/// One round of 512 connections fits with a re-armed receive for each.
const SUBMISSION_ENTRIES: u32 = 1024;
const COMPLETION_ENTRIES: u32 = 4096;

/// Total size of all buffers: the second-level cache of a typical core. More would evict everything else from it.
const CACHE_BYTES: usize = 1024 * 1024;

/// The operation of a completion; in its number above the connection's index.
const RECEIVE: u64 = 0;
const SEND: u64 = 1;
const END: u64 = 2;

struct Connection {
    fd: types::Fd,
    is_armed: bool,
    output: Output,
    /// Bytes of requests that are not sent, or that are being sent with a completion.
    owed: usize,
    silent: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Output {
    Idle,
    /// A silent send fell short, so the next one waits for room.
    Stuck,
    InFlight,
}

/// Each buffer holds what one connection has in flight, within limits: a reply in two buffers is two completions.
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

pub(crate) fn run(
    sockets: &[OwnedFd],
    requests: Requests,
    tally: &mut Tally,
    duration: Duration,
    shape: Shape,
) -> io::Result<()> {
    let mut ring = Ring::new(SUBMISSION_ENTRIES, COMPLETION_ENTRIES)?;
    let mut buffers = ring.provide(shape)?;
    let fresh = |socket: &OwnedFd| Connection {
        fd: types::Fd(socket.as_raw_fd()),
        is_armed: false,
        output: Output::Idle,
        owed: requests.first_bytes(),
        silent: 0,
    };
    let mut connections: Vec<_> = sockets.iter().map(fresh).collect();
    // The kernel reads it when the request is submitted; leaking these few bytes saves proving when that is.
    let end: &'static types::Timespec = Box::leak(Box::new(duration.into()));
    // SAFETY: The time is never freed.
    unsafe { ring.push(&opcode::Timeout::new(end).build().user_data(END << 32)) }?;
    let (mut completions, mut unsent) = (Vec::new(), Vec::new());
    // Connections that may submit something. One that is there twice has nothing to submit the second time.
    let mut due: Vec<usize> = (0..connections.len()).collect();
    loop {
        buffers.publish();
        for index in due.drain(..) {
            connections[index].submit(index as u64, requests, &mut ring)?;
        }
        ring.enter(Wait::Forever)?;
        ring.take_completions(&mut completions, &mut unsent);
        // Incomplete silent sends come first: they are older than all that was received.
        for completion in unsent.drain(..) {
            let connection = &mut connections[index(&completion)];
            connection.owed += connection.silent - bytes(&completion)?;
            connection.output = Output::Stuck;
            due.push(index(&completion));
        }
        for completion in completions.drain(..) {
            let index = index(&completion);
            match completion.user_data() >> 32 {
                RECEIVE => {
                    let received = received(&completion, &mut buffers)?;
                    let completed = tally.received(index, received);
                    connections[index].owed += requests.bytes(completed);
                    connections[index].is_armed = cqueue::more(completion.flags());
                    if completed > 0 || !connections[index].is_armed {
                        due.push(index);
                    }
                }
                SEND => {
                    connections[index].output = Output::Idle;
                    connections[index].owed -= bytes(&completion)?;
                    due.push(index);
                }
                _ => return Ok(()),
            }
        }
    }
}

impl Connection {
    /// Submits its next operations.
    fn submit(&mut self, number: u64, requests: Requests, ring: &mut Ring) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_armed, true) {
            let receive = opcode::RecvMulti::new(self.fd, GROUP).build();
            // SAFETY: The entry points to no memory; the buffers of its group are the ring's.
            unsafe { ring.push(&receive.user_data(RECEIVE << 32 | number)) }?;
        }
        let output = requests.next(self.owed);
        if output.is_empty() || self.output == Output::InFlight {
            return Ok(());
        }
        let length = u32::try_from(output.len()).expect("a batch is shorter than 4 GiB");
        let send = opcode::Send::new(self.fd, output.as_ptr(), length);
        let entry = if self.output == Output::Idle && output.len() == self.owed {
            self.silent = std::mem::take(&mut self.owed);
            let entry = send.flags(SILENT_SEND_FLAGS).build().flags(squeue::Flags::SKIP_SUCCESS);
            entry.user_data(SILENT | number)
        } else {
            self.output = Output::InFlight;
            send.flags(libc::MSG_NOSIGNAL).build().user_data(SEND << 32 | number)
        };
        // SAFETY: The requests are never freed and never change.
        unsafe { ring.push(&entry) }
    }
}

/// Returns the buffer of a receive to the kernel at once, for only its length counts.
fn received(completion: &cqueue::Entry, buffers: &mut BufferRing) -> io::Result<usize> {
    // SAFETY: The completion is of a receive, and is looked at once.
    if let Some(lent) = unsafe { buffers.take(completion) } {
        buffers.give_back(lent);
    }
    if completion.result() == 0 { Err(broken()) } else { bytes(completion) }
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

fn index(completion: &cqueue::Entry) -> usize {
    (completion.user_data() & u64::from(u32::MAX)) as usize
}
