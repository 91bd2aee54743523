//! How much the server had answered each time that the thread looked. Where it is most of what was asked, replies wait
//! for the generator.
//!
//! The measure is replies, since a connection with many requests in flight may always have one. Of replies too long to
//! come together, a part stands for a whole: then it is ready connections.

use super::{Session, Slot};
use crate::codec::Codec;

/// What a connection holds of its replies until the thread looks.
const HELD_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Turns {
    /// Replies that one connection may have ready at a time.
    per_connection: usize,
    ready: usize,
    possible: usize,
    replies: usize,
}

impl Turns {
    /// `depth` requests may be in flight on a connection, whose replies have this length as far as it is known.
    pub(super) fn new(depth: usize, reply_bytes: usize) -> Self {
        let per_connection = (HELD_BYTES / reply_bytes.max(1)).clamp(1, depth.max(1));
        Self { per_connection, ready: 0, possible: 0, replies: 0 }
    }

    #[inline]
    pub(super) const fn replied(&mut self) {
        self.replies += 1;
    }

    /// A turn begins in which `ready` connections out of `possible` have something. Of the turn before, says how many
    /// replies it has found out of those that connections with this much room may have had.
    fn begin(&mut self, ready: usize, possible: usize, room: usize) -> (usize, usize) {
        let most = self.possible * room.max(1);
        let found = if self.ready == 0 { 0 } else { self.replies.max(self.ready).min(most) };
        (self.ready, self.possible, self.replies) = (ready, possible, 0);
        (found, most)
    }
}

impl<C: Codec> Session<C> {
    pub(super) fn begin_turn(&mut self, ready: usize, possible: usize) {
        // All connections of a load have about the same room.
        let room = |slot: &Slot<_>| self.codec.room(&slot.codec, self.turns.per_connection);
        let room = self.slots.first().map_or(0, room);
        let (found, possible) = self.turns.begin(ready, possible, room);
        self.recorder.found(found, possible);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in a turn with these replies on two ready connections of four.
    fn found(depth: usize, reply_bytes: usize, replies: usize) -> (usize, usize) {
        let mut turns = Turns::new(depth, reply_bytes);
        turns.begin(2, 4, 1);
        (0..replies).for_each(|_| turns.replied());
        turns.begin(0, 4, turns.per_connection)
    }

    #[test]
    fn without_pipelining_a_turn_finds_ready_connections() {
        for (reply_bytes, replies) in [(0, 2), (100, 2), (1 << 20, 0)] {
            assert_eq!(found(1, reply_bytes, replies), (2, 4));
        }
    }

    #[test]
    fn with_pipelining_it_finds_replies_as_far_as_they_come_together() {
        assert_eq!(found(16, 100, 2), (2, 64));
        assert_eq!(found(16, 100, 32), (32, 64));
        assert_eq!(found(16, 30_000, 1), (2, 8));
        assert_eq!(found(16, 1 << 20, 0), (2, 4));
    }

    #[test]
    fn a_turn_without_news_finds_nothing() {
        let mut turns = Turns::new(16, 100);
        turns.begin(0, 4, 16);
        assert_eq!(turns.begin(1, 4, 16), (0, 64));
    }
}
