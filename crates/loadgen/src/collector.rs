//! Adds up the segments of all threads, on another thread: to the totals of the window, and to the
//! intervals reported while the load runs.

use std::collections::VecDeque;
use wirebench_schema::load::{
    Interval, LatencySummary, PIECE_NS, Phase, RateStep, ReplySeries, Samples, add_classes,
};

use crate::{
    segment::{Histograms, Segment},
    steps::Steps,
};

/// Correct replies of one thread in one segment of the window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ThreadSegment {
    pub(crate) length_ns: u64,
    pub(crate) requests: u64,
}

#[derive(Debug)]
pub(crate) struct Collector {
    /// The window, and failures before the load began.
    total: Segment,
    per_thread: Vec<ThreadSegment>,
    /// Correct replies in each whole piece of the window, over all threads.
    pieces: Vec<u64>,
    steps: Steps,
    /// Intervals to which segments are still missing, in the order of time.
    open: VecDeque<Open>,
    reached_ns: Vec<u64>,
    /// The end of the last segment.
    last_end_ns: u64,
    histograms: Histograms,
    /// Whether intervals keep their samples, because those of other hosts are added to them.
    pub(crate) keeps_samples: bool,
    /// None if there are only totals.
    interval_ns: Option<u64>,
    start_ns: u64,
    window_start_ns: u64,
}

/// An interval to which segments are still missing.
#[derive(Debug)]
struct Open {
    /// Its start is that of the clock, not of the load.
    interval: Interval,
    end_ns: u64,
    latency: Samples,
}

/// The results at the end of the load.
#[derive(Debug)]
pub(crate) struct Collected {
    /// The window, and failures before the load began.
    pub(crate) total: Segment,
    /// The segments of the window, of each thread.
    pub(crate) per_thread: Vec<ThreadSegment>,
    /// Correct replies over the window, over all threads.
    pub(crate) reply_series: ReplySeries,
    /// The window in parts, where its rate changes.
    pub(crate) steps: Vec<RateStep>,
}

impl Collector {
    /// For `threads` threads with histograms like these.
    pub(crate) fn new(histograms: Histograms, interval_ns: Option<u64>, threads: usize) -> Self {
        Self {
            total: Segment::new(histograms),
            per_thread: Vec::new(),
            pieces: Vec::new(),
            steps: Steps::default(),
            open: VecDeque::new(),
            reached_ns: vec![0; threads],
            last_end_ns: 0,
            histograms,
            keeps_samples: false,
            interval_ns,
            start_ns: 0,
            window_start_ns: u64::MAX,
        }
    }

    /// The same, for a window in these steps.
    pub(crate) fn with_steps(self, steps: Vec<RateStep>) -> Self {
        Self { steps: Steps::new(steps, self.histograms), ..self }
    }

    /// The load begins then, and its window.
    pub(crate) const fn start(&mut self, start_ns: u64, window_start_ns: u64) {
        self.start_ns = start_ns;
        self.window_start_ns = window_start_ns;
    }

    /// Adds a segment of this thread; each thread's come in the order of time.
    pub(crate) fn add(&mut self, thread: usize, segment: &Segment) {
        let Some(phase) = segment.phase else {
            self.total.add(segment);
            return;
        };
        self.reached_ns[thread] = self.reached_ns[thread].max(segment.end_ns);
        self.last_end_ns = self.last_end_ns.max(segment.end_ns);
        match phase {
            Phase::Window => self.add_to_window(segment),
            // Connections are those of the whole load, like their failures before it.
            Phase::Warmup => self.total.add_connects(segment),
        }
        if let Some(interval_ns) = self.interval_ns.filter(|_| segment.end_ns > segment.start_ns) {
            self.add_to_intervals(phase, segment, interval_ns);
        }
    }

    fn add_to_window(&mut self, segment: &Segment) {
        self.total.add(segment);
        self.steps.add(segment, self.window_start_ns);
        let requests = segment.counts.requests;
        let length_ns = segment.end_ns.saturating_sub(segment.start_ns);
        if length_ns < PIECE_NS || self.interval_ns.is_none() {
            return;
        }
        self.per_thread.push(ThreadSegment { length_ns, requests });
        let mut at_ns = segment.start_ns;
        while at_ns < segment.end_ns {
            let piece = at_ns.saturating_sub(self.window_start_ns) / PIECE_NS;
            let until_ns = self.window_start_ns + (piece + 1) * PIECE_NS;
            // The time after the last whole piece is ignored.
            if until_ns > segment.end_ns {
                return;
            }
            // A window has far fewer pieces than memory has bytes.
            let place = usize::try_from(piece).unwrap_or(0);
            if self.pieces.len() <= place {
                self.pieces.resize(place + 1, 0);
            }
            self.pieces[place] += segment.part(requests, at_ns, until_ns);
            at_ns = until_ns;
        }
    }

