//! How long the slices of a workload are, and how many rounds of them a cohort has. Pure.

use std::time::Duration;
use wirebench_schema::{
    load::{LoadModel, Stop},
    suite::Workload,
};

/// How long a slice counts in a closed loop, and at a rate, where requests come in smaller numbers.
const CLOSED_LENGTH: Duration = Duration::from_millis(20);
const RATE_LENGTH: Duration = Duration::from_millis(50);
/// What a slice takes besides, for the estimate of time: its discard, and the rest before it.
const ASSUMED_PER_SLICE: Duration = Duration::from_millis(10);
/// What the start and the warm-up of an instance take, for the estimate of time; about two loads share
/// them.
const ASSUMED_START: Duration = Duration::from_millis(200);
/// The fewest rounds: a mirrored pair.
const FEWEST_ROUNDS: u32 = 2;
/// At a rate slices scatter more, so there are as many as in a closed loop of the same length, up to this.
const ENOUGH_AT_RATE: u32 = 8;

/// How slices are cut, where it was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cut {
    pub slice: Option<Duration>,
    pub rounds: Option<u32>,
}

impl Cut {
    /// How long the slices of `workload` are, and how many each instance has in a cohort: together
    /// they are at least as long as its window.
    #[must_use]
    pub fn of(&self, workload: &Workload) -> (Duration, u32) {
        let is_closed = workload.model == LoadModel::Closed && !workload.needs_rate();
        let usual = if is_closed { CLOSED_LENGTH } else { RATE_LENGTH };
        let length = self.slice.unwrap_or(usual);
        let window = match workload.stop {
            Stop::After(window) => window,
            Stop::Requests(_) | Stop::RequestsPerConnection(_) => length,
        };
        let fitting = |length: Duration| {
            u32::try_from(window.as_nanos().div_ceil(length.as_nanos().max(1))).unwrap_or(u32::MAX)
        };
        // A length that was asked for decides alone how many there are.
        let least = if is_closed || self.slice.is_some() { 0 } else { fitting(CLOSED_LENGTH) };
        let rounds = fitting(length).max(least.min(ENOUGH_AT_RATE)).max(FEWEST_ROUNDS);
        (length, self.rounds.unwrap_or(rounds))
    }

    /// How long a run of `workload` takes in this many idle modes, about.
    pub(crate) fn estimate(&self, workload: &Workload, modes: u32) -> Duration {
        let (length, rounds) = self.of(workload);
        let slices = rounds.saturating_mul(modes);
        ASSUMED_START.saturating_add((length + ASSUMED_PER_SLICE).saturating_mul(slices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_fill_the_window_and_come_in_a_pair_at_least_and_more_at_a_rate() {
        let lines = "duration = \"700ms\"\nphases = [\"saturate\", \"cost\"]\nrate = 100";
        let suite = crate::fixtures::suite("blocks = 1", &[lines]);
        let of = |cut: Cut| suite.workloads.iter().map(|it| cut.of(it)).collect::<Vec<_>>();
        let ms = Duration::from_millis;
        assert_eq!(of(Cut::default()), [(ms(20), 35), (ms(50), 14)]);
        let long = Cut { slice: Some(ms(900)), rounds: None };
        assert_eq!(of(long), [(ms(900), 2), (ms(900), 2)]);
        let few = Cut { slice: None, rounds: Some(1) };
        assert_eq!(of(few)[0], (ms(20), 1));
        assert_eq!(
            [1, 2].map(|modes| few.estimate(&suite.workloads[0], modes)),
            [ms(230), ms(260)]
        );
        let at_rate = |window: Duration| {
            let workload = Workload { stop: Stop::After(window), ..suite.workloads[1].clone() };
            Cut::default().of(&workload).1
        };
        assert_eq!([100, 400, 600, 2000].map(ms).map(at_rate), [5, 8, 12, 40]);
    }
}
