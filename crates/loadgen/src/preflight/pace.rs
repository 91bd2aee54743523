//! The pace of the requests before a load.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::load::{LoadConfig, LoadModel};

use super::learn::LEARNING_LIMIT;

/// Interval of the check whether to give up a wait.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// The turns of single requests, which are no faster than their load: the rate is a promise to a service.
#[derive(Debug)]
pub(super) struct RequestPace {
    gap: Duration,
    began: Instant,
    taken: u32,
}

impl RequestPace {
    pub(super) fn new(config: &LoadConfig) -> Self {
        let gap = match &config.model {
            LoadModel::Rate { curve, .. } => {
                let seconds = config.share.count as f64 / curve.first();
                Duration::try_from_secs_f64(seconds).unwrap_or(LEARNING_LIMIT)
            }
            LoadModel::Closed | LoadModel::Think { .. } => Duration::ZERO,
        };
        Self { gap, began: Instant::now(), taken: 0 }
    }

    /// Waits for the next one. There is none once a load with a rate has taken its time, or was stopped.
    pub(super) fn next(&mut self, stop: &AtomicBool) -> bool {
        let due = self.gap.saturating_mul(self.taken);
        let is_in_time = due <= LEARNING_LIMIT;
        self.taken += u32::from(is_in_time);
        is_in_time && self.wait(due, stop)
    }

    /// Waits until the load may send the next one.
    pub(super) fn end(&self, stop: &AtomicBool) {
        self.wait(self.gap.saturating_mul(self.taken), stop);
    }

    fn wait(&self, due: Duration, stop: &AtomicBool) -> bool {
        while !stop.load(Ordering::Relaxed) {
            let early = due.saturating_sub(self.began.elapsed());
            if early.is_zero() {
                return true;
            }
            thread::sleep(early.min(STOP_INTERVAL));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::RateCurve;

    #[test]
    fn single_requests_are_no_faster_than_their_load_and_end_after_a_while() {
        let go_on = AtomicBool::new(false);
        let of = |model| LoadConfig { model, ..LoadConfig::default() };
        let mut free = RequestPace::new(&of(LoadModel::Closed));
        assert!((0..100).all(|_| free.next(&go_on)) && free.began.elapsed() < LEARNING_LIMIT);
        let mut slow = RequestPace::new(&of(LoadModel::rate(RateCurve::per_second(20))));
        assert!(slow.next(&go_on) && slow.next(&go_on) && slow.next(&go_on));
        assert!(slow.began.elapsed() >= Duration::from_millis(100));
        slow.taken = 41;
        assert!(!slow.next(&go_on));
        slow.taken = 6;
        slow.end(&go_on);
        assert!(slow.began.elapsed() >= Duration::from_millis(300));
        assert!(!free.next(&AtomicBool::new(true)));
    }
}
