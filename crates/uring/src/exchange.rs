//! One round over many sockets: requests go in, completions come out.
//!
//! Every request is borrowed until the system call that submits it has returned. A silent send is
//! over by then, a receive writes to the ring's own buffers, and the others touch no memory, so its
//! use needs no unsafe code. Deliberately absent: the state of connections, and the meaning of
//! completions.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::{cqueue, opcode, squeue, types};

use crate::{
    buffer_ring::{BufferRing, GROUP, Lent, Shape},
    ring::{Ring, SILENT, SILENT_SEND_FLAGS, Wait},
};

/// A request to the kernel. Its number returns with the completion, and is less than [`SILENT`].
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    Receive {
        /// From this socket.
        socket: BorrowedFd<'a>,
        number: u64,
    },
    /// Tell once that the socket has room for output, or has failed.
    AwaitOutput { socket: BorrowedFd<'a>, number: u64 },
    /// Send at once, as much as goes, and tell only if that is not everything. A socket has at most
    /// one of these in a round, or their order is lost when the first falls short. It has at most
    /// [`LONGEST_SEND_BYTES`].
    Send { socket: BorrowedFd<'a>, bytes: &'a [u8], number: u64 },
    /// End an earlier request, which then completes as cancelled unless it is over already. The
    /// completion of this request itself is not reported.
    Cancel {
        /// The number of the earlier one.
        number: u64,
    },
}

/// The longest send. A longer one the kernel would cut without telling.
pub const LONGEST_SEND_BYTES: usize = 1 << 30;

#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    pub number: u64,
    /// The kernel's result: a count, or an error as a negative number.
    pub result: i32,
    /// Whether further results of the same request follow.
    pub more: bool,
    /// The received bytes.
    pub bytes: &'a [u8],
}

/// The number of every request whose completion is not reported.
const UNREPORTED: u64 = SILENT - 1;

/// Whether the queued requests may be submitted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Queue {
    Sound,
    /// A round was aborted: queued requests may point to memory that is gone.
    Abandoned,
}

/// A ring with buffers, and what has come out of it.
#[derive(Debug)]
pub struct Exchange {
    ring: Ring,
    buffers: BufferRing,
    queue: Queue,
    completions: Vec<cqueue::Entry>,
    unsent: Vec<cqueue::Entry>,
}

impl Exchange {
    /// A ring with room for this many requests and completions at a time, with these buffers. More
    /// of either are slower.
    pub fn new(submissions: u32, completions: u32, shape: Shape) -> io::Result<Self> {
        let mut ring = Ring::new(submissions, completions)?;
        let buffers = ring.provide(shape)?;
        let (completions, unsent) = (Vec::new(), Vec::new());
        Ok(Self { ring, buffers, queue: Queue::Sound, completions, unsent })
    }

    /// How many buffers there are, and so how much can arrive in one round.
    #[must_use]
    pub fn buffers(&self) -> usize {
        self.buffers.buffers()
    }

    /// One round: gives back the buffers of the last one, submits the requests in their order, and
    /// waits for news unless there are some already. All requests are submitted when it returns,
    /// with as many system calls as it takes; usually that is one.
    ///
    /// # Errors
    ///
    /// After an error the exchange is of no use any more.
    pub fn round<'a>(
        &mut self,
        requests: impl Iterator<Item = Request<'a>>,
        wait: impl FnOnce() -> Wait,
    ) -> io::Result<()> {
        self.submit(requests, wait)?;
        self.ring.take_completions(&mut self.completions, &mut self.unsent);
        Ok(())
    }

    /// The same, but what has come stays for the next round.
    ///
    /// # Errors
    ///
    /// After an error the exchange is of no use any more.
    pub fn submit<'a>(
        &mut self,
        requests: impl Iterator<Item = Request<'a>>,
        wait: impl FnOnce() -> Wait,
    ) -> io::Result<()> {
        if self.queue == Queue::Abandoned {
            return Err(io::Error::other("an earlier round was left in the middle"));
        }
        // Also what panics in the caller's iterator leaves the round.
        self.queue = Queue::Abandoned;
        self.buffers.publish();
        for request in requests {
            // SAFETY: Buffers are held by the ring. What is sent is borrowed until this function
            // returns; by then every send was submitted and is over, or nothing that is queued will
            // ever be submitted.
            unsafe { self.ring.push(&entry(&request))? };
        }
        self.ring.enter(wait())?;
        self.queue = Queue::Sound;
        Ok(())
    }

    /// The incomplete sends of the last round, each once: the number, and the kernel's result.
    pub fn unsent(&mut self) -> impl Iterator<Item = (u64, i32)> + '_ {
        self.unsent
            .drain(..)
            .map(|completion| (completion.user_data() & !SILENT, completion.result()))
    }

    /// The numbers of what [`Self::arrivals`] is going to tell.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.completions.iter().map(cqueue::Entry::user_data).filter(|number| *number != UNREPORTED)
    }

    /// Tells everything else that has come in the last round, each once, in its order.
    pub fn arrivals(&mut self, mut tell: impl FnMut(Arrival<'_>)) {
        for completion in self.completions.drain(..) {
            // SAFETY: The completion is taken out of the list, which is filled from this ring alone,
            // and so shown once. Only receives bring a buffer, all of the one group, and the token
            // stays here.
            let lent: Option<Lent> = unsafe { self.buffers.take(&completion) };
            let number = completion.user_data();
            if number != UNREPORTED {
                tell(Arrival {
                    number,
                    result: completion.result(),
                    more: cqueue::more(completion.flags()),
                    bytes: lent.as_ref().map_or(&[], |lent| self.buffers.contents(lent)),
                });
            }
            if let Some(lent) = lent {
                self.buffers.give_back(lent);
            }
        }
    }
}

fn entry(request: &Request<'_>) -> squeue::Entry {
    match *request {
        Request::Receive { socket, number } => {
            debug_assert!(number < UNREPORTED);
            opcode::RecvMulti::new(fd(socket), GROUP).build().user_data(number)
        }
        Request::AwaitOutput { socket, number } => {
            debug_assert!(number < UNREPORTED);
            let flags = u32::from(libc::POLLOUT.cast_unsigned());
            opcode::PollAdd::new(fd(socket), flags).build().user_data(number)
        }
        Request::Send { socket, bytes, number } => {
            debug_assert!(number < UNREPORTED);
            assert!(bytes.len() <= LONGEST_SEND_BYTES, "a send of {} bytes", bytes.len());
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            opcode::Send::new(fd(socket), bytes.as_ptr(), length)
                .flags(SILENT_SEND_FLAGS)
                .build()
                .flags(squeue::Flags::SKIP_SUCCESS)
                .user_data(number | SILENT)
        }
        Request::Cancel { number } => opcode::AsyncCancel::new(number)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(UNREPORTED),
    }
}

fn fd(socket: BorrowedFd<'_>) -> types::Fd {
    types::Fd(socket.as_raw_fd())
}
