//! What goes in and out of one socket: bytes that the kernel has brought, and bytes that it is to send.

use rustix::{
    fd::{OwnedFd, RawFd},
    io::Errno,
    net::{Shutdown, shutdown},
};
use std::{collections::VecDeque, io};

use crate::poller::Source;

/// Bytes that may have come without being read before the kernel is asked to stop.
const INPUT_MOST: usize = 64 << 10;
/// Bytes that are taken over at once.
const OUTPUT_MOST: usize = 32 << 10;
/// Room that is kept for the next user of a source.
const KEPT_BYTES: usize = 1 << 10;

/// What goes in and out of one socket.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// The socket, while something is in flight.
    descriptor: RawFd,
    input: Vec<u8>,
    /// Bytes of the input that were read.
    taken: usize,
    accepted: VecDeque<OwnedFd>,
    receiving: Receiving,
    /// How the input has ended.
    ended: Option<Ended>,
    output: Vec<u8>,
    /// Bytes of the output that were sent.
    sent: usize,
    sending: Sending,
    /// Whether a fiber waits until the output is free.
    is_awaited: bool,
    failed: Option<Errno>,
    /// The socket, once it is to be closed.
    closing: Option<OwnedFd>,
}

#[derive(Clone, Copy, Debug)]
enum Ended {
    /// There will be no more.
    Stream,
    /// It has failed. For a listener the next attempt may work.
    With(Errno),
}

/// Whether the kernel receives or accepts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Receiving {
    #[default]
    No,
    Yes,
    /// It was asked to stop.
    Stopping,
}

/// Where the output is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Sending {
    #[default]
    Nothing,
    /// In the queue of a worker's ring, which sends it in its next turn.
    Queued { worker: usize },
    /// In the kernel, which will report its end.
    Submitted,
}

/// What is to be done after a completion of input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Next {
    Nothing,
    /// More has come than may wait: the kernel is to stop.
    Stop,
    /// Input goes on: the kernel had no buffer left.
    Again,
}

impl Flow {
    pub(super) const fn descriptor(&self) -> RawFd {
        self.descriptor
    }

    /// The next connection of a listener, or why there is none.
    pub(super) fn take_accepted(&mut self) -> Option<io::Result<OwnedFd>> {
        let accepted = self.accepted.pop_front().map(Ok);
        accepted.or_else(|| match self.ended.take()? {
            Ended::Stream => None,
            Ended::With(error) => Some(Err(error.into())),
        })
    }

    /// Bytes that have come, or the end.
    pub(super) fn take(&mut self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        let rest = &self.input[self.taken..];
        if rest.is_empty() {
            return Some(match self.ended? {
                Ended::Stream => Ok(0),
                Ended::With(error) => Err(error.into()),
            });
        }
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.taken += length;
        if self.taken == self.input.len() {
            self.input.clear();
            self.taken = 0;
        }
        Some(Ok(length))
    }

    /// Whether the kernel is to begin to receive or accept now.
    pub(super) fn begin_input(&mut self, descriptor: RawFd) -> bool {
        let begins = self.receiving == Receiving::No;
        if begins {
            (self.descriptor, self.receiving) = (descriptor, Receiving::Yes);
        }
        begins
    }

    /// Bytes have come.
    pub(super) fn received(&mut self, bytes: &[u8]) {
        if self.closing.is_none() {
            self.input.extend_from_slice(bytes);
        }
    }

    /// A connection has come.
    pub(super) fn accepted(&mut self, socket: OwnedFd) {
        if self.closing.is_none() {
            self.accepted.push_back(socket);
        }
    }

    /// The result of a receive or an accept, and whether others follow.
    pub(super) fn input_result(&mut self, result: Result<u32, Errno>, has_more: bool) -> Next {
        if has_more {
            if self.receiving == Receiving::Yes && self.input.len() - self.taken > INPUT_MOST {
                self.receiving = Receiving::Stopping;
                return Next::Stop;
            }
            return Next::Nothing;
        }
        let was = std::mem::take(&mut self.receiving);
        match result {
            Ok(0) => self.ended = Some(Ended::Stream),
            // The kernel ends a long series by itself, or has no buffer left.
            Ok(_) | Err(Errno::NOBUFS | Errno::INTR | Errno::AGAIN)
                if was == Receiving::Yes && self.closing.is_none() =>
            {
                self.receiving = Receiving::Yes;
                return Next::Again;
            }
            // The fiber begins again when it has read what there is.
            Ok(_) | Err(Errno::CANCELED | Errno::NOBUFS | Errno::INTR | Errno::AGAIN) => {}
            Err(error) => self.ended = Some(Ended::With(error)),
        }
        Next::Nothing
    }

