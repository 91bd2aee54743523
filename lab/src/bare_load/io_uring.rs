//! The loop over completion: one ring, multishot receives into a small ring of buffers, silent
//! sends from constant memory, one system call a round.
//!
//! A *silent* send posts a completion only if it could not send everything. The ring and
//! its buffers are those of the servers and the generator; only the loop is separate.

use ::io_uring::{cqueue, opcode, squeue, types};
use rustix::io::Errno;
use std::{
    io,
    os::fd::{AsRawFd as _, OwnedFd},
    time::Duration,
};
use wirebench_uring::{BufferRing, GROUP, Ring, SILENT, SILENT_SEND_FLAGS, Shape, Wait};

use super::{broken, no_room, tally::Tally};

/// One round of 512 connections fits with a re-armed receive for each.
const SUBMISSION_ENTRIES: u32 = 1024;
const COMPLETION_ENTRIES: u32 = 4096;

/// Total size of all buffers: the second-level cache of a typical core. More would evict everything else from it.
const CACHE_BYTES: usize = 1024 * 1024;

/// The number of the operation that ends the loop. A receive has the number of its connection.
const END: u64 = !SILENT;

/// Each buffer holds what one connection has in flight, within limits: a reply in two buffers is two completions.
pub(crate) fn shape_for(reply_bytes: usize, depth: usize) -> Shape {
    const LEAST_BYTES: usize = 2048;
    const MOST_BYTES: usize = 65 * 1024;
    const MOST_BUFFERS: usize = 512;
    let whole = reply_bytes.saturating_mul(depth).clamp(LEAST_BYTES, MOST_BYTES);
    let buffers = (CACHE_BYTES / whole).next_power_of_two().min(MOST_BUFFERS);
    // One cache line longer than a power of two, for the reason that `Shape` gives.
    let buffer_bytes = whole.next_multiple_of(64) + 64;
    Shape { buffers: buffers as u16, buffer_bytes: buffer_bytes as u32 }
}

pub(crate) fn run(
    sockets: &[OwnedFd],
    tally: &mut Tally,
    duration: Duration,
    shape: Shape,
) -> io::Result<()> {
    let mut ring = Ring::new(SUBMISSION_ENTRIES, COMPLETION_ENTRIES)?;
    let mut buffers = ring.provide(shape)?;
    // The kernel reads it when the request is submitted; leaking these few bytes saves proving when that is.
    let end: &'static types::Timespec = Box::leak(Box::new(duration.into()));
    // SAFETY: The time is never freed.
    unsafe { ring.push(&opcode::Timeout::new(end).build().user_data(END)) }?;
    for (number, socket) in sockets.iter().enumerate() {
        receive(&mut ring, socket, number)?;
        send(&mut ring, socket, tally.first())?;
    }
    let (mut completions, mut unsent) = (Vec::new(), Vec::new());
    // Completed replies by connection, and the connections that have some: one send a round for all of them.
    let (mut completed, mut due) = (vec![0; sockets.len()], Vec::new());
    loop {
        buffers.publish();
        for number in due.drain(..) {
            let requests = tally.requests(std::mem::take(&mut completed[number]));
            send(&mut ring, &sockets[number], requests)?;
        }
        ring.enter(Wait::Forever)?;
        ring.take_completions(&mut completions, &mut unsent);
        if let Some(completion) = unsent.first() {
            bytes(completion)?;
            return Err(no_room());
        }
        for completion in completions.drain(..) {
            if completion.user_data() == END {
                return Ok(());
            }
            let number = completion.user_data() as usize;
            let replies = tally.received(number, received(&completion, &mut buffers)?);
            if replies > 0 && completed[number] == 0 {
                due.push(number);
            }
            completed[number] += replies;
            if !cqueue::more(completion.flags()) {
                receive(&mut ring, &sockets[number], number)?;
            }
        }
    }
}

fn receive(ring: &mut Ring, socket: &OwnedFd, number: usize) -> io::Result<()> {
    let receive = opcode::RecvMulti::new(types::Fd(socket.as_raw_fd()), GROUP).build();
    // SAFETY: The entry points to no memory; the buffers of its group are the ring's.
    unsafe { ring.push(&receive.user_data(number as u64)) }
}

fn send(ring: &mut Ring, socket: &OwnedFd, requests: &'static [u8]) -> io::Result<()> {
    let (fd, length) = (types::Fd(socket.as_raw_fd()), requests.len() as u32);
    let send = opcode::Send::new(fd, requests.as_ptr(), length).flags(SILENT_SEND_FLAGS).build();
    // SAFETY: The requests are never freed and never change.
    unsafe { ring.push(&send.flags(squeue::Flags::SKIP_SUCCESS).user_data(SILENT)) }
}

/// Returns the buffer of a receive to the kernel at once, for only its length counts.
fn received(completion: &cqueue::Entry, buffers: &mut BufferRing) -> io::Result<usize> {
    // SAFETY: The completion is of a receive, and is looked at once.
    if let Some(lent) = unsafe { buffers.take(completion) } {
        buffers.give_back(lent);
    }
    if completion.result() == 0 { Err(broken()) } else { bytes(completion) }
}

/// The bytes of a completion: none when buffers or room had run out, or a signal came.
fn bytes(completion: &cqueue::Entry) -> io::Result<usize> {
    match usize::try_from(completion.result()) {
        Ok(bytes) => Ok(bytes),
        Err(_) => match Errno::from_raw_os_error(-completion.result()) {
            Errno::NOBUFS | Errno::INTR | Errno::AGAIN => Ok(0),
            error => Err(error.into()),
        },
    }
}
