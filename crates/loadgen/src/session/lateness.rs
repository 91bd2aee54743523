//! How late the engine comes: how long after it was told to come, unless it was late for that
//! before. A server that keeps all connections waiting makes nobody late, because then nothing is
//! due. It judges nothing.

/// When the engine comes, and when it should have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lateness {
    /// When it was last told to come again.
    expected_ns: u64,
    /// When it last came.
    came_ns: u64,
}

impl Lateness {
    /// Of an engine that was not told anything yet.
    pub(super) const fn new() -> Self {
        Self { expected_ns: u64::MAX, came_ns: 0 }
    }

    /// The engine is told to come then.
    pub(super) const fn expect(&mut self, at_ns: u64) {
        self.expected_ns = at_ns;
    }

    /// The engine comes, so much too late. What was due before it came the last time has made it
    /// late once already.
    pub(super) fn come(&mut self, now_ns: u64) -> u64 {
        let late_ns = now_ns.saturating_sub(self.expected_ns.max(self.came_ns));
        self.came_ns = now_ns;
        late_ns
    }
}