    /// A segment that could not be handed over in time may lie in several intervals. Within it nothing
    /// is known, so its counts are spread evenly; its latencies, kinds of errors and statuses are
    /// reported with the first.
    fn add_to_intervals(&mut self, phase: Phase, segment: &Segment, interval_ns: u64) {
        let counts = &segment.counts;
        let mut at_ns = segment.start_ns;
        while at_ns < segment.end_ns {
            let open = self.interval_of(phase, at_ns, interval_ns);
            // Counts after the end of their phase stay in the phase's last interval.
            let within = open.end_ns > at_ns;
            let until_ns = if within { open.end_ns.min(segment.end_ns) } else { segment.end_ns };
            let Open { interval, latency, .. } = open;
            interval.requests += segment.part(counts.requests, at_ns, until_ns);
            interval.errors += segment.part(counts.errors.total(), at_ns, until_ns);
            interval.bytes_received += segment.part(counts.bytes_received, at_ns, until_ns);
            if at_ns == segment.start_ns {
                latency.add(&segment.latency);
                interval.errors_by_kind.add(&counts.errors);
                if counts.status_classes != [0; 5] {
                    interval.status_classes =
                        add_classes(&interval.status_classes, &counts.status_classes);
                }
            }
            at_ns = until_ns;
        }
    }

    /// A thread does nothing more: no interval waits for it.
    pub(crate) fn gone(&mut self, thread: usize) {
        if let Some(reached_ns) = self.reached_ns.get_mut(thread) {
            *reached_ns = u64::MAX;
        }
    }

    fn interval_of(&mut self, phase: Phase, start_ns: u64, interval_ns: u64) -> &mut Open {
        let phase_start_ns = match phase {
            Phase::Warmup => self.start_ns,
            Phase::Window => self.window_start_ns,
        };
        let index = start_ns.saturating_sub(phase_start_ns) / interval_ns;
        let start_ns = phase_start_ns + index * interval_ns;
        let end_ns = match phase {
            Phase::Warmup => start_ns.saturating_add(interval_ns).min(self.window_start_ns),
            Phase::Window => start_ns.saturating_add(interval_ns),
        };
        let place = self.open.partition_point(|open| open.interval.start_ns < start_ns);
        if self.open.get(place).is_none_or(|open| open.interval.start_ns != start_ns) {
            let interval = Interval { phase, start_ns, ..Interval::default() };
            self.open.insert(place, Open { interval, end_ns, latency: self.histograms.latency() });
        }
        &mut self.open[place]
    }

    /// The next interval that all threads have passed.
    pub(crate) fn next_interval(&mut self) -> Option<Interval> {
        // When all threads are gone, the last interval is as long as they were there.
        let reached_ns = self.reached_ns.iter().min().copied().filter(|ns| *ns < u64::MAX)?;
        let open = self.open.pop_front_if(|open| open.end_ns <= reached_ns)?;
        Some(self.interval(open, u64::MAX))
    }

    /// The final results: the incomplete intervals, and the totals.
    pub(crate) fn finish(mut self) -> (Vec<Interval>, Collected) {
        let reached_ns = self.last_end_ns;
        let open = std::mem::take(&mut self.open);
        let last = open
            .into_iter()
            .map(|open| self.interval(open, reached_ns))
            .filter(|interval| interval.length_ns > 0)
            .collect();
        let Self { total, per_thread, pieces, steps, .. } = self;
        let reply_series = ReplySeries::of_pieces(&pieces);
        (last, Collected { total, per_thread, reply_series, steps: steps.finish() })
    }

