//! The result of one thread at the end of its part of the load, without the segments collected
//! before.

use crate::segment::Segment;

#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The segments that have not been collected.
    pub(crate) rest: Vec<Segment>,
    /// Correct replies of each connection in the window.
    pub(crate) replies_per_connection: Vec<u64>,
    /// Silent connections that could be made.
    pub(crate) idle_made: u64,
    pub(crate) idle_lost: u64,
    /// End of the window for this thread; none if it never began.
    pub(crate) window_end_ns: Option<u64>,
    /// Requests without an answer at that moment.
    pub(crate) in_flight: u64,
    /// Connections whose oldest request in flight is older than half of the window.
    pub(crate) unanswered_connections: u64,
    /// CPU time of the thread in the window.
    pub(crate) cpu_ns: u64,
    /// Requests of a count that were never offered, because the server was gone.
    pub(crate) gave_up_requests: u64,
}
