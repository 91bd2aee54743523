//! The start and end of a window.

/// The moments that all threads share, in nanoseconds of the load's clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Edges {
    /// The first request may be sent.
    pub(crate) start_ns: u64,
    pub(crate) window_start_ns: u64,
    /// The window ends; `u64::MAX` when a count ends it.
    pub(crate) window_end_ns: u64,
}

impl Edges {
    /// The edges of a window that has not been requested.
    pub(super) const fn never() -> Self {
        Self { start_ns: u64::MAX, window_start_ns: u64::MAX, window_end_ns: u64::MAX }
    }
}

/// Requests that were due and had no answer at the beginning, in the middle and at the end of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingRequests {
    pub(super) waiting: [u64; 3],
    /// The middle of the window, until it has passed.
    pub(super) middle_ns: u64,
}

impl Default for WaitingRequests {
    fn default() -> Self {
        Self { waiting: [0; 3], middle_ns: u64::MAX }
    }
}