    #[allow(clippy::cast_precision_loss, reason = "counts of an interval are far below 2^53")]
    fn interval(&self, open: Open, reached_ns: u64) -> Interval {
        let Open { interval, end_ns, latency } = open;
        let length_ns = end_ns.min(reached_ns).saturating_sub(interval.start_ns);
        let samples = self.keeps_samples.then(|| LatencySummary::of_samples(&latency));
        let interval = Interval {
            start_ns: interval.start_ns.saturating_sub(self.start_ns),
            length_ns,
            requests_per_second: match length_ns {
                0 => 0.0,
                _ => interval.requests as f64 * 1e9 / length_ns as f64,
            },
            latency: samples.flatten().map(Box::new),
            ..interval
        };
        interval.with_latency(&latency.estimate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::LoadModel;

    const HISTOGRAMS: Histograms = Histograms::new(&LoadModel::Closed, 1_000_000_000);

    fn segment(phase: Option<Phase>, start_ns: u64, end_ns: u64, requests: u64) -> Segment {
        let mut segment = Segment::new(HISTOGRAMS);
        (segment.phase, segment.start_ns, segment.end_ns) = (phase, start_ns, end_ns);
        segment.counts.requests = requests;
        (0..requests).for_each(|_| segment.latency.reply(5000));
        segment
    }

    fn window(start: u64, end: u64, requests: u64) -> Segment {
        segment(Some(Phase::Window), PIECE_NS * start, PIECE_NS * end, requests)
    }

    fn collector(interval_segments: u64, threads: usize) -> Collector {
        let mut collector = Collector::new(HISTOGRAMS, Some(interval_segments * PIECE_NS), threads);
        collector.start(PIECE_NS, 2 * PIECE_NS);
        collector
    }

    #[test]
    fn an_interval_is_reported_when_all_threads_have_passed_it() {
        let mut collector = collector(2, 2);
        collector.add(0, &window(2, 3, 10));
        collector.add(0, &window(3, 4, 10));
        collector.add(1, &window(2, 3, 20));
        assert_eq!(collector.next_interval(), None);
        collector.add(1, &window(3, 4, 20));
        let interval = collector.next_interval().unwrap();
        assert_eq!((interval.requests, interval.length_ns), (60, 2 * PIECE_NS));
        assert_eq!((interval.start_ns, interval.phase), (PIECE_NS, Phase::Window));
        assert!((interval.requests_per_second - 300.0).abs() < 1e-9);
        assert!(interval.latency_ns_p50.unwrap().abs_diff(5000) < 10);
        assert_eq!(collector.next_interval(), None);
    }

    #[test]
    fn the_warm_up_has_intervals_but_no_share_in_the_total() {
        let mut collector = collector(1, 1);
        collector.add(0, &segment(Some(Phase::Warmup), PIECE_NS, 2 * PIECE_NS, 7));
        assert_eq!(collector.next_interval().map(|interval| interval.requests), Some(7));
        collector.add(0, &window(2, 3, 5));
        let (_, collected) = collector.finish();
        assert_eq!(
            (collected.total.counts.requests, collected.total.latency.replies.len()),
            (5, 5)
        );
    }

    #[test]
    fn a_long_segment_is_spread_evenly_and_a_short_one_is_no_whole_piece() {
        let mut collector = collector(1, 2);
        collector.add(0, &window(2, 5, 10));
        collector.add(1, &window(3, 4, 5));
        collector.add(0, &segment(Some(Phase::Window), 5 * PIECE_NS, 5 * PIECE_NS + 9, 3));
        let (_, collected) = collector.finish();
        assert_eq!(collected.reply_series.replies, [3, 8, 4]);
        assert_eq!(collected.total.counts.requests, 18);
    }

    #[test]
    fn a_segment_that_outlasts_its_interval_is_spread_over_several() {
        let mut collector = collector(1, 2);
        collector.add(0, &window(2, 5, 30));
        for start in 2..5 {
            collector.add(1, &window(start, start + 1, 1));
        }
        let told: Vec<_> = std::iter::from_fn(|| collector.next_interval()).collect();
        let parts: Vec<_> = told.iter().map(|told| (told.requests, told.length_ns)).collect();
        assert_eq!(parts, [(11, PIECE_NS), (11, PIECE_NS), (11, PIECE_NS)]);
    }

    #[test]
    fn intervals_are_reported_although_one_thread_has_ended() {
        let mut collector = collector(1, 2);
        collector.add(1, &window(2, 3, 1));
        collector.gone(1);
        let mut told = 0;
        for piece in 2..502 {
            collector.add(0, &window(piece, piece + 1, 1));
            told += std::iter::from_fn(|| collector.next_interval()).count();
        }
        assert_eq!((told, collector.open.len()), (500, 0));
    }

    #[test]
    fn a_long_last_segment_is_not_squeezed_into_one_piece() {
        let mut collector = collector(1, 1);
        let end_ns = 2 * PIECE_NS + 199_000_000;
        collector.add(0, &segment(Some(Phase::Window), 2 * PIECE_NS, end_ns, 199));
        assert_eq!(collector.finish().1.reply_series.replies, [100]);
    }

    #[test]
    fn the_last_interval_is_reported_with_its_length() {
        let mut collector = collector(10, 1);
        collector.add(0, &window(2, 3, 5));
        let (last, _) = collector.finish();
        assert_eq!(last.len(), 1);
        assert_eq!((last[0].requests, last[0].length_ns), (5, PIECE_NS));
    }

    #[test]
    fn a_day_has_no_more_numbers_than_an_hour() {
        let mut collector = collector(600, 1);
        let day = 24 * 3600 * 10;
        collector.add(0, &window(2, 2 + day, 20 * day));
        let series = collector.finish().1.reply_series;
        assert!(series.replies.len() <= 36_000, "{} numbers", series.replies.len());
        assert_eq!(series.replies.iter().sum::<u64>(), 20 * day);
    }
}
