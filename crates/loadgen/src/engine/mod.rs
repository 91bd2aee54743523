//! Engines: each moves the bytes of one thread's connections by one mechanism of the kernel.
//!
//! An engine makes no decisions: the director decides what to send, on which connection and when,
//! and what a reply means.

pub(crate) mod choice;
pub(crate) mod epoll;
pub(crate) mod io_uring;

use crate::{clock::Clock, dial::Dialer, director::Director, error::LoadError};

/// What an engine is made with.
#[derive(Clone, Debug)]
pub(crate) struct Equipment {
    /// Makes its sockets.
    pub(crate) dialer: Dialer,
    /// The load's clock.
    pub(crate) clock: Clock,
    /// How many places for connections it has.
    pub(crate) places: usize,
    /// The number of the first of them that carry requests, how many do, and the number of the
    /// first silent one.
    pub(crate) numbers: Numbers,
    /// How many bytes of replies are worth receiving in one piece.
    pub(crate) reply_bytes_hint: usize,
    /// How close a moment must be for the thread not to sleep until then.
    pub(crate) spin_ns: u64,
}

/// The numbers of one thread's connections among those of all threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// The first that carries requests.
    pub(crate) first: usize,
    /// How many carry requests.
    pub(crate) active: usize,
    /// The first that stays silent.
    pub(crate) first_idle: usize,
}

impl Numbers {
    /// The number of the connection in this place.
    pub(crate) const fn of(self, slot: usize) -> usize {
        if slot < self.active { self.first + slot } else { self.first_idle + slot - self.active }
    }
}

impl Equipment {
    /// How long to sleep until the director wants to act: nothing when it is so close that sleeping
    /// would make it late.
    pub(crate) const fn sleep_ns(&self, now_ns: u64, wakes_at_ns: u64) -> u64 {
        wakes_at_ns.saturating_sub(now_ns).saturating_sub(self.spin_ns)
    }
}

/// A mechanism that moves bytes.
pub(crate) trait Engine: Sized {
    /// The engine of one thread, made on that thread.
    fn new(equipment: Equipment) -> Result<Self, LoadError>;

    /// How close a moment must be from now on for the thread not to sleep until then.
    fn set_spin(&mut self, spin_ns: u64);

    /// One turn: tell the director the time, do what it wants, wait until it wakes or something
    /// happens, and tell it what.
    fn turn<D: Director>(&mut self, director: &mut D) -> Result<(), LoadError>;
}
