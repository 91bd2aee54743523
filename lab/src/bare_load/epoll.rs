//! The loop over readiness: edge-triggered epoll, read until the socket is empty, one write.

use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, EventFlags},
    },
    io::{Errno, retry_on_intr},
    net::{RecvFlags, SendFlags},
};
use std::{io, os::fd::OwnedFd, time::Instant};

use super::{Tally, WAIT, broken, no_room};

/// Maximum size of a read. A reply of 64 KiB fits with its head, so it takes one read once it has arrived completely.
const BUFFER_BYTES: usize = 128 * 1024;

const EVENTS_PER_WAIT: usize = 512;

pub(crate) fn run(sockets: &[OwnedFd], tally: &mut Tally, deadline: Instant) -> io::Result<()> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let interest = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
    for (number, socket) in (0_u64..).zip(sockets) {
        epoll::add(&epoll, socket, epoll::EventData::new_u64(number), interest)?;
        send(socket, tally.requests)?;
    }
    let wait = Timespec::try_from(WAIT).map_err(io::Error::other)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut events = Vec::with_capacity(EVENTS_PER_WAIT);
    while Instant::now() < deadline {
        events.clear();
        retry_on_intr(|| epoll::wait(&epoll, spare_capacity(&mut events), Some(&wait)))?;
        for event in &events {
            // A read that stops at the last reply does not see the end that follows it.
            let flags = event.flags;
            if flags.contains(EventFlags::RDHUP) {
                return Err(broken());
            }
            let connection = event.data.u64() as usize;
            let received = receive(&sockets[connection], &mut buffer)?;
            let completed = tally.received(connection, received);
            if completed > 0 {
                send(&sockets[connection], tally.requests(completed))?;
            }
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

fn send(socket: &OwnedFd, requests: &[u8]) -> io::Result<()> {
    match retry_on_intr(|| rustix::net::send(socket, requests, SendFlags::NOSIGNAL)) {
        Ok(sent) if sent == requests.len() => Ok(()),
        Ok(_) | Err(Errno::AGAIN) => Err(no_room()),
        Err(error) => Err(error.into()),
    }
}
