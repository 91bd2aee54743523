//! The loop over completion: one ring, multishot receives into a small ring of buffers, silent
//! sends from constant memory, one system call a round.
//!
//! A *silent* send does not wait for room, so it is over when the system call that submits it
//! returns, and it posts a completion only if it could not send everything. What it leaves over is
//! sent with a completion. A connection has at most one send a round, so that bytes stay in order.

mod buffer_ring;

pub(crate) use buffer_ring::Shape;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use ::io_uring::{
    CompletionQueue, IoUring, SubmissionQueue, Submitter, cqueue, opcode, squeue, types,
};
use rustix::io::Errno;

use self::buffer_ring::{BufferRing, GROUP};
use crate::broken;
use crate::tally::{Requests, Tally};

/// One round of 512 connections fits with a re-armed receive for each.
const SUBMISSION_ENTRIES: u32 = 1024;
const COMPLETION_ENTRIES: u32 = 4096;

/// With `MSG_DONTWAIT` the kernel never puts the send aside, and with `MSG_WAITALL` it counts a
/// part as a failure and says how long the part was.
const SILENT_FLAGS: i32 = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_WAITALL;

/// The operation of a completion; stored above the connection's index in its number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u64)]
enum Operation {
    Receive = 0,
    Send = 1 << 32,
    SilentSend = 2 << 32,
    End = 3 << 32,
}

impl Operation {
    fn of(completion: &cqueue::Entry) -> Self {
        match completion.user_data() >> 32 {
            0 => Self::Receive,
            1 => Self::Send,
            2 => Self::SilentSend,
            _ => Self::End,
        }
    }

    fn tagged(self, connection: usize) -> u64 {
        self as u64 | connection as u64
    }
}

/// The operations of one connection that are in flight or waiting.
#[derive(Clone, Copy, Debug)]
struct Connection {
    fd: types::Fd,
    input: Input,
    output: Output,
    settling: Settling,
    /// Bytes of requests that are not sent, or that are being sent with a completion.
    owed: usize,
    /// Bytes of the last silent send.
    silent: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Input {
    Stopped,
    Armed,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Output {
    Idle,
    /// A silent send fell short, so the next one waits for room.
    Stuck,
    InFlight,
}

/// Whether the connection is on the list of those for which something is to be submitted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Settling {
    No,
    Marked,
}

struct Loop<'ring> {
    submitter: Submitter<'ring>,
    submission: SubmissionQueue<'ring>,
    completion: CompletionQueue<'ring>,
    buffers: BufferRing,
    requests: Requests,
    connections: Vec<Connection>,
    to_settle: Vec<usize>,
}

/// Loads the sockets for the duration.
pub(crate) fn run(
    sockets: &[OwnedFd],
    requests: Requests,
    tally: &mut Tally,
    duration: Duration,
    shape: Shape,
) -> io::Result<()> {
    let mut ring = build_ring()?;
    let (mut submitter, submission, completion) = ring.split();
    // The kernel then need not look the ring's descriptor up on every call.
    submitter.register_ring_fd()?;
    let buffers = BufferRing::register(&submitter, shape)?;
    let connection = |socket: &OwnedFd| Connection {
        fd: types::Fd(socket.as_raw_fd()),
        input: Input::Stopped,
        output: Output::Idle,
        settling: Settling::Marked,
        owed: requests.first_bytes(),
        silent: 0,
    };
    let connections: Vec<_> = sockets.iter().map(connection).collect();
    let to_settle = (0..connections.len()).collect();
    let mut this =
        Loop { submitter, submission, completion, buffers, requests, connections, to_settle };
    this.arm_end(duration)?;
    let result = this.run(tally);
    // A registered descriptor keeps the ring, and with it every socket that it receives from, until
    // the thread ends.
    this.submitter.unregister_ring_fd()?;
    result
}

/// Sets up a ring that only this thread uses; an older kernel keeps the index array.
fn build_ring() -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_submit_all()
        .setup_cqsize(COMPLETION_ENTRIES);
    let without_index_array = builder.clone().setup_no_sqarray().build(SUBMISSION_ENTRIES);
    match without_index_array {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            builder.build(SUBMISSION_ENTRIES)
        }
        result => result,
    }
}

