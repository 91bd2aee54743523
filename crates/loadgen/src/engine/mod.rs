//! Engines: each moves the bytes of one thread's connections by one mechanism of the kernel.
//!
//! An engine makes no decisions: the director decides what to send, on which connection and when,
//! and what a reply means.

pub(crate) mod choice;
pub(crate) mod epoll;
pub(crate) mod io_uring;

use crate::{clock::Clock, dial::Dialer, director::Director, error::LoadError, share::Share};

#[derive(Clone, Debug)]
pub(crate) struct EngineParams {
    pub(crate) dialer: Dialer,
    pub(crate) clock: Clock,
    /// The connections of the thread.
    pub(crate) share: Share,
    /// Number of reply bytes worth receiving in one piece.
    pub(crate) reply_bytes_hint: usize,
    /// The thread does not sleep if the next moment is closer than this.
    pub(crate) spin_ns: u64,
}

impl EngineParams {
    /// Time to sleep until the director wants to act: none if it is so close that sleeping would be
    /// too long.
    pub(crate) const fn sleep_ns(&self, now_ns: u64, wakes_at_ns: u64) -> u64 {
        wakes_at_ns.saturating_sub(now_ns).saturating_sub(self.spin_ns)
    }
}

/// A mechanism that moves bytes.
pub(crate) trait Engine: Sized {
    /// The engine of one thread, made on that thread.
    fn new(equipment: EngineParams) -> Result<Self, LoadError>;

    /// From now on, the thread does not sleep if the next moment is closer than this.
    fn set_spin(&mut self, spin_ns: u64);

    /// One turn: passes the time to the director, executes its commands, waits until it wakes or
    /// an event happens, and reports the events.
    fn turn<D: Director>(&mut self, director: &mut D) -> Result<(), LoadError>;

    /// Ends the connections closed in the last turn for the server too. Called before a pause
    /// between two turns.
    fn pause(&mut self) -> Result<(), LoadError> {
        Ok(())
    }
}
