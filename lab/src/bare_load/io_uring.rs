//! The loop over completion: one ring, multishot receives into a small ring of buffers, sends that post a completion
//! only if they fall short, one system call a round.
//!
//! The exchange with the kernel is that of the generator; only the loop is separate.

use rustix::io::Errno;
use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    time::Instant,
};
use wirebench_uring::{Exchange, Request, Shape, Wait};

use super::{Tally, WAIT, broken, no_room};

/// One round of 512 connections fits with a re-armed receive for each.
const SUBMISSION_ENTRIES: u32 = 1024;
const COMPLETION_ENTRIES: u32 = 4096;

/// Total size of all buffers: the second-level cache of a typical core. More would evict everything else from it.
const CACHE_BYTES: usize = 1024 * 1024;

/// Each buffer holds what one connection has in flight, within limits: a reply in two buffers is two completions.
fn shape_for(in_flight_bytes: usize) -> Shape {
    let whole = in_flight_bytes.clamp(2 * 1024, 65 * 1024);
    let buffers = (CACHE_BYTES / whole).next_power_of_two() as u16;
    // One cache line longer than a power of two, for the reason that `Shape` gives.
    Shape { buffers, buffer_bytes: whole.next_multiple_of(64) as u32 + 64 }
}

pub(crate) fn run(sockets: &[OwnedFd], tally: &mut Tally, deadline: Instant) -> io::Result<()> {
    let shape = shape_for(tally.in_flight_bytes());
    let mut exchange = Exchange::new(SUBMISSION_ENTRIES, COMPLETION_ENTRIES, shape)?;
    let receive =
        |number: usize| Request::Receive { socket: sockets[number].as_fd(), number: number as u64 };
    let send = |number: usize, bytes| Request::Send {
        socket: sockets[number].as_fd(),
        bytes,
        number: number as u64,
    };
    let first = |number| [receive(number), send(number, tally.requests)];
    let mut requests: Vec<Request<'_>> = (0..sockets.len()).flat_map(first).collect();
    // Completed replies by connection, and the connections that have some: one send a round for all of them.
    let (mut completed, mut due) = (vec![0; sockets.len()], Vec::new());
    while Instant::now() < deadline {
        exchange.round(requests.drain(..), || Wait::AtMost(WAIT.as_nanos() as u64))?;
        let mut result = match exchange.unsent().next() {
            Some((_, sent)) => count(sent).and(Err(no_room())),
            None => Ok(()),
        };
        exchange.arrivals(|it| {
            let number = it.number as usize;
            match count(it.result) {
                Ok(0) if it.result == 0 => result = Err(broken()),
                Err(error) => result = Err(error),
                Ok(bytes) => {
                    let replies = tally.received(number, bytes);
                    if replies > 0 && completed[number] == 0 {
                        due.push(number);
                    }
                    completed[number] += replies;
                }
            }
            if !it.more {
                requests.push(receive(number));
            }
        });
        result?;
        let replace = |number| send(number, tally.requests(std::mem::take(&mut completed[number])));
        requests.extend(due.drain(..).map(replace));
    }
    Ok(())
}

/// The bytes of a completion: none when buffers or room had run out, or a signal came, after which the kernel is asked
/// again.
fn count(result: i32) -> io::Result<usize> {
    usize::try_from(result).or_else(|_| match Errno::from_raw_os_error(-result) {
        Errno::NOBUFS | Errno::INTR | Errno::AGAIN => Ok(0),
        error => Err(error.into()),
    })
}
