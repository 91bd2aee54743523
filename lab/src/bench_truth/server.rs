//! An HTTP/1.1 server that answers after known delays. One thread, one epoll instance, one ordered list of timers;
//! replies of a connection come in the order in which they are due. It never sleeps, so that it sees a request at once.
//!
//! The connection of a client that does not read its replies is closed.

use memchr::memmem;
use rustix::{buffer::spare_capacity, event::Timespec, event::epoll, io::retry_on_intr};
use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    io::{self, ErrorKind, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use super::mode::Mode;

const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
/// The listening socket's event data; no connection gets that far.
const LISTENER: u64 = u64::MAX;
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

struct Server {
    listener: TcpListener,
    epoll: OwnedFd,
    mode: Mode,
    began: Instant,
    /// Connections by number, which is never used twice, each with the received part of an incomplete head.
    connections: Vec<Option<(TcpStream, Vec<u8>)>>,
    requests: u64,
    /// Due time, number of the request, connection, which may be gone. The number keeps requests that are due at the
    /// same time in the order of their arrival.
    timers: BinaryHeap<Reverse<(Duration, u64, usize)>>,
}

/// Prints where it listens, and serves until the process ends. `mode` is JSON.
pub(crate) fn run(mode: &str) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    println!("listening {}", listener.local_addr()?);
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
    let mut server = Server {
        listener,
        epoll,
        mode: serde_json::from_str(mode)?,
        began: Instant::now(),
        connections: Vec::new(),
        requests: 0,
        timers: BinaryHeap::new(),
    };
    let mut events = Vec::with_capacity(256);
    loop {
        events.clear();
        retry_on_intr(|| epoll::wait(&server.epoll, spare_capacity(&mut events), Some(&AT_ONCE)))?;
        for event in &events {
            match event.data.u64() {
                LISTENER => server.accept()?,
                number => server.receive(number as usize),
            }
        }
        server.answer();
    }
}

impl Server {
    fn accept(&mut self) -> io::Result<()> {
        while let Ok((stream, _)) = self.listener.accept() {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let data = epoll::EventData::new_u64(self.connections.len() as u64);
            epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN)?;
            self.connections.push(Some((stream, Vec::new())));
        }
        Ok(())
    }

    /// Reads once, and notes when the requests are due whose heads that completed.
    fn receive(&mut self, number: usize) {
        let Some((stream, head)) = &mut self.connections[number] else { return };
        let mut buffer = [0; 16 * 1024];
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => head.extend_from_slice(&buffer[..count]),
            Err(it) if matches!(it.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return;
            }
            // Closing the socket also removes it from the epoll instance.
            Ok(_) | Err(_) => return self.connections[number] = None,
        }
        // Read afterwards, because a delay must not begin before its request is there.
        let now = self.began.elapsed();
        let mut end = 0;
        for start in memmem::find_iter(head, b"\r\n\r\n") {
            end = start + 4;
            self.requests += 1;
            let due = self.mode.due(self.requests, now);
            self.timers.push(Reverse((due, self.requests, number)));
        }
        head.drain(..end);
    }

    fn answer(&mut self) {
        while let Some(Reverse((due, _, number))) = self.timers.peek().copied() {
            if due > self.began.elapsed() {
                return;
            }
            self.timers.pop();
            let Some((stream, _)) = &mut self.connections[number] else { continue };
            if stream.write(REPLY).ok() != Some(REPLY.len()) {
                self.connections[number] = None;
            }
        }
    }
}
