//! The result of one thread at the end of its part of the load, without the segments collected
//! before.

use wirebench_schema::load::EdgeClocks;

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
    /// The server's clocks when the window began and ended for this thread; empty where it read
    /// none.
    pub(crate) server_cpu_ns: EdgeClocks,
    /// Requests of a count that were never offered, because the server was gone.
    pub(crate) gave_up_requests: u64,
}

/// What the threads have read at the edges of the window; nothing where none was to be read, or
/// where the window never began. A count ends on one thread after the other, and the window with
/// the last of them.
pub(crate) fn at_edges(outcomes: &[Outcome]) -> Option<EdgeClocks> {
    let first = outcomes.first()?;
    // Of equal ones the last is taken: the first thread, which always reads.
    let last = outcomes.iter().rev().max_by_key(|outcome| outcome.window_end_ns)?;
    let (start_ns, end_ns) = (&first.server_cpu_ns.start_ns, &last.server_cpu_ns.end_ns);
    (!start_ns.is_empty())
        .then(|| EdgeClocks { start_ns: start_ns.clone(), end_ns: end_ns.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(window_end_ns: Option<u64>, start: &[u64], end: &[u64]) -> Outcome {
        let reading = |clocks: &[u64]| clocks.iter().copied().map(Some).collect();
        let server_cpu_ns = EdgeClocks { start_ns: reading(start), end_ns: reading(end) };
        Outcome { window_end_ns, server_cpu_ns, ..Outcome::default() }
    }

    #[test]
    fn the_window_ends_with_the_thread_that_ends_last() {
        let threads = [
            outcome(Some(5), &[1], &[10]),
            outcome(Some(9), &[2], &[30]),
            outcome(Some(7), &[3], &[20]),
        ];
        let clocks = at_edges(&threads).unwrap();
        assert_eq!((clocks.start_ns, clocks.end_ns), (vec![Some(1)], vec![Some(30)]));
    }

    #[test]
    fn of_threads_that_end_together_the_first_has_read() {
        let threads = [outcome(Some(9), &[1], &[10]), outcome(Some(9), &[], &[])];
        assert_eq!(at_edges(&threads).unwrap().end_ns, [Some(10)]);
        assert_eq!(at_edges(&[outcome(None, &[], &[])]), None);
    }
}
