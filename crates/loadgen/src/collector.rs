//! Adds up the slices of all threads, away from them: to the totals of the window, and to the
//! intervals that are told of while the load runs.

use std::collections::VecDeque;
use wirebench_schema::load::{Interval, Phase};

use crate::{
    recorder::SLICE_NS,
    slice::{Histograms, Slice},
};

/// Correct replies of one thread in one slice of the window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ThreadSlice {
    /// How long it was.
    pub(crate) length_ns: u64,
    /// How many.
    pub(crate) requests: u64,
}

/// What has been collected.
#[derive(Debug)]
pub(crate) struct Collector {
    /// The window, and what failed before the load began.
    total: Slice,
    per_thread: Vec<ThreadSlice>,
    requests_per_100ms: Vec<u64>,
    /// Intervals to which slices are still missing, in the order of time.
    open: VecDeque<Open>,
    /// How far each thread has come.
    reached_ns: Vec<u64>,
    histograms: Histograms,
    interval_ns: u64,
    start_ns: u64,
    window_start_ns: u64,
}

/// An interval to which slices are still missing.
#[derive(Debug)]
struct Open {
    phase: Phase,
    start_ns: u64,
    end_ns: u64,
    sum: Slice,
}

/// What remains when the load is over.
#[derive(Debug)]
pub(crate) struct Collected {
    /// The window, and what failed before the load began.
    pub(crate) total: Slice,
    /// The slices of the window, of each thread.
    pub(crate) per_thread: Vec<ThreadSlice>,
    /// Correct replies in each whole 100 ms of the window, over all threads.
    pub(crate) requests_per_100ms: Vec<u64>,
}

impl Collector {
    /// For so many threads, whose histograms are like these.
    pub(crate) fn new(histograms: Histograms, interval_ns: u64, threads: usize) -> Self {
        Self {
            total: Slice::new(histograms),
            per_thread: Vec::new(),
            requests_per_100ms: Vec::new(),
            open: VecDeque::new(),
            reached_ns: vec![0; threads],
            histograms,
            interval_ns: interval_ns.max(SLICE_NS),
            start_ns: 0,
            window_start_ns: u64::MAX,
        }
    }

    /// The load begins then, and its window.
    pub(crate) const fn start(&mut self, start_ns: u64, window_start_ns: u64) {
        self.start_ns = start_ns;
        self.window_start_ns = window_start_ns;
    }

    /// Adds a slice of this thread; each thread's come in the order of time.
    pub(crate) fn add(&mut self, thread: usize, slice: &Slice) {
        let Some(phase) = slice.phase else {
            self.total.add(slice);
            return;
        };
        self.reached_ns[thread] = slice.end_ns;
        match phase {
            Phase::Window => self.add_to_window(slice),
            // Connections are those of the whole load, like their failures before it.
            Phase::Warmup => self.total.add_connects(slice),
        }
        if slice.end_ns > slice.start_ns {
            let open = self.interval_of(phase, slice.start_ns);
            open.sum.add(slice);
            // A slice that could not be handed over in time may be longer than its interval, which
            // then is as long as it.
            open.end_ns = open.end_ns.max(slice.end_ns);
        }
    }

    fn add_to_window(&mut self, slice: &Slice) {
        self.total.add(slice);
        let requests = slice.counts.requests;
        let length_ns = slice.end_ns.saturating_sub(slice.start_ns);
        let pieces = length_ns / SLICE_NS;
        if pieces == 0 {
            return;
        }
        self.per_thread.push(ThreadSlice { length_ns, requests });
        let offset = slice.start_ns.saturating_sub(self.window_start_ns) / SLICE_NS;
        // A window has far fewer pieces than memory has bytes.
        let (first, pieces) =
            (usize::try_from(offset).unwrap_or(0), usize::try_from(pieces).unwrap_or(0));
        if self.requests_per_100ms.len() < first + pieces {
            self.requests_per_100ms.resize(first + pieces, 0);
        }
        // A slice that could not be handed over in time is longer than the others; within it nothing
        // is known.
        for piece in 0..pieces {
            let rest = u64::from((piece as u64) < requests % pieces as u64);
            self.requests_per_100ms[first + piece] += requests / pieces as u64 + rest;
        }
    }

    fn interval_of(&mut self, phase: Phase, start_ns: u64) -> &mut Open {
        let phase_start_ns = match phase {
            Phase::Warmup => self.start_ns,
            Phase::Window => self.window_start_ns,
        };
        let index = start_ns.saturating_sub(phase_start_ns) / self.interval_ns;
        let start_ns = phase_start_ns + index * self.interval_ns;
        let end_ns = match phase {
            Phase::Warmup => start_ns.saturating_add(self.interval_ns).min(self.window_start_ns),
            Phase::Window => start_ns.saturating_add(self.interval_ns),
        };
        let place = self.open.partition_point(|open| open.start_ns < start_ns);
        if self.open.get(place).is_none_or(|open| open.start_ns != start_ns) {
            let sum = Slice::new(self.histograms);
            self.open.insert(place, Open { phase, start_ns, end_ns, sum });
        }
        &mut self.open[place]
    }

    /// The next interval that all threads have passed.
    pub(crate) fn next_interval(&mut self) -> Option<Interval> {
        let reached_ns = self.reached_ns.iter().min().copied()?;
        let open = self.open.pop_front_if(|open| open.end_ns <= reached_ns)?;
        Some(self.interval(&open, open.end_ns))
    }

