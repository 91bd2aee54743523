//! The ring of one worker: what is asked of the kernel, and what its completions mean.

use io_uring::{cqueue, opcode, squeue, types};
use rustix::{
    fd::{FromRawFd, OwnedFd, RawFd},
    io::Errno,
};
use std::{
    cell::{Cell, RefCell},
    fmt, io,
    time::Duration,
};
use wirebench_uring::{BufferRing, GROUP, SILENT, SILENT_SEND_FLAGS, Shape, Wait};

use super::flow::{Next, close_if_over};
use crate::{fiber::Ready, poller::Source};

/// Requests that fit before they have to be submitted.
const SUBMISSIONS: u32 = 256;
/// Completions that fit; the kernel keeps more, at a price.
const COMPLETIONS: u32 = 4096;
/// Buffers for what is received. Their beginnings are not at a distance of whole pages, where they would compete for
/// the same places of the cache.
const BUFFERS: Shape = Shape { buffers: 256, buffer_bytes: 4096 + 64 };

/// What a completion is of: the low bits of the number of a source, whose place is a multiple of eight.
const WAKE_UP: u64 = 0;
const RECEIVE: u64 = 1;
const ACCEPT: u64 = 2;
const SEND: u64 = 3;
const ROOM: u64 = 4;
const STOP: u64 = 5;
const KINDS: u64 = 7;

/// The ring of a worker, which stays on its thread.
pub struct Ring {
    pub(super) worker: usize,
    parts: RefCell<Parts>,
    /// Sources with a silent send in the queue.
    queued: RefCell<Vec<&'static Source>>,
    /// Whether something waits for the end of a silent send, so that the next turn must not wait.
    must_return: Cell<bool>,
    wake_up: RawFd,
    /// Where the kernel writes the number of wake-ups.
    wake_up_count: Box<Cell<u64>>,
}

struct Parts {
    ring: wirebench_uring::Ring,
    buffers: BufferRing,
    completions: Vec<cqueue::Entry>,
    unsent: Vec<cqueue::Entry>,
}

impl Ring {
    /// Wake-ups come from the event `wake_up`.
    pub(super) fn new(worker: usize, wake_up: RawFd) -> io::Result<Self> {
        let mut ring = wirebench_uring::Ring::new(SUBMISSIONS, COMPLETIONS)?;
        let buffers = ring.provide(BUFFERS)?;
        let parts = Parts { ring, buffers, completions: Vec::new(), unsent: Vec::new() };
        let ring = Self {
            worker,
            parts: RefCell::new(parts),
            queued: RefCell::default(),
            must_return: Cell::new(false),
            wake_up,
            wake_up_count: Box::default(),
        };
        ring.expect_wake_up();
        Ok(ring)
    }

    /// The next turn does not wait.
    pub(super) fn must_return(&self) {
        self.must_return.set(true);
    }

