//! The interface between an engine and the decisions: a director receives events and returns
//! orders.
//!
//! An engine reports events and executes the orders. The director decides what to send, on which
//! connection and when, and what a reply means. It touches no socket, and time is a parameter.

use rustix::io::Errno;

/// The order for a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Action {
    /// Wait for bytes.
    Wait,
    /// Send the bytes of [`Director::outgoing`] as far as possible, and wait for input as well.
    Send,
    Close,
}

/// A command that does not answer an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Command {
    Connect(usize),
    /// Send the bytes of [`Director::outgoing`] as far as possible.
    Send(usize),
    Close(usize),
}

/// Directs the connections of one thread. A connection is named by its place, from 0 on; another
/// connection may be made in a place whose connection was closed.
pub(crate) trait Director {
    /// Time has passed. Cheap as long as nothing is due.
    fn tick(&mut self, now_ns: u64);

    /// The next moment at which [`Self::tick`] or [`Self::next_command`] has something to do. Asked
    /// once in each turn, before the engine waits; an engine that comes later was descheduled.
    fn wakes_at(&mut self) -> u64;

    /// The next command, until there are none left. A sent request begins at this moment, so the
    /// clock is read for each call.
    fn next_command(&mut self, now_ns: u64) -> Option<Command>;

    /// Whether nothing more happens.
    fn is_over(&self) -> bool;

    /// The engine's wait has found `ready` connections ready, out of `possible`.
    fn found(&mut self, ready: usize, possible: usize);

    fn connected(&mut self, slot: usize, now_ns: u64) -> Action;

    /// The bytes left to send on a connection, or their first piece; empty if there are none. They
    /// stay the same until [`Self::sent`] reports that some of them are gone; further bytes may be
    /// appended meanwhile.
    fn outgoing(&self, slot: usize) -> &[u8];

    /// Whether the bytes that [`Self::outgoing`] gives are all that is left, and not the first piece
    /// of it. A director that does not know returns false, which costs an engine that sends in rounds
    /// one more round.
    fn outgoing_is_all(&self, _slot: usize, _bytes: usize) -> bool {
        false
    }

    /// This many outgoing bytes were handed to the kernel.
    fn sent(&mut self, slot: usize, bytes: usize) -> Action;

    /// Bytes have arrived, at least one.
    fn received(&mut self, slot: usize, bytes: &[u8], now_ns: u64) -> Action;

    /// The server has closed its side.
    fn finished(&mut self, slot: usize, now_ns: u64) -> Action;

    /// The socket has failed, or could not be made.
    fn failed(&mut self, slot: usize, error: Errno, now_ns: u64) -> Action;
}
