//! Measures how late the engine comes: the delay after the requested time, minus the time in which
//! it was seen working. A server that keeps all connections waiting does not make the engine late,
//! because then nothing is due. It makes no judgement.

/// Maximum time for the kernel to send one request: a loopback send delivers it to the server's
/// socket. A ring sends a whole batch in one system call, within which no moment is known.
const SEND_NS: u64 = 10_000;

/// The actual and the requested times of the engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lateness {
    expected_ns: u64,
    /// Time when it was last seen working.
    came_ns: u64,
    /// Time that its sends since then may have taken.
    sending_ns: u64,
}

impl Lateness {
    /// The state without a request to the engine.
    pub(super) const fn new() -> Self {
        Self { expected_ns: u64::MAX, came_ns: 0, sending_ns: 0 }
    }

    /// The engine is asked to come at this time.
    pub(super) const fn expect(&mut self, at_ns: u64) {
        self.expected_ns = at_ns;
    }

    /// The engine has sent this many bytes. Copying one takes less than a nanosecond.
    #[inline]
    pub(super) const fn sent(&mut self, bytes: usize) {
        self.sending_ns += SEND_NS + bytes as u64;
    }

    /// The engine comes, or handles the next event of a batch, so much too late. What was due before
    /// it came the last time has made it late once already.
    #[inline]
    pub(super) fn come(&mut self, now_ns: u64) -> u64 {
        let since_ns = self.expected_ns.max(self.came_ns);
        let late_ns = now_ns.saturating_sub(since_ns).saturating_sub(self.sending_ns);
        self.came_ns = now_ns;
        self.sending_ns = 0;
        late_ns
    }
}
