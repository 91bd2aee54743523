//! Buffers that the kernel chooses from when something arrives, instead of one buffer for each
//! waiting connection.
//!
//! A buffer is either the kernel's or lent to us, and the token `Lent` is the proof of the second.
//! The memory is never freed: a worker serves until the process ends, and the kernel writes
//! whenever it likes.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use ::io_uring::types::BufRingEntry;
use ::io_uring::{Submitter, cqueue};

/// The only group of buffers of a ring.
pub(super) const GROUP: u16 = 0;

const PAGE_BYTES: usize = 4096;

/// How many buffers of which size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// A power of two.
    pub(super) buffers: u16,
    pub(super) buffer_bytes: u32,
}

/// The buffers of one ring, and the queue by which they are given to the kernel.
pub(super) struct BufferRing {
    shape: Shape,
    entries: NonNull<BufRingEntry>,
    memory: NonNull<u8>,
    /// The next free place of the queue; wraps around.
    tail: u16,
}

/// A buffer that the kernel has filled and that is ours until it is given back.
#[derive(Debug)]
pub(super) struct Lent {
    buffer: u16,
    bytes: u32,
}

impl Lent {
    /// How many bytes the kernel has put into it.
    pub(super) fn length(&self) -> usize {
        self.bytes as usize
    }
}

impl BufferRing {
    /// Allocates the buffers for good and gives all of them to the kernel.
    pub(super) fn register(submitter: &Submitter<'_>, shape: Shape) -> io::Result<Self> {
        assert!(shape.buffers.is_power_of_two() && shape.buffer_bytes > 0);
        let entries_layout = Layout::array::<BufRingEntry>(usize::from(shape.buffers))
            .and_then(|layout| layout.align_to(PAGE_BYTES))
            .map_err(io::Error::other)?;
        let memory_bytes = usize::from(shape.buffers) * shape.buffer_bytes as usize;
        let memory_layout =
            Layout::from_size_align(memory_bytes, PAGE_BYTES).map_err(io::Error::other)?;
        let entries = allocate_for_good(entries_layout).cast::<BufRingEntry>();
        let memory = allocate_for_good(memory_layout);
        // SAFETY: The entries are as many as we say, aligned to a page, and never freed.
        unsafe {
            submitter.register_buf_ring_with_flags(
                entries.as_ptr() as u64,
                shape.buffers,
                GROUP,
                0,
            )?;
        }
        let mut ring = Self { shape, entries, memory, tail: 0 };
        for buffer in 0..shape.buffers {
            ring.give_back(Lent { buffer, bytes: 0 });
        }
        ring.publish();
        Ok(ring)
    }

    /// The buffer that a completion brings, if it brings one.
    ///
    /// # Safety
    ///
    /// The completion is of a receive with this ring's buffers, and it is shown here only once.
    pub(super) unsafe fn take(&self, completion: &cqueue::Entry) -> Option<Lent> {
        let buffer = cqueue::buffer_select(completion.flags())?;
        let bytes = u32::try_from(completion.result()).unwrap_or(0);
        assert!(buffer < self.shape.buffers && bytes <= self.shape.buffer_bytes);
        Some(Lent { buffer, bytes })
    }

    /// What the kernel has put into the buffer.
    pub(super) fn contents(&self, lent: &Lent) -> &[u8] {
        let start = usize::from(lent.buffer) * self.shape.buffer_bytes as usize;
        // SAFETY: `take` checked that the bytes lie within the memory, which is initialised, and
        // while the token exists the buffer is not the kernel's to write.
        unsafe { std::slice::from_raw_parts(self.memory.add(start).as_ptr(), lent.length()) }
    }

    /// Queues the buffer for the kernel, which sees it with the next `publish`.
    #[expect(clippy::needless_pass_by_value, reason = "the token must not be used again")]
    pub(super) fn give_back(&mut self, lent: Lent) {
        let place = usize::from(self.tail & (self.shape.buffers - 1));
        let start = usize::from(lent.buffer) * self.shape.buffer_bytes as usize;
        // SAFETY: The place lies within the entries. There are as many places as buffers and this
        // one was lent, so the kernel has read what stood in the place before. The reserved
        // field, which is the tail in the first entry, is not written by these setters.
        unsafe {
            let entry = &mut *self.entries.add(place).as_ptr();
            entry.set_addr(self.memory.add(start).as_ptr() as u64);
            entry.set_len(self.shape.buffer_bytes);
            entry.set_bid(lent.buffer);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    /// Shows the kernel all buffers that were given back.
    pub(super) fn publish(&mut self) {
        // SAFETY: The pointer is to the first entry of a registered ring, in which the kernel reads
        // the tail, aligned like any u16, while only this thread writes it.
        unsafe {
            let tail = BufRingEntry::tail(self.entries.as_ptr()).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }
}

fn allocate_for_good(layout: Layout) -> NonNull<u8> {
    // SAFETY: No layout here has a size of zero.
    let memory = unsafe { alloc_zeroed(layout) };
    NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout))
}
