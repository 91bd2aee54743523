//! The engine for completion: one ring per worker, multishot accepts and receives, sends submitted
//! in batches.
//!
//! A round of the loop is one system call: it submits the requests of the last round, waits, and
//! returns new completions. This file routes completions to connections; `peer` decides the next
//! step of a connection, `operation` names the purpose of requests. Deliberately absent: the memory
//! shared with the kernel, which the crate `uring` wraps; registered files and zero-copy sends,
//! which do not pay for replies of this size.

mod operation;
mod peer;

pub use wirebench_uring::probe as probe_io_uring;

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use ::io_uring::{cqueue, opcode, types};
use rustix::io::Errno;

use wirebench_uring::{Ring, Shape, Wait};

use self::operation::Operation;
use self::peer::{Io, NextStep, Peer};
use crate::listen::{ACCEPT_REST, AcceptFailure};
use crate::service::Service;
use crate::table::{Key, Table};

/// How many requests fit before they have to be submitted. Small, so that the queue stays in the
/// cache.
const SUBMISSION_ENTRIES: u32 = 256;

/// How many completions fit. More than that are kept by the kernel, at a price, and are not lost.
const COMPLETION_ENTRIES: u32 = 4096;

/// The rest of accepting, in the kernel's form. Static, because the kernel reads it when the
/// request is submitted.
static ACCEPT_REST_TIMESPEC: types::Timespec =
    types::Timespec::new().nsec(ACCEPT_REST.subsec_nanos());

struct Worker {
    io: Io,
    listener: TcpListener,
    service: Service,
    peers: Table<Peer>,
    /// Connections for which something has happened in this round, each once.
    to_settle: Vec<Key>,
}

/// Serves the connections of one listening socket in this thread; calls `ready` once it would
/// accept.
pub(crate) fn serve_worker(
    listener: TcpListener,
    service: Service,
    ready: impl FnOnce(),
) -> io::Result<Infallible> {
    let mut ring = Ring::new(SUBMISSION_ENTRIES, COMPLETION_ENTRIES)?;
    let buffers = ring.provide(buffer_shape(service))?;
    let io = Io { ring, buffers, lent: Vec::new() };
    let mut worker = Worker { io, listener, service, peers: Table::new(), to_settle: Vec::new() };
    worker.arm_accept()?;
    ready();
    let result = worker.run();
    // The kernel may still read from the connections' memory, and only the end of the process puts
    // an end to that.
    std::mem::forget(worker);
    result
}

/// Number and size of the buffers. A head of `hello` fits into a small one; `echo` sends directly
/// from its buffers.
fn buffer_shape(service: Service) -> Shape {
    match service {
        Service::Hello { .. } => Shape { buffers: 512, buffer_bytes: 2048 + 64 },
        Service::Echo => Shape { buffers: 256, buffer_bytes: 16 * 1024 + 64 },
    }
}

impl Worker {
    fn run(&mut self) -> io::Result<Infallible> {
        let mut completions = Vec::new();
        let mut unsent = Vec::new();
        loop {
            self.io.buffers.publish();
            self.io.ring.enter(Wait::Forever)?;
            self.io.ring.take_completions(&mut completions, &mut unsent);
            // First what became of the sends that were to say nothing, because it is older than all
            // new input.
            for completion in unsent.drain(..) {
                self.silent_send_fell_short(&completion);
            }
            for lent in self.io.lent.drain(..) {
                self.io.buffers.give_back(lent);
            }
            for completion in completions.drain(..) {
                self.complete(&completion)?;
            }
            self.settle_all()?;
        }
    }

    fn complete(&mut self, completion: &cqueue::Entry) -> io::Result<()> {
        let number = completion.user_data();
        match Operation::of(number) {
            Operation::Accept => self.accepted(completion),
            Operation::AcceptRest => self.arm_accept(),
            Operation::Receive => {
                self.received(Key::from_number(number), completion);
                Ok(())
            }
            Operation::Send => {
                let key = Key::from_number(number);
                if let Some(peer) = self.peers.get_mut(key) {
                    peer.sent(completion.result());
                    self.has_news(key);
                }
                Ok(())
            }
            // A cancellation that comes too late is no failure: what it was for has completed by
            // itself.
            Operation::Cancel => Ok(()),
            Operation::SilentSend => unreachable!("they are taken out before"),
        }
    }

    fn arm_accept(&mut self) -> io::Result<()> {
        let entry = opcode::AcceptMulti::new(types::Fd(self.listener.as_raw_fd()))
            .flags(libc::SOCK_CLOEXEC)
            .build()
            .user_data(Operation::Accept.tag());
        // SAFETY: The entry points to no memory.
        unsafe { self.io.ring.push(&entry) }
    }

    fn accepted(&mut self, completion: &cqueue::Entry) -> io::Result<()> {
        let failure = match completion.result() {
            fd if fd >= 0 => {
                // SAFETY: A multishot accept hands each descriptor over once, and to us alone.
                let socket = unsafe { OwnedFd::from_raw_fd(fd) };
                let key = self.peers.insert(Peer::new(socket, self.service));
                self.has_news(key);
                AcceptFailure::Passing
            }
            error => AcceptFailure::of(Errno::from_raw_os_error(-error)),
        };
        if cqueue::more(completion.flags()) {
            return Ok(());
        }
        match failure {
            AcceptFailure::Passing => self.arm_accept(),
            AcceptFailure::Exhausted => self.rest_from_accepting(),
        }
    }

    fn rest_from_accepting(&mut self) -> io::Result<()> {
        let entry = opcode::Timeout::new(&raw const ACCEPT_REST_TIMESPEC)
            .build()
            .user_data(Operation::AcceptRest.tag());
        // SAFETY: The time that the entry points to is static.
        unsafe { self.io.ring.push(&entry) }
    }

    fn received(&mut self, key: Key, completion: &cqueue::Entry) {
        // SAFETY: The completion is new, and it is of a receive from this ring's one group of
        // buffers.
        let lent = unsafe { self.io.buffers.take(completion) };
        match (self.peers.get_mut(key), lent) {
            (Some(peer), lent) => {
                let more = cqueue::more(completion.flags());
                peer.received(completion.result(), more, lent, &mut self.io.buffers);
                self.has_news(key);
            }
            (None, Some(lent)) => self.io.buffers.give_back(lent),
            (None, None) => {}
        }
    }

    fn silent_send_fell_short(&mut self, completion: &cqueue::Entry) {
        let key = Key::from_number(completion.user_data());
        if let Some(peer) = self.peers.get_mut(key) {
            peer.silent_send_fell_short(completion.result(), &self.io);
            self.has_news(key);
        }
    }

    fn has_news(&mut self, key: Key) {
        if let Some(peer) = self.peers.get_mut(key)
            && peer.mark_for_settling()
        {
            self.to_settle.push(key);
        }
    }

    /// Decides once for each connection with news, so that the requests of a round are answered
    /// with one send.
    fn settle_all(&mut self) -> io::Result<()> {
        for key in self.to_settle.drain(..) {
            let Some(peer) = self.peers.get_mut(key) else { continue };
            match peer.settle(key, &mut self.io)? {
                NextStep::GoesOn => {}
                // Dropping it closes its socket; nothing of it is in flight any more.
                NextStep::IsOver => drop(self.peers.remove(key)),
            }
        }
        Ok(())
    }
}