impl Loop<'_> {
    fn run(&mut self, tally: &mut Tally) -> io::Result<()> {
        let mut completions = Vec::with_capacity(COMPLETION_ENTRIES as usize);
        loop {
            self.buffers.publish();
            self.settle_all()?;
            self.enter(1)?;
            self.completion.sync();
            for completion in &mut self.completion {
                // First what became of the sends that were to say nothing: it is older than all
                // that was received.
                if Operation::of(&completion) == Operation::SilentSend {
                    fell_short(&mut self.connections, &mut self.to_settle, &completion)?;
                } else {
                    completions.push(completion);
                }
            }
            self.completion.sync();
            for completion in completions.drain(..) {
                match Operation::of(&completion) {
                    Operation::Receive => self.received(&completion, tally)?,
                    Operation::Send => self.sent(&completion)?,
                    Operation::End => return Ok(()),
                    Operation::SilentSend => unreachable!("they were taken out before"),
                }
            }
        }
    }

    /// A completion comes when the load is to end.
    fn arm_end(&mut self, duration: Duration) -> io::Result<()> {
        // The kernel reads it when the request is submitted; leaking these few bytes saves proving
        // when that is.
        let timespec: &'static types::Timespec = Box::leak(Box::new(duration.into()));
        let entry = opcode::Timeout::new(timespec).build().user_data(Operation::End.tagged(0));
        // SAFETY: The time is never freed.
        unsafe { self.push(&entry) }
    }

    fn received(&mut self, completion: &cqueue::Entry, tally: &mut Tally) -> io::Result<()> {
        let connection = index(completion);
        if let Some(buffer) = cqueue::buffer_select(completion.flags()) {
            // SAFETY: The completion brought this buffer, and is looked at once.
            unsafe { self.buffers.give_back(buffer) };
        }
        let bytes = match usize::try_from(completion.result()) {
            Ok(0) => return Err(broken("a connection was closed")),
            Ok(bytes) => bytes,
            // The buffers had run out, which ends the receive: it is armed again.
            Err(_) => match Errno::from_raw_os_error(-completion.result()) {
                Errno::NOBUFS | Errno::INTR | Errno::AGAIN => 0,
                error => return Err(error.into()),
            },
        };
        let completed = tally.received(connection, bytes);
        let state = &mut self.connections[connection];
        state.owed += self.requests.bytes(completed);
        if !cqueue::more(completion.flags()) {
            state.input = Input::Stopped;
        }
        if completed > 0 || state.input == Input::Stopped {
            mark(state, connection, &mut self.to_settle);
        }
        Ok(())
    }

    /// A send with a completion is over.
    fn sent(&mut self, completion: &cqueue::Entry) -> io::Result<()> {
        let state = &mut self.connections[index(completion)];
        state.output = Output::Idle;
        match usize::try_from(completion.result()) {
            Ok(bytes) => state.owed -= bytes,
            Err(_) => match Errno::from_raw_os_error(-completion.result()) {
                Errno::INTR | Errno::AGAIN => {}
                error => return Err(error.into()),
            },
        }
        mark(state, index(completion), &mut self.to_settle);
        Ok(())
    }

    /// Submits the next operation of each connection with news.
    fn settle_all(&mut self) -> io::Result<()> {
        let mut to_settle = std::mem::take(&mut self.to_settle);
        for connection in to_settle.drain(..) {
            self.connections[connection].settling = Settling::No;
            self.settle(connection)?;
        }
        self.to_settle = to_settle;
        Ok(())
    }

    fn settle(&mut self, connection: usize) -> io::Result<()> {
        let state = &mut self.connections[connection];
        let fd = state.fd;
        let output = self.requests.next(state.owed);
        let length = u32::try_from(output.len()).expect("a batch is shorter than 4 GiB");
        let must_arm = std::mem::replace(&mut state.input, Input::Armed) == Input::Stopped;
        let send = opcode::Send::new(fd, output.as_ptr(), length);
        let send = match state.output {
            _ if output.is_empty() => None,
            Output::InFlight => None,
            Output::Idle if output.len() == state.owed => {
                state.silent = state.owed;
                state.owed = 0;
                let entry = send.flags(SILENT_FLAGS).build().flags(squeue::Flags::SKIP_SUCCESS);
                Some(entry.user_data(Operation::SilentSend.tagged(connection)))
            }
            Output::Idle | Output::Stuck => {
                state.output = Output::InFlight;
                let entry = send.flags(libc::MSG_NOSIGNAL).build();
                Some(entry.user_data(Operation::Send.tagged(connection)))
            }
        };
        if must_arm {
            let receive = opcode::RecvMulti::new(fd, GROUP)
                .build()
                .user_data(Operation::Receive.tagged(connection));
            // SAFETY: The entry points to no memory; the buffers of its group are never freed.
            unsafe { self.push(&receive) }?;
        }
        match send {
            // SAFETY: The requests are never freed and never change.
            Some(send) => unsafe { self.push(&send) },
            None => Ok(()),
        }
    }

    /// Queues a request. When the queue is full, everything in it is submitted first.
    ///
    /// # Safety
    ///
    /// Memory that the entry points to stays valid and unchanged until the request has completed.
    unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        loop {
            // SAFETY: The caller vouches for the memory.
            if unsafe { self.submission.push(entry) }.is_ok() {
                return Ok(());
            }
            self.enter(0)?;
        }
    }

    /// The system call: submits all that is queued and waits for this many completions.
    fn enter(&mut self, wanted: usize) -> io::Result<()> {
        self.submission.sync();
        let result = self.submitter.submit_and_wait(wanted);
        self.submission.sync();
        match result {
            Ok(_) => Ok(()),
            // A signal, or a shortage that taking completions relieves. What was not submitted is
            // still in the queue.
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(()),
                _ => Err(error),
            },
        }
    }
}

/// A silent send sent only a part, or nothing for want of room.
fn fell_short(
    connections: &mut [Connection],
    to_settle: &mut Vec<usize>,
    completion: &cqueue::Entry,
) -> io::Result<()> {
    let state = &mut connections[index(completion)];
    let sent = match usize::try_from(completion.result()) {
        Ok(sent) => sent,
        Err(_) => match Errno::from_raw_os_error(-completion.result()) {
            Errno::AGAIN | Errno::INTR => 0,
            error => return Err(error.into()),
        },
    };
    state.owed += state.silent - sent;
    state.output = Output::Stuck;
    mark(state, index(completion), to_settle);
    Ok(())
}

fn mark(state: &mut Connection, connection: usize, to_settle: &mut Vec<usize>) {
    if std::mem::replace(&mut state.settling, Settling::Marked) == Settling::No {
        to_settle.push(connection);
    }
}

/// The connection that a completion is about.
fn index(completion: &cqueue::Entry) -> usize {
    (completion.user_data() & u64::from(u32::MAX)) as usize
}
