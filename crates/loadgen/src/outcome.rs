//! The result of one thread at the end of its part of the load, without the segments collected
//! before.

use crate::{segment::Segment, server_clocks::Readings, unanswered::Unanswered};

/// The result of one thread.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The segments that have not been collected.
    pub(crate) rest: Vec<Segment>,
    /// Requests of the window without a reply.
    pub(crate) unanswered: Unanswered,
    /// Correct replies of each connection in the window.
    pub(crate) replies_per_connection: Vec<u64>,
    /// Silent connections that could be made.
    pub(crate) idle_made: u64,
    /// Silent connections that were lost.
    pub(crate) idle_lost: u64,
    /// End of the window for this thread; none if it never began.
    pub(crate) window_end_ns: Option<u64>,
    /// Requests without an answer at that moment.
    pub(crate) in_flight: u64,
    /// CPU time of the thread in the window.
    pub(crate) cpu_ns: u64,
    /// The server's clocks when the window began and ended for this thread; empty where it read
    /// none.
    pub(crate) server_cpu_ns: Readings,
    /// Requests of a count that were never offered, because the server was gone.
    pub(crate) gave_up_requests: u64,
}
