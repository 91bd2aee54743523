//! The interface between an engine and the decisions: a director receives events and returns
//! orders.
//!
//! An engine reports events and carries out the orders. The director decides what to send, on which
//! connection and when, and what a reply means. It touches no socket, and time is a parameter.

use rustix::io::Errno;

/// What the engine must do with a connection right now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Action {
    /// Wait for bytes.
    Wait,
    /// Send what [`Director::outgoing`] gives, as much as goes, and wait for bytes as well.
    Send,
    /// Close it.
    Close,
}

/// What the director wants by itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Command {
    /// Make this connection.
    Connect(usize),
    /// Send what [`Director::outgoing`] gives, as much as goes.
    Send(usize),
    /// Close it.
    Close(usize),
}

/// Directs the connections of one thread. A connection is named by its place, from 0 on; another
/// connection may be made in a place whose connection was closed.
pub(crate) trait Director {
    /// Time has passed. Cheap as long as nothing is due.
    fn tick(&mut self, now_ns: u64);

    /// The next moment at which [`Self::tick`] or [`Self::next_command`] has something to do. Told
    /// once in each turn, before the engine waits; who comes later than that was kept from its CPU.
    fn wakes_at(&mut self) -> u64;

    /// What is wanted now, one thing at a time, until there is nothing left. A request that is sent
    /// begins at this moment, so the clock is read for each call.
    fn next_command(&mut self, now_ns: u64) -> Option<Command>;

    /// Whether nothing more happens.
    fn is_over(&self) -> bool;

    /// The engine's wait has found `ready` connections ready, out of `possible`.
    fn found(&mut self, ready: usize, possible: usize);

    /// The connection stands.
    fn connected(&mut self, slot: usize, now_ns: u64) -> Action;

    /// What is left to send on a connection, or the first piece of it. Empty when nothing is. The
    /// bytes stay the same until [`Self::sent`] has told that some of them are gone; what is to be
    /// sent behind them may grow meanwhile.
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