    /// Where earlier output still is. Unless that is nowhere, a fiber will wait for its end.
    pub(super) fn await_output(&mut self) -> io::Result<Sending> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        self.is_awaited = self.sending != Sending::Nothing;
        Ok(self.sending)
    }

    /// Takes bytes over, to be sent by this worker.
    pub(super) fn begin_output(&mut self, worker: usize, socket: RawFd, bytes: &[u8]) -> usize {
        let length = bytes.len().min(OUTPUT_MOST);
        self.output.clear();
        self.output.extend_from_slice(&bytes[..length]);
        (self.descriptor, self.sent) = (socket, 0);
        self.sending = Sending::Queued { worker };
        length
    }

    /// What is still to be sent. It stays where it is until that is over.
    pub(super) fn output(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// A ring will report that the socket has room, for which a fiber waits.
    pub(super) const fn begin_wait_for_room(&mut self) {
        self.sending = Sending::Submitted;
        self.is_awaited = true;
    }

    /// A silent send has fallen short. The answer is whether the rest is to be sent.
    pub(super) fn fell_short(&mut self, result: Result<u32, Errno>) -> bool {
        let had_no_room = matches!(result, Err(Errno::AGAIN));
        let goes_on = self.sent_part(if had_no_room { Ok(0) } else { result });
        if goes_on {
            self.sending = Sending::Submitted;
        }
        goes_on
    }

    /// A part was sent. The answer is whether the rest is to be sent.
    pub(super) fn sent_part(&mut self, result: Result<u32, Errno>) -> bool {
        match result {
            Ok(length) => self.sent += length as usize,
            Err(Errno::INTR) => {}
            Err(error) => self.failed = Some(error),
        }
        self.failed.is_none() && self.sent < self.output.len()
    }

    /// Whether a send is in a queue, and so over when that has been submitted.
    pub(super) const fn is_queued(&self) -> bool {
        matches!(self.sending, Sending::Queued { .. })
    }

    /// Nothing is being sent any more. The answer is whether a fiber waits for that.
    pub(super) const fn output_is_free(&mut self) -> bool {
        self.sending = Sending::Nothing;
        std::mem::replace(&mut self.is_awaited, false)
    }

    /// Nothing is in flight any more: the rings are gone.
    pub(super) const fn forget(&mut self) {
        self.receiving = Receiving::No;
        self.sending = Sending::Nothing;
    }

    fn is_in_flight(&self) -> bool {
        self.receiving != Receiving::No || self.sending != Sending::Nothing
    }
}

/// Closes a socket once nothing of it is in flight. What was written is still sent, unless a fiber has waited for that
/// in vain. The answer is where the output is.
pub(super) fn close(source: &'static Source, socket: OwnedFd) -> Sending {
    let mut flow = source.flow.lock();
    let sending = flow.sending;
    // A receive ends when there is nothing more to receive, and a send when it cannot be sent.
    let what = match flow.is_awaited && sending != Sending::Nothing {
        true => Some(Shutdown::Both),
        false => (flow.receiving != Receiving::No).then_some(Shutdown::Read),
    };
    if let Some(what) = what {
        // It fails when the other side has closed it, and then both are over.
        let _ = shutdown(&socket, what);
    }
    flow.closing = Some(socket);
    drop(flow);
    close_if_over(source);
    sending
}

/// Closes the socket of a source and gives the source back, if that is to be done and nothing is in flight. The answer
/// is whether it did.
pub(super) fn close_if_over(source: &'static Source) -> bool {
    let mut flow = source.flow.lock();
    if flow.closing.is_none() || flow.is_in_flight() {
        return false;
    }
    let mut over = std::mem::take(&mut *flow);
    // The next user of the source need not ask for memory, unless it was much.
    let kept = |bytes: &mut Vec<u8>| {
        bytes.clear();
        if bytes.capacity() > KEPT_BYTES { Vec::new() } else { std::mem::take(bytes) }
    };
    (flow.input, flow.output) = (kept(&mut over.input), kept(&mut over.output));
    drop(flow);
    drop(over);
    source.give_back();
    true
}
