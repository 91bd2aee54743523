//! The ring itself: how it is set up and ended, and the one system call of a round. It knows nothing
//! of connections.

use std::{fmt, io, ptr::NonNull, rc::Rc};

use io_uring::{
    CompletionQueue, EnterFlags, IoUring, SubmissionQueue, Submitter, cqueue, squeue,
    types::{CancelBuilder, SubmitArgs, Timespec},
};
use rustix::io::Errno;

use crate::buffer_ring::{BufferRing, GROUP, Memory, Shape};

/// The bit of a request's number that marks a *silent* send: one that does not wait for room in the
/// socket, so that it is over when the system call that submits it returns, and that posts a
/// completion only if it could not send everything.
pub const SILENT: u64 = 1 << 63;

/// The flags of a silent send: with `MSG_DONTWAIT` the kernel never defers it, and with
/// `MSG_WAITALL` it reports a partial send as a failure with its length.
pub const SILENT_SEND_FLAGS: i32 = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_WAITALL;

/// Limit of the wait for operations in flight at the end of a ring. It guards against mistakes.
const END_NS: u32 = 500_000_000;

/// How long to wait for a completion.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wait {
    /// Not at all.
    Not,
    /// At most this many nanoseconds, and never longer than about a second.
    AtMost(u64),
    Forever,
}

/// The two queues and the system call between them. It stays on the thread that has made it.
pub struct Ring {
    submitter: Submitter<'static>,
    submission: SubmissionQueue<'static>,
    completion: CompletionQueue<'static>,
    /// Completions that are not taken yet, apart from the next.
    completions: Vec<cqueue::Entry>,
    /// Completions of silent sends, none of which has succeeded.
    unsent: Vec<cqueue::Entry>,
    /// Memory that the kernel may write to while the ring exists.
    memory: Option<Rc<Memory>>,
    /// The owner from which the first three borrow. It is the last field, because fields are
    /// dropped in this order.
    _owner: Owner,
}

