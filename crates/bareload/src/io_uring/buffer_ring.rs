//! Buffers that the kernel selects for arriving data. They are returned unread, because a bare loop
//! only counts.
//!
//! The memory is never freed, since the kernel may write to it until the ring is gone, and the
//! program ends before that.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::io;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use ::io_uring::Submitter;
use ::io_uring::types::BufRingEntry;

/// The only group of buffers of a ring.
pub(super) const GROUP: u16 = 0;

const PAGE_BYTES: usize = 4096;

/// Total size of all buffers: the second-level cache of a typical core. More would evict everything
/// else from it.
const CACHE_BYTES: usize = 1024 * 1024;

/// How many buffers of which size.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Shape {
    /// A power of two.
    buffers: u16,
    buffer_bytes: u32,
}

impl Shape {
    /// Each buffer holds what one connection has in flight, within limits: a reply in two buffers
    /// is two completions.
    pub(crate) fn for_replies(reply_bytes: NonZeroUsize, depth: NonZeroUsize) -> Self {
        const LEAST_BYTES: usize = 2048;
        const MOST_BYTES: usize = 65 * 1024;
        const MOST_BUFFERS: usize = 512;
        let whole = reply_bytes.get().saturating_mul(depth.get()).clamp(LEAST_BYTES, MOST_BYTES);
        let buffers = (CACHE_BYTES / whole).next_power_of_two().min(MOST_BUFFERS);
        // One cache line longer than a power of two, because buffers at a distance of whole pages
        // compete for the same few places of the first-level cache.
        let buffer_bytes = whole.next_multiple_of(64) + 64;
        Self {
            buffers: u16::try_from(buffers).expect("there are at most 512"),
            buffer_bytes: u32::try_from(buffer_bytes).expect("they are clamped"),
        }
    }
}

/// The queue by which buffers are given to the kernel.
pub(super) struct BufferRing {
    shape: Shape,
    entries: NonNull<BufRingEntry>,
    memory: NonNull<u8>,
    /// The next free place of the queue; wraps around.
    tail: u16,
}

impl BufferRing {
    /// Allocates the buffers for good and gives all of them to the kernel.
    pub(super) fn register(submitter: &Submitter<'_>, shape: Shape) -> io::Result<Self> {
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
            // SAFETY: Each buffer is given once, and the kernel has none yet.
            unsafe { ring.give_back(buffer) };
        }
        ring.publish();
        Ok(ring)
    }

    /// Queues a buffer for the kernel, which sees it with the next `publish`.
    ///
    /// # Safety
    ///
    /// The buffer came with a completion of this ring, and is given back once for it.
    pub(super) unsafe fn give_back(&mut self, buffer: u16) {
        assert!(buffer < self.shape.buffers);
        let place = usize::from(self.tail & (self.shape.buffers - 1));
        let start = usize::from(buffer) * self.shape.buffer_bytes as usize;
        // SAFETY: The place lies within the entries, and the buffer within the memory. There are as
        // many places as buffers and this one was ours, so the kernel has read what stood in the
        // place before. The reserved field, which is the tail in the first entry, is not
        // written by these setters.
        unsafe {
            let entry = &mut *self.entries.add(place).as_ptr();
            entry.set_addr(self.memory.add(start).as_ptr() as u64);
            entry.set_len(self.shape.buffer_bytes);
            entry.set_bid(buffer);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_replies_get_many_small_buffers_and_large_ones_few_large_buffers() {
        let shape = |reply_bytes, depth| {
            let number = |number| NonZeroUsize::new(number).unwrap();
            let shape = Shape::for_replies(number(reply_bytes), number(depth));
            (shape.buffers, shape.buffer_bytes)
        };
        assert_eq!(shape(77, 1), (512, 2048 + 64));
        assert_eq!(shape(77, 16), (512, 2048 + 64));
        assert_eq!(shape(4163, 1), (256, 4224 + 64));
        assert_eq!(shape(65_603, 1), (16, 65_664 + 64));
        assert_eq!(shape(usize::MAX, 1024), (16, 66_560 + 64));
    }
}
