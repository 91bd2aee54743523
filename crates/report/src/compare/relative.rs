//! Conditions on changes: a condition is violated where the whole interval of a change lies beyond its limit, and
//! kept where none of it does. Otherwise the cell is inconclusive. So is a bound on the right side of the limit: the
//! true change may lie on the other one.

use wirebench_schema::{
    gate::{ChangeLimit, Condition},
    suite::Phase,
};
use wirebench_stats::MIN_COHORTS;

use super::{
    Change,
    gate::{ConditionResult, Hit, State},
    judge::looked_at,
};
use crate::{
    analysis::{LimitSide, Metric, MetricFacts, Reads},
    interval,
};

/// A condition on changes.
#[derive(Clone, Copy)]
pub(crate) struct OnChange<'a> {
    condition: &'a Condition,
    limit: &'a ChangeLimit,
    metric: Metric,
}

impl<'a> OnChange<'a> {
    /// None if the condition is about a value, or about a figure of which no change is computed.
    pub(crate) fn of(condition: &'a Condition) -> Option<Self> {
        let metric = condition.figure.compared()?;
        Some(Self { condition, limit: condition.change()?, metric })
    }

    /// What it is about in a phase.
    pub(crate) fn metric(&self, phase: Phase) -> Option<Metric> {
        looked_at(self.metric, phase)
    }

    /// Whether it is about the figure of this change.
    pub(crate) fn concerns(&self, change: &Change) -> bool {
        let is_named =
            self.condition.of.as_ref().is_none_or(|name| change.cell.variant.is_called(name));
        is_named && self.metric(change.cell.phase) == Some(change.metric)
    }

    /// Its result in the changes that it concerns, and warnings.
    pub(super) fn judge(&self, changes: &[Change]) -> (ConditionResult, Vec<String>) {
        let concerned: Vec<&Change> = changes.iter().filter(|it| self.concerns(it)).collect();
        let found = concerned.iter().map(|it| (Hit::of(it), self.state(it))).collect();
        let result = ConditionResult::of(self.condition, self.limit.beyond, found);
        let warnings = [self.warning(&concerned), self.only_bounds(&concerned)];
        (result, warnings.into_iter().flatten().collect())
    }

    fn state(&self, change: &Change) -> State {
        let Some(interval) = change.ratio.estimate.interval else {
            let cohorts = change.ratio.estimate.samples;
            return State::Open(format!("too few cohorts for an interval: {cohorts}"));
        };
        if let Some(why) = change.ratio.inconclusive.filter(|it| it.is_withheld()) {
            return State::Open(why.words().to_owned());
        }
        let (low, high) = (interval.low - 1.0, interval.high - 1.0);
        // A bound that supports a violation supports nothing else, and the reverse.
        let ChangeLimit { beyond, share } = *self.limit;
        let (near, far, for_violated, for_kept) = match beyond {
            LimitSide::Below => (high, low, Reads::AtMost, Reads::AtLeast),
            LimitSide::Above => (low, high, Reads::AtLeast, Reads::AtMost),
        };
        let supports = |bound| change.ratio.reads == Reads::Exactly || change.ratio.reads == bound;
        if beyond.is_beyond(near, share) && supports(for_violated) {
            State::Violated
        } else if !beyond.is_beyond(far, share) && supports(for_kept) {
            State::Kept
        } else if change.ratio.reads == Reads::Exactly {
            let limit = interval::change(1.0 + self.limit.share, None);
            State::Open(format!("the interval includes {limit}"))
        } else {
            State::Open(self.open_bound(change.ratio.reads))
        }
    }

    fn open_bound(&self, reads: Reads) -> String {
        let is = match reads {
            Reads::AtLeast => "is at least that and may be",
            Reads::AtMost => "is at most that and may be",
            Reads::Exactly | Reads::Either => "is unknown and may be",
        };
        let side = match self.limit.beyond {
            LimitSide::Below => "below",
            LimitSide::Above => "above",
        };
        let limit = interval::change(1.0 + self.limit.share, None);
        format!(
            "the load generator was saturated, so the true change {is} {side} {limit}: give it more CPUs, or \
             compare `cpu`"
        )
    }

    /// In how many cells the generator's limit leaves it open.
    fn only_bounds(&self, concerned: &[&Change]) -> Option<String> {
        let is_open = |change: &&&Change| {
            let is_bound =
                change.ratio.reads != Reads::Exactly && change.ratio.estimate.interval.is_some();
            is_bound && matches!(self.state(change), State::Open(_))
        };
        let open = concerned.iter().filter(is_open).count();
        (open > 0).then(|| {
            format!(
                "'{}' is inconclusive in {open} of {} cells: the load generator was saturated",
                self.condition,
                concerned.len()
            )
        })
    }

    /// Why it can never be met here, or not in all cells that it concerns.
    fn warning(&self, concerned: &[&Change]) -> Option<String> {
        let (all, condition) = (concerned.len(), self.condition);
        let short: Vec<&&Change> =
            concerned.iter().filter(|it| it.ratio.estimate.interval.is_none()).collect();
        if all == 0 {
            return Some(format!(
                "'{condition}' cannot fail: no cell has this metric in both results"
            ));
        }
        let shortest = short.iter().map(|it| it.ratio.estimate.samples).min()?;
        let scope = if short.len() == all {
            "cannot fail".to_owned()
        } else {
            format!("cannot fail in {} of {all} cells", short.len())
        };
        Some(format!(
            "'{condition}' {scope}: it needs {MIN_COHORTS} cohorts with figures on each side and some cells have \
             {shortest}; measure with --cohorts 4"
        ))
    }
}