    /// Submits, waits if nothing is due, and handles what has come. The answer is whether there was a wake-up.
    pub(super) fn turn(&self, timeout: Option<Duration>, ready: &mut dyn FnMut(Ready)) -> bool {
        let wait = match timeout {
            _ if self.must_return.take() => Wait::Not,
            None => Wait::Forever,
            Some(Duration::ZERO) => Wait::Not,
            Some(timeout) => Wait::AtMost(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX)),
        };
        let (mut completions, mut unsent) = {
            let parts = &mut *self.parts.borrow_mut();
            parts.buffers.publish();
            parts.ring.enter(wait).expect("io_uring_enter failed");
            parts.ring.take_completions(&mut parts.completions, &mut parts.unsent);
            (std::mem::take(&mut parts.completions), std::mem::take(&mut parts.unsent))
        };
        for completion in unsent.drain(..) {
            self.fell_short(&completion);
        }
        self.end_queued(ready);
        let mut is_woken = false;
        for completion in completions.drain(..) {
            is_woken |= self.complete(&completion, ready);
        }
        let parts = &mut *self.parts.borrow_mut();
        (parts.completions, parts.unsent) = (completions, unsent);
        is_woken
    }

    fn fell_short(&self, completion: &cqueue::Entry) {
        // SAFETY: the number of a silent send is that of a source.
        let source = unsafe { Source::of(completion.user_data() & !SILENT & !KINDS) };
        let mut flow = source.flow.lock();
        if flow.fell_short(result_of(completion)) {
            self.send(flow.descriptor(), source, flow.output());
        }
    }

    /// All silent sends of the last turn are over, but for those that fell short and go on.
    fn end_queued(&self, ready: &mut dyn FnMut(Ready)) {
        let mut queued = self.queued.take();
        for source in queued.drain(..) {
            if source.flow.lock().is_queued() {
                output_is_free(source, ready);
            }
        }
        self.queued.replace(queued);
    }

    /// Handles one completion. The answer is whether it is a wake-up.
    fn complete(&self, completion: &cqueue::Entry, ready: &mut dyn FnMut(Ready)) -> bool {
        let number = completion.user_data();
        let kind = number & KINDS;
        if kind == WAKE_UP {
            self.expect_wake_up();
            return true;
        }
        if kind == STOP {
            return false;
        }
        // SAFETY: the number of all other requests is that of a source.
        let source = unsafe { Source::of(number & !KINDS) };
        match kind {
            RECEIVE | ACCEPT => self.input(source, kind, completion, ready),
            SEND => self.sent(source, completion, ready),
            _ => output_is_free(source, ready),
        }
        false
    }

    fn input(
        &self,
        source: &'static Source,
        kind: u64,
        completion: &cqueue::Entry,
        ready: &mut dyn FnMut(Ready),
    ) {
        let mut result = result_of(completion);
        let mut flow = source.flow.lock();
        if kind == RECEIVE {
            let buffers = &mut self.parts.borrow_mut().buffers;
            // SAFETY: the completion is new, and of a receive with the buffers of this ring.
            if let Some(lent) = unsafe { buffers.take(completion) } {
                flow.received(buffers.contents(&lent));
                buffers.give_back(lent);
            }
        } else if let Ok(socket) = &mut result {
            // SAFETY: the kernel hands each descriptor over once.
            flow.accepted(unsafe { OwnedFd::from_raw_fd(socket.cast_signed()) });
            // A descriptor is no number of bytes, of which none would be the end.
            *socket = 1;
        }
        let next = flow.input_result(result, cqueue::more(completion.flags()));
        let socket = flow.descriptor();
        drop(flow);
        match next {
            Next::Nothing => {}
            Next::Stop => self.stop(source),
            Next::Again if kind == RECEIVE => self.receive(socket, source),
            Next::Again => self.accept(socket, source),
        }
        if !close_if_over(source) {
            source.read.signal().into_iter().for_each(ready);
        }
    }

    fn sent(
        &self,
        source: &'static Source,
        completion: &cqueue::Entry,
        ready: &mut dyn FnMut(Ready),
    ) {
        let mut flow = source.flow.lock();
        if flow.sent_part(result_of(completion)) {
            return self.send(flow.descriptor(), source, flow.output());
        }
        drop(flow);
        output_is_free(source, ready);
    }

    fn expect_wake_up(&self) {
        let place = self.wake_up_count.as_ptr().cast();
        let entry = opcode::Read::new(types::Fd(self.wake_up), place, 8).build();
        self.push(&entry.user_data(WAKE_UP));
    }

    /// Lets connections of a listener come.
    pub(super) fn accept(&self, socket: RawFd, source: &'static Source) {
        let entry = opcode::AcceptMulti::new(types::Fd(socket)).flags(libc::SOCK_CLOEXEC).build();
        self.push(&entry.user_data(source.number() | ACCEPT));
    }

    /// Lets bytes come.
    pub(super) fn receive(&self, socket: RawFd, source: &'static Source) {
        let entry = opcode::RecvMulti::new(types::Fd(socket), GROUP).build();
        self.push(&entry.user_data(source.number() | RECEIVE));
    }

    /// Lets no more bytes come.
    fn stop(&self, source: &'static Source) {
        let entry = opcode::AsyncCancel::new(source.number() | RECEIVE).build();
        self.push(&entry.user_data(STOP));
    }

    /// Reports when the socket has room for output, or has failed.
    pub(super) fn await_room(&self, socket: RawFd, source: &'static Source) {
        let events = u32::from(libc::POLLOUT.cast_unsigned());
        let entry = opcode::PollAdd::new(types::Fd(socket), events).build();
        self.push(&entry.user_data(source.number() | ROOM));
    }

    /// Sends what the socket has room for when the queue is submitted.
    pub(super) fn send_silently(&self, socket: RawFd, source: &'static Source, output: &[u8]) {
        let entry = send(socket, output).flags(SILENT_SEND_FLAGS).build();
        let entry = entry.flags(squeue::Flags::SKIP_SUCCESS);
        self.push(&entry.user_data(source.number() | SILENT));
        self.queued.borrow_mut().push(source);
    }

    /// Sends all, however long it takes.
    fn send(&self, socket: RawFd, source: &'static Source, output: &[u8]) {
        let entry = send(socket, output).flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL).build();
        self.push(&entry.user_data(source.number() | SEND));
    }

    fn push(&self, entry: &squeue::Entry) {
        // SAFETY: what an entry points to is in a source or in this, whose memory stays where it is: the output of
        // a source is changed only when its send is over, and the count lives longer than the ring.
        let pushed = unsafe { self.parts.borrow_mut().ring.push(entry) };
        pushed.expect("io_uring_enter failed");
    }
}

/// Nothing of a source is being sent any more.
fn output_is_free(source: &'static Source, ready: &mut dyn FnMut(Ready)) {
    let is_awaited = source.flow.lock().output_is_free();
    if !close_if_over(source) && is_awaited {
        source.write.signal().into_iter().for_each(ready);
    }
}

fn send(socket: RawFd, output: &[u8]) -> opcode::Send {
    let length = u32::try_from(output.len()).expect("output is bounded");
    opcode::Send::new(types::Fd(socket), output.as_ptr(), length)
}

fn result_of(completion: &cqueue::Entry) -> Result<u32, Errno> {
    let result = completion.result();
    u32::try_from(result).map_err(|_| Errno::from_raw_os_error(-result))
}

impl fmt::Debug for Ring {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Ring").field("worker", &self.worker).finish_non_exhaustive()
    }
}
