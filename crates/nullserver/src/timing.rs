//! When replies are sent. Whether they wait is known at compile time, so a null server does nothing for it.

/// Decides when the replies of a server with delays are sent.
pub trait Timing {
    /// Whether replies wait for [`Self::take_due`]. The server then never sleeps, because a wake-up would
    /// make them late.
    const WAITS: bool;

    /// A request has arrived, and its reply waits. The number of a connection names no other one.
    fn arrived(&mut self, connection: u64);

    /// Takes out the next reply that is due by now. Its connection may be gone.
    fn take_due(&mut self) -> Option<u64>;
}

/// The timing of the null servers: no reply waits.
pub(crate) struct AtOnce;

impl Timing for AtOnce {
    const WAITS: bool = false;

    fn arrived(&mut self, _connection: u64) {}

    fn take_due(&mut self) -> Option<u64> {
        None
    }
}
