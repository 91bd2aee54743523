//! Validity of a row, from the reasons of its runs: which runs are void, and whether the others suffice.
//!
//! Visits that clocks call disturbed are dropped before. Other work on the machine therefore voids no run, only its
//! tail latencies: visits of all servers alternate, so that it widens intervals and causes no difference. A run that
//! is void for another reason counts like one that failed, and the other cohorts decide.

use std::collections::BTreeSet;
use wirebench_schema::journal::{Reason, ReasonKind, Run, Weight};

/// Cohorts that must be left, or all where there are fewer: with less than three there is no interval.
const FEWEST: usize = 3;

/// Kinds of reasons that come from other work on the machine. A CPU limit is none of them: it pauses each side as often
/// as its own use reaches it.
const OTHER_WORK: [ReasonKind; 6] = [
    ReasonKind::ScheduleLag,
    ReasonKind::GeneratorStall,
    ReasonKind::Neighbour,
    ReasonKind::Stolen,
    ReasonKind::Swapped,
    ReasonKind::VisitsDropped,
];

/// The use that the figures of a row allow; less comes first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Standing {
    /// No run has figures.
    NotMeasured,
    /// Nothing is shown, because too few cohorts had the rate that the row is about.
    Hidden,
    /// Figures are shown and not compared, because too few cohorts are valid.
    NotCompared,
    /// All is compared. Other work disturbed a run, which shifts ratios of different programs.
    Disturbed,
    /// All is compared.
    Valid,
}

impl Standing {
    #[must_use]
    pub fn is_compared(self) -> bool {
        self >= Self::Disturbed
    }
}

/// True if other work disturbed a run with this reason for so long that it shows in all figures.
#[must_use]
pub fn is_disturbed(reason: &Reason) -> bool {
    reason.weight == Weight::Invalid && OTHER_WORK.contains(&reason.kind)
}

/// True if a figure of a run with this reason is void, of the tail of latencies or another one. Kinds that the user
/// `asked` for hold for all runs alike and void none.
#[must_use]
pub fn voids(reason: &Reason, in_tail: bool, asked: &[ReasonKind]) -> bool {
    let is_void = match reason.weight {
        Weight::Invalid => in_tail || !is_disturbed(reason),
        Weight::Tail => in_tail,
        Weight::Note | Weight::Limit => false,
    };
    is_void && !asked.contains(&reason.kind)
}

/// The standing of a row with these runs.
#[must_use]
pub fn standing(runs: &[&Run], in_tail: bool, asked: &[ReasonKind]) -> Standing {
    let voids = |it: &Reason| voids(it, in_tail, asked);
    if !runs.iter().any(|run| run.outcome.has_figures()) {
        Standing::NotMeasured
    } else if !suffice(runs, |it| voids(it) && it.kind == ReasonKind::BelowRate) {
        Standing::Hidden
    } else if !suffice(runs, voids) {
        Standing::NotCompared
    } else if runs.iter().flat_map(|run| run.outcome.reasons()).any(is_disturbed) {
        Standing::Disturbed
    } else {
        Standing::Valid
    }
}

/// The cohorts of which the run is void and not needed, because the others suffice.
#[must_use]
pub fn void_cohorts(runs: &[&Run], in_tail: bool, asked: &[ReasonKind]) -> BTreeSet<u32> {
    let voids = |it: &Reason| voids(it, in_tail, asked);
    let suffices = suffice(runs, voids);
    let void = runs.iter().filter(|run| suffices && run.outcome.reasons().iter().any(voids));
    void.map(|run| run.cohort()).collect()
}

/// True if enough cohorts have a run with figures and without such a reason.
fn suffice(runs: &[&Run], is_bad: impl Fn(&Reason) -> bool) -> bool {
    let is_good =
        |run: &&&Run| run.outcome.has_figures() && !run.outcome.reasons().iter().any(&is_bad);
    let good: BTreeSet<u32> = runs.iter().filter(is_good).map(|run| run.cohort()).collect();
    let all: BTreeSet<u32> = runs.iter().map(|run| run.cohort()).collect();
    good.len() >= all.len().min(FEWEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::journal::{Counts, Measurement, Outcome};

    fn run(block: u32, reasons: Vec<Reason>) -> Run {
        Run {
            block,
            group: 0,
            counts: Counts::Yes,
            position: 0,
            variant: "c/epoll".parse().unwrap(),
            copy: 0,
            workload: "hello".into(),
            started: String::new(),
            workers: 1,
            server_command: Vec::new(),
            generator_command: Vec::new(),
            outcome: Outcome::Measured(Box::new(Measurement { reasons, ..Measurement::default() })),
        }
    }

    #[test]
    fn a_neighbour_voids_the_tail_alone_and_other_runs_are_void_by_themselves() {
        use Standing::{Disturbed, Hidden, NotCompared, NotMeasured, Valid};
        use Weight::{Invalid, Limit, Note, Tail};
        let neighbour = (ReasonKind::Neighbour, Invalid);
        let [wrong, throttled] =
            [ReasonKind::WrongReplies, ReasonKind::Throttled].map(|it| (it, Invalid));
        for (reason, of, all, expected) in [
            (neighbour, 6, 6, [Disturbed, NotCompared]),
            (neighbour, 1, 6, [Disturbed, Disturbed]),
            ((ReasonKind::Neighbour, Tail), 6, 6, [Valid, NotCompared]),
            ((ReasonKind::Neighbour, Note), 6, 6, [Valid, Valid]),
            ((ReasonKind::GeneratorBound, Limit), 6, 6, [Valid, Valid]),
            (wrong, 3, 6, [Valid, Valid]),
            (wrong, 4, 6, [NotCompared, NotCompared]),
            (wrong, 1, 2, [NotCompared, NotCompared]),
            (throttled, 11, 14, [Valid, Valid]),
            (throttled, 14, 14, [NotCompared, NotCompared]),
            ((ReasonKind::BelowRate, Invalid), 4, 6, [Hidden, Hidden]),
            ((ReasonKind::NotPinned, Invalid), 6, 6, [Valid, Valid]),
        ] {
            let reason = |block| (block < of).then(|| reason.0.reason(reason.1, None, ""));
            let runs: Vec<Run> =
                (0..all).map(|block| run(block, reason(block).into_iter().collect())).collect();
            let runs: Vec<&Run> = runs.iter().collect();
            let asked = [ReasonKind::NotPinned];
            let found = [false, true].map(|in_tail| standing(&runs, in_tail, &asked));
            assert_eq!(found, expected, "{of} of {all}: {:?}", reason(0));
        }
        assert_eq!(standing(&[], false, &[]), NotMeasured);
    }

    #[test]
    fn void_runs_are_dropped_if_three_cohorts_are_left_and_failed_ones_are_not_left() {
        let wrong = || vec![ReasonKind::WrongReplies.reason(Weight::Invalid, None, "")];
        let failed = Outcome::Failed { reason: String::new(), server_stderr: String::new() };
        let mut runs: Vec<Run> =
            (0..5).map(|block| run(block, if block < 2 { wrong() } else { vec![] })).collect();
        let dropped = |runs: &[Run]| void_cohorts(&runs.iter().collect::<Vec<_>>(), false, &[]);
        let cohorts: BTreeSet<u32> = [&runs[0], &runs[1]].map(Run::cohort).into();
        assert_eq!(dropped(&runs), cohorts);
        runs[4].outcome = failed;
        assert_eq!(dropped(&runs), BTreeSet::new());
    }
}
