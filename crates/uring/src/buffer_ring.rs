//! Buffers that the kernel chooses from when something arrives, instead of one buffer for each
//! waiting connection.
//!
//! A buffer is either the kernel's or lent to us, and the token [`Lent`] is the proof of the second.
//! The memory lives as long as either side of it: the ring to which the kernel belongs, and the
//! queue by which buffers are given back.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::{cqueue, types::BufRingEntry};

/// The only group of buffers of a ring.
pub const GROUP: u16 = 0;

/// How many buffers of which size.
///
/// A size that is one cache line longer than a power of two is the best: buffers are used in turn,
/// and at a distance of whole pages their beginnings would all compete for the same few places of
/// the first-level cache.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shape {
    /// A power of two, at most 32768.
    pub buffers: u16,
    /// At least one.
    pub buffer_bytes: u32,
}

/// The queue of a ring's buffers and the buffers themselves.
#[derive(Debug)]
pub(crate) struct Memory {
    shape: Shape,
    entries: NonNull<BufRingEntry>,
    entries_layout: Layout,
    buffers: NonNull<u8>,
    buffers_layout: Layout,
}

impl Memory {
    pub(crate) fn allocate(shape: Shape) -> io::Result<Self> {
        assert!(shape.buffers.is_power_of_two() && shape.buffer_bytes > 0, "{shape:?}");
        let entries_layout = Layout::array::<BufRingEntry>(usize::from(shape.buffers))
            .and_then(|layout| layout.align_to(rustix::param::page_size()))
            .map_err(io::Error::other)?;
        let buffer_bytes = usize::from(shape.buffers) * shape.buffer_bytes as usize;
        let buffers_layout = Layout::from_size_align(buffer_bytes, rustix::param::page_size())
            .map_err(io::Error::other)?;
        Ok(Self {
            shape,
            entries: allocate(entries_layout).cast::<BufRingEntry>(),
            entries_layout,
            buffers: allocate(buffers_layout),
            buffers_layout,
        })
    }

    pub(crate) fn entries_address(&self) -> u64 {
        self.entries.as_ptr() as u64
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: Both were allocated with these layouts and are freed once, here.
        unsafe {
            dealloc(self.entries.as_ptr().cast(), self.entries_layout);
            dealloc(self.buffers.as_ptr(), self.buffers_layout);
        }
    }
}

fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: No layout here has a size of zero.
    let memory = unsafe { alloc_zeroed(layout) };
    NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout))
}

/// The buffers of one ring, and the queue by which they are given to the kernel.
#[derive(Debug)]
pub struct BufferRing {
    memory: Rc<Memory>,
    /// The next free place of the queue; wraps around.
    tail: u16,
}

/// A buffer that the kernel has filled and that is ours until it is given back.
#[derive(Debug)]
pub struct Lent {
    buffer: u16,
    bytes: u32,
}

impl Lent {
    /// How many bytes the kernel has put into it.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.bytes as usize
    }
}

impl BufferRing {
    /// Gives all buffers of a new group to the kernel.
    pub(crate) fn new(memory: Rc<Memory>) -> Self {
        let buffers = memory.shape.buffers;
        let mut ring = Self { memory, tail: 0 };
        for buffer in 0..buffers {
            ring.give_back(Lent { buffer, bytes: 0 });
        }
        ring.publish();
        ring
    }

    #[must_use]
    pub fn buffers(&self) -> usize {
        usize::from(self.memory.shape.buffers)
    }

    /// The buffer that a completion brings, if it brings one.
    ///
    /// # Safety
    ///
    /// The completion is of a receive with this ring's buffers, it is shown here only once, and the
    /// token goes to no other ring's buffers.
    #[must_use]
    pub unsafe fn take(&self, completion: &cqueue::Entry) -> Option<Lent> {
        let buffer = cqueue::buffer_select(completion.flags())?;
        let bytes = u32::try_from(completion.result()).unwrap_or(0);
        let shape = self.memory.shape;
        assert!(buffer < shape.buffers && bytes <= shape.buffer_bytes);
        Some(Lent { buffer, bytes })
    }

    /// The bytes that the kernel has put into the buffer.
    #[must_use]
    pub fn contents(&self, lent: &Lent) -> &[u8] {
        let start = usize::from(lent.buffer) * self.memory.shape.buffer_bytes as usize;
        // SAFETY: `take` checked that the bytes lie within the memory, which is initialised, and
        // while the token exists the buffer is not the kernel's to write.
        unsafe {
            std::slice::from_raw_parts(self.memory.buffers.add(start).as_ptr(), lent.length())
        }
    }

    /// Queues the buffer for the kernel, which sees it with the next `publish`.
    #[expect(clippy::needless_pass_by_value, reason = "the token must not be used again")]
    pub fn give_back(&mut self, lent: Lent) {
        let shape = self.memory.shape;
        let place = usize::from(self.tail & (shape.buffers - 1));
        let start = usize::from(lent.buffer) * shape.buffer_bytes as usize;
        // SAFETY: The place lies within the entries. There are as many places as buffers and this
        // one was lent, so the kernel has read what stood in the place before. The reserved
        // field, which is the tail in the first entry, is not written by these setters.
        unsafe {
            let entry = &mut *self.memory.entries.add(place).as_ptr();
            entry.set_addr(self.memory.buffers.add(start).as_ptr() as u64);
            entry.set_len(shape.buffer_bytes);
            entry.set_bid(lent.buffer);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    /// Shows the kernel all buffers that were given back.
    pub fn publish(&mut self) {
        // SAFETY: The pointer is to the first entry of a ring, in which the kernel reads the tail,
        // aligned like any u16, while only this thread writes it.
        unsafe {
            let tail = BufRingEntry::tail(self.memory.entries.as_ptr()).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }
}
