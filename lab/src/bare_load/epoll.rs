//! The loop over readiness: edge-triggered epoll, one read, one write.

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

pub(crate) fn run(sockets: &[OwnedFd], tally: &mut Tally, deadline: Instant) -> io::Result<()> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let interest = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
    for (number, socket) in (0_u64..).zip(sockets) {
        epoll::add(&epoll, socket, epoll::EventData::new_u64(number), interest)?;
        send(socket, tally.requests)?;
    }
    let wait = Timespec::try_from(WAIT).map_err(io::Error::other)?;
    // One read empties a socket, because all that a connection has in flight fits.
    let mut buffer = vec![0; tally.in_flight_bytes()];
    let mut events = Vec::with_capacity(512);
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

fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    match retry_on_intr(|| rustix::net::recv(socket, &mut *buffer, RecvFlags::empty())) {
        Ok((_, 0)) => Err(broken()),
        Ok((_, count)) => Ok(count),
        Err(Errno::AGAIN) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

fn send(socket: &OwnedFd, requests: &[u8]) -> io::Result<()> {
    match retry_on_intr(|| rustix::net::send(socket, requests, SendFlags::NOSIGNAL)) {
        Ok(sent) if sent == requests.len() => Ok(()),
        Ok(_) | Err(Errno::AGAIN) => Err(no_room()),
        Err(error) => Err(error.into()),
    }
}