/// The ring that others borrow from, at a place of its own.
struct Owner(NonNull<IoUring>);

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: The pointer came out of a box and is given back once, here, when those that borrow
        // from it are gone.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl Ring {
    /// Sets up a ring with room for this many requests that are not submitted yet, and this many
    /// completions that are not taken yet. The kernel keeps more than that, which is slower, and
    /// are not lost.
    pub fn new(submissions: u32, completions: u32) -> io::Result<Self> {
        let owner = Owner(NonNull::from(Box::leak(Box::new(build(submissions, completions)?))));
        // SAFETY: The pointer came out of a box just now, there is no other reference, and what borrows from
        // it is dropped before it.
        let io_uring: &'static mut IoUring = unsafe { &mut *owner.0.as_ptr() };
        let (mut submitter, submission, completion) = io_uring.split();
        // The kernel then need not look the ring's descriptor up on every call.
        submitter.register_ring_fd()?;
        Ok(Self {
            submitter,
            submission,
            completion,
            completions: Vec::new(),
            unsent: Vec::new(),
            memory: None,
            _owner: owner,
        })
    }

    /// Allocates buffers and gives all of them to the kernel, which fills them when something
    /// arrives.
    ///
    /// # Panics
    ///
    /// When the ring has buffers already, or when the shape is none.
    pub fn provide(&mut self, shape: Shape) -> io::Result<BufferRing> {
        assert!(self.memory.is_none(), "a ring has one group of buffers");
        let memory = Rc::new(Memory::allocate(shape)?);
        // SAFETY: The entries are as many as we say, aligned to a page, and freed only after the
        // kernel has let go of them, since the ring holds the memory until then.
        unsafe {
            self.submitter.register_buf_ring_with_flags(
                memory.entries_address(),
                shape.buffers,
                GROUP,
                0,
            )?;
        }
        self.memory = Some(Rc::clone(&memory));
        Ok(BufferRing::new(memory))
    }

    /// Queues a request. When the queue is full, everything in it is submitted first.
    ///
    /// # Safety
    ///
    /// Memory that the entry points to stays valid and unchanged until the request has completed;
    /// for a silent send, until the next `enter` has returned.
    pub unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        loop {
            // SAFETY: The caller vouches for the memory.
            if unsafe { self.submission.push(entry) }.is_ok() {
                return Ok(());
            }
            self.submit(Wait::Not)?;
        }
    }

    /// Submits everything that is queued, and waits if there is no completion to take.
    pub fn enter(&mut self, wait: Wait) -> io::Result<()> {
        let mut wait = wait;
        loop {
            self.submit(if self.has_news() { Wait::Not } else { wait })?;
            if wait != Wait::Forever || self.has_news() {
                if self.submission.is_empty() {
                    return Ok(());
                }
                wait = Wait::Not;
            }
        }
    }

    /// Swaps the completions for two empty lists: all, and those of silent sends that fell short.
    pub fn take_completions(
        &mut self,
        completions: &mut Vec<cqueue::Entry>,
        unsent: &mut Vec<cqueue::Entry>,
    ) {
        debug_assert!(completions.is_empty() && unsent.is_empty());
        std::mem::swap(&mut self.completions, completions);
        std::mem::swap(&mut self.unsent, unsent);
    }

    const fn has_news(&self) -> bool {
        !(self.completions.is_empty() && self.unsent.is_empty())
    }

    fn submit(&mut self, wait: Wait) -> io::Result<()> {
        self.submission.sync();
        let result = match wait {
            Wait::Not => self.submit_and_look(0),
            Wait::Forever => self.submit_and_look(1),
            Wait::AtMost(nanoseconds) => {
                let timespec = timespec(nanoseconds);
                let arguments = SubmitArgs::new().timespec(&timespec);
                self.submitter.submit_with_args(1, &arguments)
            }
        };
        self.submission.sync();
        self.completion.sync();
        for completion in &mut self.completion {
            if completion.user_data() & SILENT == 0 {
                self.completions.push(completion);
            } else {
                self.unsent.push(completion);
            }
        }
        self.completion.sync();
        match result {
            Ok(_) => Ok(()),
            // The end of the wait, a signal, or a shortage that taking completions relieves. What
            // was not submitted is still in the queue.
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// Submits, and has the kernel finish what waits for a call of ours, also without a wait.
    fn submit_and_look(&self, wanted: u32) -> io::Result<usize> {
        let queued = u32::try_from(self.submission.len()).unwrap_or(u32::MAX);
        let flags = EnterFlags::GETEVENTS.bits();
        // SAFETY: No argument is passed, and the queued requests were checked when they were queued.
        unsafe { self.submitter.enter::<libc::sigset_t>(queued, wanted, flags, None) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // A ring that is only closed ends what is in flight at some later time. Until then sockets
        // stay open that their owner has closed, and the memory of the buffers is the kernel's.
        let bound = Timespec::new().nsec(END_NS);
        let _ = self.submitter.register_sync_cancel(Some(bound), CancelBuilder::any());
        // SAFETY: Nothing is submitted and no argument is passed.
        let _ = unsafe {
            self.submitter.enter::<libc::sigset_t>(0, 0, EnterFlags::GETEVENTS.bits(), None)
        };
        if let Some(memory) = self.memory.take()
            && self.submitter.unregister_buf_ring(GROUP).is_err()
        {
            // The kernel has not let go of it.
            std::mem::forget(memory);
        }
        let _ = self.submitter.unregister_ring_fd();
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Ring")
            .field("queued", &self.submission.len())
            .finish_non_exhaustive()
    }
}

/// Sets up a ring that only the calling thread will use.
///
/// `SINGLE_ISSUER` and `DEFER_TASKRUN` (Linux 6.1) let the kernel finish work in our own waits and
/// nowhere else, which saves locks and interruptions, and makes `COOP_TASKRUN` superfluous. Omitting
/// the index array (Linux 6.6) saves one indirection for each request, so an older kernel
/// simply keeps it.
fn build(submissions: u32, completions: u32) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_submit_all()
        .setup_cqsize(completions)
        .dontfork();
    let without_index_array = builder.clone().setup_no_sqarray().build(submissions);
    match without_index_array {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => builder.build(submissions),
        result => result,
    }
}

fn timespec(nanoseconds: u64) -> Timespec {
    const LONGEST_NS: u64 = 1_000_000_000;
    let bounded = nanoseconds.min(LONGEST_NS - 1);
    Timespec::new().nsec(u32::try_from(bounded).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use io_uring::opcode;
    use std::time::{Duration, Instant};

    #[test]
    fn a_wait_ends_with_its_time_and_brings_nothing() {
        let mut ring = Ring::new(4, 8).unwrap();
        let began = Instant::now();
        ring.enter(Wait::AtMost(20_000_000)).unwrap();
        assert!(began.elapsed() >= Duration::from_millis(20));
        ring.enter(Wait::Not).unwrap();
        assert!(!ring.has_news());
    }

    #[test]
    fn more_requests_than_either_queue_holds_all_complete_once() {
        let mut ring = Ring::new(4, 8).unwrap();
        for number in 0..100 {
            let entry = opcode::Nop::new().build().user_data(number);
            // SAFETY: The entry points to no memory.
            unsafe { ring.push(&entry) }.unwrap();
        }
        let (mut numbers, mut completions, mut unsent) = (Vec::new(), Vec::new(), Vec::new());
        while numbers.len() < 100 {
            ring.enter(Wait::Forever).unwrap();
            ring.take_completions(&mut completions, &mut unsent);
            numbers.extend(completions.drain(..).map(|completion| completion.user_data()));
        }
        numbers.sort_unstable();
        assert_eq!(numbers, Vec::from_iter(0..100));
        assert!(unsent.is_empty());
    }

    #[test]
    fn a_thread_can_make_and_end_any_number_of_rings() {
        // A thread may register 16 descriptors of rings, and memory is locked for each group.
        for _ in 0..100 {
            let mut ring = Ring::new(4, 8).unwrap();
            let buffers = ring.provide(Shape { buffers: 2, buffer_bytes: 64 }).unwrap();
            drop(ring);
            drop(buffers);
        }
    }
}
