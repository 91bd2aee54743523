//! The loop over readiness: edge-triggered epoll, read until the socket is empty, one write.
//!
//! Every socket is registered once, for input and output, and never again: an edge-triggered socket reports room only
//! after a write has failed for want of it, so asking for both costs nothing.

use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, EventFlags},
    },
    io::Errno,
    net::{RecvFlags, SendFlags},
};
use std::{io, os::fd::OwnedFd, time::Instant};

use super::{
    broken,
    tally::{Requests, Tally},
};

/// Maximum size of a read. A reply of 64 KiB fits with its head, so it takes one read once it has arrived completely.
const BUFFER_BYTES: usize = 128 * 1024;

const EVENTS_PER_WAIT: usize = 512;

/// How long one wait lasts at most, so that the end is seen although nothing arrives.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

pub(crate) fn run(
    sockets: &[OwnedFd],
    requests: Requests,
    tally: &mut Tally,
    deadline: Instant,
) -> io::Result<()> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
    // Bytes that are owed, by connection.
    let mut owed = vec![requests.first_bytes(); sockets.len()];
    for ((number, socket), owed) in (0_u64..).zip(sockets).zip(&mut owed) {
        epoll::add(&epoll, socket, epoll::EventData::new_u64(number), interest)?;
        send(socket, requests, owed)?;
    }
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut events = Vec::with_capacity(EVENTS_PER_WAIT);
    while Instant::now() < deadline {
        events.clear();
        match epoll::wait(&epoll, spare_capacity(&mut events), Some(&WAIT)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            // A read that stops at the last reply does not see the end that follows it.
            let flags = event.flags;
            if flags.contains(EventFlags::RDHUP) {
                return Err(broken());
            }
            let connection = event.data.u64() as usize;
            let received = receive(&sockets[connection], &mut buffer)?;
            owed[connection] += requests.bytes(tally.received(connection, received));
            send(&sockets[connection], requests, &mut owed[connection])?;
        }
    }
    Ok(())
}

/// Reads until the socket is empty. A read that does not fill the buffer is the last one.
fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    let mut received = 0;
    loop {
        match rustix::net::recv(socket, &mut *buffer, RecvFlags::empty()) {
            Ok((_, 0)) => return Err(broken()),
            Ok((_, count)) => {
                received += count;
                if count < buffer.len() {
                    return Ok(received);
                }
            }
            Err(Errno::AGAIN) => return Ok(received),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Sends owed bytes until there is no more room; the next edge triggers the rest.
fn send(socket: &OwnedFd, requests: Requests, owed: &mut usize) -> io::Result<()> {
    while *owed > 0 {
        match rustix::net::send(socket, requests.next(*owed), SendFlags::NOSIGNAL) {
            Ok(count) => *owed -= count,
            Err(Errno::AGAIN) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
