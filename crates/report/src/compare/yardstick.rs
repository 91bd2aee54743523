//! What the cells of a workload are held against: the baseline, where it is the same program in
//! both results, and the noise floor.
//!
//! Not here: the cells.

use std::collections::BTreeMap;
use wirebench_schema::id::VariantId;
use wirebench_stats::{Estimate, Floor, change_estimate, ratios_by_block};

use super::{Basis, Side, cells::Pair, grounds::same_program};
use crate::analysis::{Metric, Role, WorkloadRows, rows};

/// Values of a cell by block.
pub(super) type Values = BTreeMap<u32, f64>;

/// A baseline that is the same program in both results.
pub(super) struct Baseline<'a> {
    pub(super) pair: &'a Pair<'a>,
    pub(super) metric: Metric,
    pub(super) old: Values,
    pub(super) new: Values,
    /// What it did by itself: the machine's drift.
    pub(super) drift: Estimate,
}

impl<'a> Baseline<'a> {
    /// The first variant that is a baseline of both results, has figures in both in this workload,
    /// and is the same program in both; or why there is none, as a part of a sentence.
    pub(super) fn find(
        sides: (&Side<'_>, &Side<'_>),
        pairs: &'a [Pair<'a>],
        workload: &str,
        metric: Metric,
    ) -> Result<Self, String> {
        let (old, new) = sides;
        let mut reason = None;
        let common = old.journal.start.baselines.iter();
        for variant in common.filter(|it| new.journal.start.baselines.contains(it)) {
            match Self::of(sides, pairs, (workload, variant), metric) {
                Ok(baseline) => return Ok(baseline),
                Err(why) => reason = reason.or(Some(why)),
            }
        }
        Err(reason.unwrap_or_else(|| "the two have no baseline in common".to_owned()))
    }

    fn of(
        (old, new): (&Side<'_>, &Side<'_>),
        pairs: &'a [Pair<'a>],
        (workload, variant): (&str, &VariantId),
        metric: Metric,
    ) -> Result<Self, String> {
        let is_it = |pair: &&Pair<'_>| {
            let cell = &pair.cell;
            cell.workload == workload && cell.variant == *variant && cell.copy == 0
        };
        let without = || format!("their baseline {variant} has no figures in both");
        let pair = pairs.iter().find(is_it).ok_or_else(without)?;
        match same_program(old, new, variant) {
            Some(true) => {}
            Some(false) => {
                return Err(format!("their baseline {variant} is not the same program in both"));
            }
            None => {
                return Err(format!(
                    "whether their baseline {variant} is the same program in both is not known"
                ));
            }
        }
        let (before, after) = (pair.old.row.values(metric), pair.new.row.values(metric));
        let (old, new) = (plain(&before), plain(&after));
        let drift = change_estimate(&old, &new).ok_or_else(without)?;
        if !are_usable(&old) || !are_usable(&new) {
            return Err(format!(
                "{} of their baseline {variant} is not above 0 in all blocks",
                metric.title()
            ));
        }
        Ok(Self { pair, metric, old: before, new: after, drift })
    }

    /// The ratios of `values` to the baseline's in the same block, in the older or the newer
    /// result.
    pub(super) fn ratios(&self, old: &Values, new: &Values) -> (Vec<f64>, Vec<f64>) {
        (ratios_by_block(old, &self.old), ratios_by_block(new, &self.new))
    }

    /// Whether `pair` is the baseline itself.
    pub(super) fn is(&self, pair: &Pair<'_>) -> bool {
        pair.cell == self.pair.cell
    }
}

/// The noise floors of two results.
pub(super) struct Floors<'a> {
    old: Vec<WorkloadRows<'a>>,
    new: Vec<WorkloadRows<'a>>,
}

impl<'a> Floors<'a> {
    pub(super) fn of(old: &Side<'a>, new: &Side<'a>) -> Self {
        Self { old: rows(old.journal), new: rows(new.journal) }
    }

    /// The larger one of both results. Of a change of figures as such, what the baseline did by
    /// itself is noise too, because the machine does it to all; a change must be beyond both
    /// together.
    pub(super) fn floor(
        &self,
        workload: &str,
        metric: Metric,
        basis: Basis,
        baseline: Option<&Baseline<'_>>,
    ) -> Floor {
        let (old, new) = (floor(&self.old, workload, metric), floor(&self.new, workload, metric));
        let floor = if old.relative > new.relative { old } else { new };
        let drift = baseline
            .filter(|_| basis == Basis::Absolute)
            .map_or(0.0, |baseline| baseline.drift.value.ln().abs());
        Floor { relative: (1.0 + floor.relative) * drift.exp() - 1.0, ..floor }
    }
}

/// The floor of one result: how far apart two runs of its baseline appear.
fn floor(workloads: &[WorkloadRows<'_>], workload: &str, metric: Metric) -> Floor {
    let here = workloads.iter().find(|it| it.workload.name == workload);
    let ratios = here.and_then(|here| {
        let first = &here.rows[here.baseline?];
        let second = here.rows.iter().find(|row| row.role == Role::SecondOfBaseline)?;
        Some(ratios_by_block(&second.values(metric), &first.values(metric)))
    });
    Floor::from_pairs(&ratios.unwrap_or_default())
}

/// Whether changes and ratios can be made of them, which takes values above zero. Who left the
/// others out would choose blocks by what came out of them.
pub(super) fn are_usable(values: &[f64]) -> bool {
    !values.is_empty() && values.iter().all(|value| *value > 0.0)
}

pub(super) fn plain(values: &Values) -> Vec<f64> {
    values.values().copied().collect()
}
