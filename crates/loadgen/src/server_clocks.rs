//! The CPU clocks of the server's processes, read at both edges of the window through a given
//! function. The session decides when to read them.

use std::{fmt, sync::Arc};
use wirebench_schema::load::EdgeClocks;

use crate::outcome::Outcome;

/// CPU time of each process that is known, in nanoseconds and always in the same order; none of a
/// process that has ended.
pub(crate) type Reading = Vec<Option<u64>>;

/// Reads the clocks. The default reads none.
#[derive(Clone)]
pub struct ServerClocks(Arc<dyn Fn() -> Reading + Send + Sync>);

impl ServerClocks {
    /// Reads them with this function, on a thread that loads, at the edges of the window: it must
    /// be quick.
    pub fn new(read: impl Fn() -> Vec<Option<u64>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    fn read(&self) -> Reading {
        (self.0)()
    }
}

impl Default for ServerClocks {
    fn default() -> Self {
        Self::new(Vec::new)
    }
}

impl fmt::Debug for ServerClocks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ServerClocks")
    }
}

/// The readings of one thread at the edges of its window.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Readings {
    pub(crate) start: Reading,
    pub(crate) end: Reading,
    /// The sum over all processes when the load began, and after each segment of it.
    pub(crate) series_ns: Vec<u64>,
}

/// Reads the clocks at the edges of a window, and where connections are kept also within it.
#[derive(Debug, Default)]
pub(crate) struct AtEdges {
    clocks: ServerClocks,
    readings: Readings,
    /// The length of a segment, where the sum is read after each.
    segment_ns: Option<u64>,
    next_ns: Option<u64>,
}

impl AtEdges {
    pub(crate) fn new(clocks: ServerClocks, segment_ns: Option<u64>) -> Self {
        Self { clocks, segment_ns, ..Self::default() }
    }

    /// The load begins then.
    pub(crate) fn load_begins(&mut self, start_ns: u64) {
        self.next_ns = self.segment_ns.map(|_| start_ns);
    }

    /// Time of the next reading of the sum.
    pub(crate) fn next_ns(&self) -> u64 {
        self.next_ns.unwrap_or(u64::MAX)
    }

    /// Reads the sum if it is time. Segments that were slept through have no growth of their own.
    pub(crate) fn pass(&mut self, now_ns: u64) {
        let (Some(segment_ns), Some(mut next_ns)) = (self.segment_ns, self.next_ns) else { return };
        if now_ns < next_ns {
            return;
        }
        let sum_ns = self.clocks.read().into_iter().flatten().sum();
        while now_ns >= next_ns {
            self.readings.series_ns.push(sum_ns);
            next_ns += segment_ns;
        }
        self.next_ns = Some(next_ns);
    }

    pub(crate) fn window_begins(&mut self) {
        self.readings.start = self.clocks.read();
    }

    pub(crate) fn window_ends(&mut self) {
        self.readings.end = self.clocks.read();
        self.next_ns = None;
    }

    /// The readings.
    pub(crate) fn take_readings(&mut self) -> Readings {
        std::mem::take(&mut self.readings)
    }
}

/// What the threads have read at the edges of the window; nothing where none was to be read, or
/// where the window never began. A count ends on one thread after the other, and the window with
/// the last of them.
pub(crate) fn at_edges(outcomes: &[Outcome]) -> Option<EdgeClocks> {
    let first = outcomes.first()?;
    // Of equal ones the last is taken: the first thread, which always reads.
    let last = outcomes.iter().rev().max_by_key(|outcome| outcome.window_end_ns)?;
    let clocks = EdgeClocks {
        start_ns: first.server_cpu_ns.start.clone(),
        end_ns: last.server_cpu_ns.end.clone(),
        series_ns: first.server_cpu_ns.series_ns.clone(),
    };
    (!clocks.start_ns.is_empty()).then_some(clocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Histograms;
    use wirebench_schema::load::LoadModel;

    fn outcome(window_end_ns: Option<u64>, start: &[u64], end: &[u64]) -> Outcome {
        let reading = |clocks: &[u64]| clocks.iter().copied().map(Some).collect();
        Outcome {
            rest: Vec::new(),
            unanswered: Histograms::new(&LoadModel::Closed, 2).unanswered(),
            replies_per_connection: Vec::new(),
            idle_made: 0,
            idle_lost: 0,
            window_end_ns,
            in_flight: 0,
            cpu_ns: 0,
            server_cpu_ns: Readings {
                start: reading(start),
                end: reading(end),
                series_ns: Vec::new(),
            },
            gave_up_requests: 0,
        }
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

    #[test]
    fn the_sum_is_read_once_after_each_segment_until_the_window_ends() {
        let clock = std::sync::atomic::AtomicU64::new(0);
        let read =
            move || vec![Some(clock.fetch_add(10, std::sync::atomic::Ordering::Relaxed)), None];
        let mut clocks = AtEdges::new(ServerClocks::new(read), Some(20));
        assert_eq!(clocks.next_ns(), u64::MAX);
        clocks.load_begins(100);
        for now_ns in [99, 100, 110, 121, 165, 170] {
            clocks.pass(now_ns);
        }
        assert_eq!(clocks.next_ns(), 180);
        clocks.window_ends();
        clocks.pass(200);
        assert_eq!(clocks.take_readings().series_ns, [0, 10, 20, 20]);
    }
}
