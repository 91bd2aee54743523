//! The rows of a workload as levels of one model: which of their values it gets, and what it says of
//! each row. Nothing is known of bounds and of claims here.

use std::collections::BTreeSet;
use wirebench_stats::{
    AaCheck, Better, Contrast, Judged, PairLevel, PlannedLook, Rank, TwoWay, check_baseline,
    judge_against, judge_pairs, pair_levels, rank_levels,
};

use super::{Metric, MetricFacts, WorkloadRows, comparison::Values, looks};

/// The model of a workload by one metric.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    model: Option<TwoWay>,
    /// The instances of the baseline that have values, the first one first.
    baseline: Vec<usize>,
    margin: f64,
    looks: Vec<PlannedLook>,
}

/// The logarithm of each value by row and cohort; what is missing is not a number.
///
/// Idle CPU time may be zero in some cohorts, and memory may shrink in some. To go on with the others
/// would be to choose cohorts by what came out of them, so such a row has no logarithm at all.
pub(super) fn cells(values: &[Values]) -> Vec<Vec<f64>> {
    let cohorts: BTreeSet<u32> = values.iter().flat_map(|row| row.keys().copied()).collect();
    let of_row = |row: &Values| {
        let whole = row.values().all(|value| *value > 0.0);
        let log = |cohort| row.get(cohort).filter(|_| whole).map_or(f64::NAN, |it| it.ln());
        cohorts.iter().map(log).collect()
    };
    values.iter().map(of_row).collect()
}

impl Levels {
    /// The levels of all rows that have a logarithm in every cohort, with this row as the baseline. Only that of the
    /// workload has a second instance.
    pub(crate) fn against(
        first: Option<usize>,
        rows: &WorkloadRows<'_>,
        values: &[Values],
        margin: f64,
    ) -> Self {
        let cells = cells(values);
        let has_values = |index: &usize| cells[*index].iter().any(|cell| cell.is_finite());
        let first = first.filter(has_values);
        let second = rows.second().filter(|_| first.is_some() && first == rows.baseline);
        let baseline: Vec<usize> = first.into_iter().chain(second.filter(has_values)).collect();
        let (model, looks) = (TwoWay::fit(&cells, &baseline), rows.looks.clone());
        Self { model, baseline, margin, looks }
    }

    /// Each of `rows` against the mean of the baseline's instances, as one family.
    pub(super) fn judge(&self, rows: &[usize]) -> Vec<Option<Judged>> {
        let (Some(model), false) = (&self.model, self.baseline.is_empty()) else {
            return vec![None; rows.len()];
        };
        match looks::last(&self.looks, rows.len()) {
            Some(bounds) => bounds.judge_against(model, rows, &self.baseline, self.margin),
            None => judge_against(model, rows, &self.baseline, self.margin),
        }
    }

    /// A row against the mean of the baseline's instances. None where no cohort has both.
    pub(crate) fn contrast(&self, row: usize) -> Option<Contrast> {
        let contrast = self.model.as_ref()?.contrast(&[row], &self.baseline)?;
        (contrast.cohorts > 0).then_some(contrast)
    }

    /// The baseline's second instance over its first.
    pub(crate) fn check(&self) -> Option<AaCheck> {
        match (&self.model, self.baseline.as_slice()) {
            (Some(model), [first, second]) => check_baseline(model, [*first, *second], self.margin),
            _ => None,
        }
    }

    /// What is needed to compare any two of `rows`; the baseline stands for both of its instances.
    pub(super) fn pairs(&self, rows: &[usize]) -> Vec<Option<PairLevel>> {
        let pairs = |model| pair_levels(model, &self.items(rows));
        self.model.as_ref().map_or_else(|| vec![None; rows.len()], pairs)
    }

    /// One of `rows` against another one, by an interval that holds for all pairs of them.
    pub(super) fn judge_pair(&self, rows: &[usize], pair: [usize; 2]) -> Option<Judged> {
        let place = |row: usize| rows.iter().position(|it| *it == row);
        let pair = [place(pair[0])?, place(pair[1])?];
        judge_pairs(self.model.as_ref()?, &self.items(rows), &[pair], self.margin).pop()?
    }

    /// The instances of each program.
    fn items(&self, rows: &[usize]) -> Vec<Vec<usize>> {
        let is_baseline = |row: &usize| self.baseline.first() == Some(row);
        let item = |row| if is_baseline(row) { self.baseline.clone() } else { vec![*row] };
        rows.iter().map(item).collect()
    }

    /// The ranks of `rows`; the baseline stands for both of its instances.
    pub(super) fn ranks(&self, rows: &[usize], metric: Metric) -> Vec<Option<Rank>> {
        let better = match metric.more_is_better() {
            true => Better::More,
            false => Better::Less,
        };
        let ranks = |model| rank_levels(model, &self.items(rows), better, self.margin);
        self.model.as_ref().map_or_else(|| vec![None; rows.len()], ranks)
    }
}
