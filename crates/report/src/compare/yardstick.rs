//! What the changes of a workload refer to: the baseline, where it is the same program in both
//! results, and the model of each result.
//!
//! Not in this file: what follows from a change.

use wirebench_schema::id::VariantId;
use wirebench_stats::{Contrast, Estimate, judge_changes};

use super::{
    Side,
    cells::{Pair, Results},
    grounds::same_program,
};
use crate::analysis::{
    Inconclusive, Levels, Metric, MetricFacts, Row, Values, WorkloadRows, estimate,
};

/// A ratio beyond which machines of one kind do not change the figures of one program.
const FAR: f64 = 1.5;

/// True of a change that is none of the machine.
pub(super) fn is_far(ratio: f64) -> bool {
    ratio.max(ratio.recip()) > FAR
}

/// A baseline that is the same program in both results.
pub(super) struct Baseline<'a> {
    pub(super) pair: &'a Pair<'a>,
    pub(super) metric: Metric,
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
            pair.cell.load == workload && pair.new.row.variant == variant && pair.cell.copy == 0
        };
        let without = || format!("their baseline {variant} has no figures in both");
        let pair = pairs.iter().find(is_it).ok_or_else(without)?;
        match same_program(old, new, pair) {
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
        let change = of_levels(pair, metric).ok_or_else(|| {
            let title = metric.title();
            format!(
                "{title} of their baseline {variant} is not above 0, or not known, in all cohorts"
            )
        })?;
        // The margin decides on outcomes, and an estimate has none.
        let drift = judge_changes(&[change], 0.0).first().map(estimate).ok_or_else(without)?;
        if is_far(drift.value) {
            let title = metric.title();
            return Err(format!(
                "their baseline {variant} is the same program in both, but its {title} changed by more than a \
                 factor of 1.5: what it reads may differ"
            ));
        }
        Ok(Self { pair, metric, drift })
    }

    /// Whether `pair` is the baseline itself.
    pub(super) fn is(&self, pair: &Pair<'_>) -> bool {
        pair.cell == self.pair.cell
    }
}

/// One figure of one workload in the older and the newer result.
pub(super) struct Fits<'a> {
    fits: [(&'a [Row<'a>], Levels); 2],
    /// The larger of both results' margins.
    pub(super) margin: f64,
}

impl<'a> Fits<'a> {
    /// The models of a figure relative to `baseline`, or to that of each result.
    pub(super) fn of(
        results: &'a Results<'a>,
        workload: &str,
        metric: Metric,
        baseline: Option<&Baseline<'_>>,
    ) -> Option<Self> {
        let fit = |result: &'a Vec<WorkloadRows<'a>>| {
            let rows = result.iter().find(|it| it.workload.name == workload)?;
            let margin = rows.margins.of(metric, rows.workload.phase);
            let values: Vec<Values> = rows.rows.iter().map(|row| row.values(metric)).collect();
            let first = baseline.map_or(rows.baseline, |it| rows.first_of(it.pair.new.row.variant));
            let levels = Levels::against(first, rows, &values, margin);
            Some(((rows.rows.as_slice(), levels), margin))
        };
        let [(old, one), (new, other)] = [fit(&results[0])?, fit(&results[1])?];
        Some(Self { fits: [old, new], margin: one.max(other) })
    }

    /// The change of a cell's ratio to the baseline. None where a result has no cohort of both.
    pub(super) fn of_ratios(&self, pair: &Pair<'_>) -> Option<Contrast> {
        let meant = pair.new.row;
        let is_it = |row: &Row<'_>| row.variant == meant.variant && row.copy == meant.copy;
        let [old, new] = self.fits.each_ref().map(|(rows, levels)| {
            let row = rows.iter().position(is_it)?;
            levels.contrast(row)
        });
        Some(new?.since(&old?))
    }

    /// That the two instances of the baseline differ in a result.
    pub(super) fn differ(&self) -> Option<Inconclusive> {
        let of = |levels: &Levels| levels.check().is_some_and(|it| it.differ);
        let differ = self.fits.iter().any(|(_, levels)| of(levels));
        differ.then_some(Inconclusive::BaselineCheckFailed)
    }
}

/// The change of a cell's own level. None where a result has no value, or one that is not above 0:
/// going on with the others would choose cohorts by what came out of them.
pub(super) fn of_levels(pair: &Pair<'_>, metric: Metric) -> Option<Contrast> {
    let level = |row: &Row<'_>| {
        let values = row.values(metric).into_values();
        let logs: Option<Vec<f64>> = values.map(|it| (it > 0.0).then(|| it.ln())).collect();
        Contrast::of_level(&logs?)
    };
    Some(level(pair.new.row)?.since(&level(pair.old.row)?))
}
