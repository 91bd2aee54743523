//! The parts of a window whose rate changes, added up from the segments of all threads.

use wirebench_schema::load::{LatencySummary, RateStep, Samples};

use crate::segment::{Histograms, Segment};

#[derive(Debug, Default)]
pub(crate) struct Steps(Vec<Step>);

#[derive(Debug)]
struct Step {
    step: RateStep,
    latency: Samples,
}

impl Steps {
    pub(crate) fn new(steps: Vec<RateStep>, histograms: Histograms) -> Self {
        let step = |step| Step { step, latency: histograms.coarse_latency() };
        Self(steps.into_iter().map(step).collect())
    }

    /// Adds a segment of the window. Of one in which the rate changes, the counts are spread evenly, and the
    /// latencies belong to neither step.
    pub(crate) fn add(&mut self, segment: &Segment, window_start_ns: u64) {
        let last = self.0.len().saturating_sub(1);
        for (place, Step { step, latency }) in self.0.iter_mut().enumerate() {
            let start_ns = window_start_ns.saturating_add(step.start_ns);
            // What happens after the end of the window belongs to its last step.
            let end_ns =
                if place == last { u64::MAX } else { start_ns.saturating_add(step.length_ns) };
            if segment.start_ns >= end_ns || segment.end_ns.max(segment.start_ns + 1) <= start_ns {
                continue;
            }
            let (from_ns, to_ns) = (segment.start_ns.max(start_ns), segment.end_ns.min(end_ns));
            let is_whole = (from_ns, to_ns) == (segment.start_ns, segment.end_ns);
            let part = |count| match is_whole {
                true => count,
                false => segment.part(count, from_ns, to_ns),
            };
            step.requests += part(segment.counts.requests);
            step.errors += part(segment.counts.errors.total());
            if is_whole {
                latency.add(&segment.latency);
            }
        }
    }

    pub(crate) fn finish(self) -> Vec<RateStep> {
        let finish = |Step { step, latency }: Step| RateStep {
            latency: LatencySummary::of_samples(&latency),
            ..step
        };
        self.0.into_iter().map(finish).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::LoadModel;

    const HISTOGRAMS: Histograms = Histograms::new(&LoadModel::Closed, 1_000_000_000);
    const START_NS: u64 = 1_000;

    fn segment(start_ns: u64, end_ns: u64, requests: u64) -> Segment {
        let mut segment = Segment::new(HISTOGRAMS);
        (segment.start_ns, segment.end_ns) = (START_NS + start_ns, START_NS + end_ns);
        segment.counts.requests = requests;
        segment.counts.errors.reset = requests / 5;
        (0..requests).for_each(|_| segment.latency.reply(5_000));
        segment
    }

    #[test]
    fn counts_are_spread_over_an_edge_and_latencies_there_belong_to_no_step() {
        let step = |start_ns| RateStep { start_ns, length_ns: 150, ..RateStep::default() };
        let mut steps = Steps::new(vec![step(0), step(150)], HISTOGRAMS);
        let segments = [(0, 100, 10), (100, 200, 20), (200, 300, 40), (300, 300, 0), (300, 400, 5)];
        for (start_ns, end_ns, requests) in segments {
            steps.add(&segment(start_ns, end_ns, requests), START_NS);
        }
        let found = steps.finish();
        let counts: Vec<_> = found.iter().map(|it| (it.requests, it.errors)).collect();
        assert_eq!(counts, [(20, 4), (55, 11)]);
        let samples = found.iter().map(|it| it.latency.as_ref().map(|it| it.count));
        assert_eq!(samples.collect::<Vec<_>>(), [Some(10), Some(45)]);
    }
}
