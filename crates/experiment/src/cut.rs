//! How long the visits of a workload are, and how many rounds of them a cohort has. Pure.

use std::time::Duration;
use wirebench_schema::suite::Workload;

/// How long a visit counts. Longer ones, of which there are fewer in the same time, scatter as much.
const LENGTH: Duration = Duration::from_millis(20);
/// What a visit takes besides, for the estimate of time: its discard, and the rest before it.
const ASSUMED_PER_VISIT: Duration = Duration::from_millis(10);
/// What the start and the warm-up of an instance take, for the estimate of time; about two loads share
/// them.
const ASSUMED_START: Duration = Duration::from_millis(200);
/// The fewest rounds: a mirrored pair.
const FEWEST_ROUNDS: u32 = 2;

/// How visits are cut, where it was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cut {
    pub visit: Option<Duration>,
    pub rounds: Option<u32>,
}

impl Cut {
    /// How long the visits of `workload` are, and how many each instance has in a cohort: together
    /// they are at least as long as its window.
    #[must_use]
    pub fn of(&self, workload: &Workload) -> (Duration, u32) {
        let length = self.visit.unwrap_or(LENGTH);
        let window = workload.stop.length().unwrap_or(length);
        let fitting = window.as_nanos().div_ceil(length.as_nanos().max(1));
        let rounds = u32::try_from(fitting).unwrap_or(u32::MAX).max(FEWEST_ROUNDS);
        (length, self.rounds.unwrap_or(rounds))
    }

    /// How long a run of `workload` takes in this many idle modes, about.
    pub(crate) fn estimate(&self, workload: &Workload, modes: u32) -> Duration {
        let (length, rounds) = self.of(workload);
        let whole = |part| workload.model.whole_intervals(part);
        let visit = whole(length) + whole(ASSUMED_PER_VISIT);
        ASSUMED_START.saturating_add(visit.saturating_mul(rounds.saturating_mul(modes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::Stop;

    #[test]
    fn visits_fill_the_window_and_come_in_a_pair_at_least() {
        let lines = "duration = \"700ms\"\nphases = [\"saturate\", \"cost\"]\nrate = 0.5";
        let suite = crate::fixtures::suite("blocks = 1", &[lines]);
        let of = |cut: Cut| suite.workloads.iter().map(|it| cut.of(it)).collect::<Vec<_>>();
        let ms = Duration::from_millis;
        assert_eq!(of(Cut::default()), [(ms(20), 35); 2]);
        assert_eq!(of(Cut { visit: Some(ms(900)), rounds: None }), [(ms(900), 2); 2]);
        let few = Cut { rounds: Some(1), ..Cut::default() };
        assert_eq!(of(few)[0], (ms(20), 1));
        let times = [1, 2].map(|modes| few.estimate(&suite.workloads[0], modes));
        assert_eq!(times, [ms(230), ms(260)]);
        assert_eq!(few.estimate(&suite.workloads[1], 2), ms(8200));
        let stop = Stop::After(ms(30));
        assert_eq!(Cut::default().of(&Workload { stop, ..suite.workloads[1].clone() }).1, 2);
    }
}
