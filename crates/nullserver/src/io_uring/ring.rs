//! The ring itself: how it is set up, what its requests are tagged with, and the one system call of
//! a round. It knows nothing of connections.

use std::io;

use ::io_uring::{CompletionQueue, IoUring, SubmissionQueue, Submitter, cqueue, squeue};
use rustix::io::Errno;

use crate::table::Key;

/// How many requests fit before they have to be submitted. Small, so that the queue stays in the
/// cache.
const SUBMISSION_ENTRIES: u32 = 256;

/// How many completions fit. More than that are kept by the kernel, at a price, and are not lost.
const COMPLETION_ENTRIES: u32 = 4096;

/// What a request is for; stands above the connection's key in the number that comes back with its
/// completion.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operation {
    /// Accept connections until told otherwise.
    Accept,
    /// Wait before accepting again.
    AcceptRest,
    /// Receive until told otherwise.
    Receive,
    /// Send, waiting for room if need be, and report.
    Send,
    /// Send at once, and report only if not everything went out.
    SilentSend,
    /// Stop an earlier request.
    Cancel,
}

impl Operation {
    const ALL: [Self; 6] =
        [Self::Accept, Self::AcceptRest, Self::Receive, Self::Send, Self::SilentSend, Self::Cancel];

    /// The number for a request that belongs to no connection.
    pub(super) fn tag(self) -> u64 {
        (self as u64) << Key::BITS
    }

    /// The number for a request of this connection.
    pub(super) fn tagged(self, key: Key) -> u64 {
        self.tag() | key.to_number()
    }

    /// The operation in a number that came back.
    pub(super) fn of(number: u64) -> Self {
        Self::ALL[(number >> Key::BITS) as usize]
    }
}

/// Sets up a ring that only the calling thread will use.
///
/// `SINGLE_ISSUER` and `DEFER_TASKRUN` (Linux 6.1) let the kernel finish work in our own waits and
/// nowhere else, which saves locks and interruptions, and makes `COOP_TASKRUN` superfluous. Leaving
/// out the index array (Linux 6.6) saves one indirection for each request, so an older kernel
/// simply keeps it.
pub(super) fn build_ring() -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_submit_all()
        .setup_cqsize(COMPLETION_ENTRIES)
        .dontfork();
    let without_index_array = builder.clone().setup_no_sqarray().build(SUBMISSION_ENTRIES);
    match without_index_array {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            builder.build(SUBMISSION_ENTRIES)
        }
        result => result,
    }
}

/// The two queues and the system call between them.
pub(super) struct Ring<'ring> {
    submitter: Submitter<'ring>,
    submission: SubmissionQueue<'ring>,
    completion: CompletionQueue<'ring>,
    /// Completions that are not taken yet, apart from the next.
    completions: Vec<cqueue::Entry>,
    /// Completions of sends that would have said nothing had they succeeded.
    unsent: Vec<cqueue::Entry>,
}

impl<'ring> Ring<'ring> {
    pub(super) fn new(io_uring: &'ring mut IoUring) -> io::Result<Self> {
        let (mut submitter, submission, completion) = io_uring.split();
        // The kernel then need not look the ring's descriptor up on every call.
        submitter.register_ring_fd()?;
        let (completions, unsent) = (Vec::new(), Vec::new());
        Ok(Self { submitter, submission, completion, completions, unsent })
    }

    pub(super) fn submitter(&self) -> &Submitter<'ring> {
        &self.submitter
    }

    /// Queues a request. When the queue is full, everything in it is submitted first.
    ///
    /// # Safety
    ///
    /// Memory that the entry points to stays valid and unchanged until the request has completed;
    /// for a request that says nothing on success, until the next `enter` has returned.
    pub(super) unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        loop {
            // SAFETY: The caller vouches for the memory.
            if unsafe { self.submission.push(entry) }.is_ok() {
                return Ok(());
            }
            self.submit_and_wait(0)?;
        }
    }

    /// Submits everything that is queued, and returns once there is at least one completion to
    /// take.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        loop {
            let has_news = !(self.completions.is_empty() && self.unsent.is_empty());
            self.submit_and_wait(usize::from(!has_news))?;
            let has_news = !(self.completions.is_empty() && self.unsent.is_empty());
            if has_news && self.submission.is_empty() {
                return Ok(());
            }
        }
    }

    /// Swaps the completions for two empty lists: all, and those of silent sends that fell short.
    pub(super) fn take_completions(
        &mut self,
        completions: &mut Vec<cqueue::Entry>,
        unsent: &mut Vec<cqueue::Entry>,
    ) {
        debug_assert!(completions.is_empty() && unsent.is_empty());
        std::mem::swap(&mut self.completions, completions);
        std::mem::swap(&mut self.unsent, unsent);
    }

    fn submit_and_wait(&mut self, wanted: usize) -> io::Result<()> {
        self.submission.sync();
        let result = self.submitter.submit_and_wait(wanted);
        self.submission.sync();
        self.completion.sync();
        for completion in &mut self.completion {
            match Operation::of(completion.user_data()) {
                Operation::SilentSend => self.unsent.push(completion),
                _ => self.completions.push(completion),
            }
        }
        self.completion.sync();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_survives_the_way_through_a_completion() {
        for operation in Operation::ALL {
            let key = Key::from_number((1 << Key::BITS) - 1);
            assert_eq!(Operation::of(operation.tagged(key)), operation);
            assert_eq!(Key::from_number(operation.tagged(key)), key);
            assert_eq!(Operation::of(operation.tag()), operation);
        }
    }
}