    /// What remains: the intervals that were not complete, and the totals.
    pub(crate) fn finish(mut self) -> (Vec<Interval>, Collected) {
        let reached_ns = self.reached_ns.iter().max().copied().unwrap_or(0);
        let open = std::mem::take(&mut self.open);
        let last = open
            .iter()
            .map(|open| self.interval(open, open.end_ns.min(reached_ns)))
            .filter(|interval| interval.length_ns > 0)
            .collect();
        let Self { total, per_thread, requests_per_100ms, .. } = self;
        (last, Collected { total, per_thread, requests_per_100ms })
    }

    #[allow(clippy::cast_precision_loss, reason = "counts of an interval are far below 2^53")]
    fn interval(&self, open: &Open, end_ns: u64) -> Interval {
        let length_ns = end_ns.saturating_sub(open.start_ns);
        let latency = &open.sum.latency;
        let of = |value: u64| (!latency.is_empty()).then_some(value);
        let counts = &open.sum.counts;
        Interval {
            phase: open.phase,
            start_ns: open.start_ns.saturating_sub(self.start_ns),
            length_ns,
            requests: counts.requests,
            requests_per_second: match length_ns {
                0 => 0.0,
                _ => counts.requests as f64 * 1e9 / length_ns as f64,
            },
            errors: counts.errors.total(),
            bytes_received: counts.bytes_received,
            latency_ns_p50: of(latency.value_at_quantile(0.5)),
            latency_ns_p99: of(latency.value_at_quantile(0.99)),
            latency_ns_max: of(latency.max()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::LoadModel;

    const HISTOGRAMS: Histograms = Histograms::new(&LoadModel::Closed, 1_000_000_000);

    fn slice(phase: Option<Phase>, start_ns: u64, end_ns: u64, requests: u64) -> Slice {
        let mut slice = Slice::new(HISTOGRAMS);
        (slice.phase, slice.start_ns, slice.end_ns) = (phase, start_ns, end_ns);
        slice.counts.requests = requests;
        slice.latency.saturating_record_n(5000, requests);
        slice
    }

    fn window(start: u64, end: u64, requests: u64) -> Slice {
        slice(Some(Phase::Window), SLICE_NS * start, SLICE_NS * end, requests)
    }

    fn collector(interval_slices: u64, threads: usize) -> Collector {
        let mut collector = Collector::new(HISTOGRAMS, interval_slices * SLICE_NS, threads);
        collector.start(SLICE_NS, 2 * SLICE_NS);
        collector
    }

    #[test]
    fn an_interval_is_told_when_all_threads_have_passed_it() {
        let mut collector = collector(2, 2);
        collector.add(0, &window(2, 3, 10));
        collector.add(0, &window(3, 4, 10));
        collector.add(1, &window(2, 3, 20));
        assert_eq!(collector.next_interval(), None);
        collector.add(1, &window(3, 4, 20));
        let interval = collector.next_interval().unwrap();
        assert_eq!((interval.requests, interval.length_ns), (60, 2 * SLICE_NS));
        assert_eq!((interval.start_ns, interval.phase), (SLICE_NS, Phase::Window));
        assert!((interval.requests_per_second - 300.0).abs() < 1e-9);
        assert!(interval.latency_ns_p50.unwrap().abs_diff(5000) < 10);
        assert_eq!(collector.next_interval(), None);
    }

    #[test]
    fn the_warm_up_has_intervals_but_no_share_in_the_total() {
        let mut collector = collector(1, 1);
        collector.add(0, &slice(Some(Phase::Warmup), SLICE_NS, 2 * SLICE_NS, 7));
        assert_eq!(collector.next_interval().map(|interval| interval.requests), Some(7));
        collector.add(0, &window(2, 3, 5));
        let (_, collected) = collector.finish();
        assert_eq!((collected.total.counts.requests, collected.total.latency.len()), (5, 5));
    }

    #[test]
    fn a_long_slice_is_spread_evenly_and_a_short_one_is_no_whole_piece() {
        let mut collector = collector(1, 2);
        collector.add(0, &window(2, 5, 10));
        collector.add(1, &window(3, 4, 5));
        collector.add(0, &slice(Some(Phase::Window), 5 * SLICE_NS, 5 * SLICE_NS + 9, 3));
        let (_, collected) = collector.finish();
        assert_eq!(collected.requests_per_100ms, [4, 8, 3]);
        assert_eq!(collected.total.counts.requests, 18);
    }

    #[test]
    fn an_interval_is_as_long_as_a_slice_that_outlasts_it() {
        let mut collector = collector(1, 1);
        collector.add(0, &window(2, 5, 30));
        let interval = collector.next_interval().unwrap();
        assert_eq!((interval.requests, interval.length_ns), (30, 3 * SLICE_NS));
        assert!((interval.requests_per_second - 100.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_left_at_the_end_is_told_as_long_as_it_was() {
        let mut collector = collector(10, 1);
        collector.add(0, &window(2, 3, 5));
        let (last, _) = collector.finish();
        assert_eq!(last.len(), 1);
        assert_eq!((last[0].requests, last[0].length_ns), (5, SLICE_NS));
    }
}
