//! What one thread hands back when its part of the load is over.

use crate::recorder::Record;

/// The result of one thread.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What was counted and measured.
    pub(crate) record: Record,
    /// When the window ended for this thread; nothing if it never began.
    pub(crate) window_end_ns: Option<u64>,
    /// Requests without an answer at that moment.
    pub(crate) in_flight: u64,
    /// CPU time of the thread in the window.
    pub(crate) cpu_ns: u64,
    /// Requests of a count that were never offered, because the server was gone.
    pub(crate) gave_up_requests: u64,
}
