//! The parts that make a kind of runtime.

use crate::{policy::Policy, poller::Poller};

/// A kind of runtime: a policy and a poller, as in `(Sharing<Locking>, Epoll)`.
pub trait Parts: Send + Sync + 'static {
    /// Which worker runs which fiber.
    type Policy: Policy;
    /// How workers wait for sockets.
    type Poller: Poller;
}

impl<C: Policy, L: Poller> Parts for (C, L) {
    type Policy = C;
    type Poller = L;
}
