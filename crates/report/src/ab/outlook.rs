//! The difference that a comparison will find, before its first run, from the scatter of an earlier result.

use wirebench_schema::journal::{InterimLook, Journal};
use wirebench_stats::{MIN_COHORTS, PlannedLoad, PlannedLook, bounds};

use super::{Ab, AbOptions, INSTANCES};
use crate::analysis::Metric;

/// The smallest difference that 9 of 10 comparisons like that of `earlier` find whose budget holds this many cohorts,
/// as a share of 1. None with too few cohorts for a verdict.
#[must_use]
pub fn outlook(
    earlier: &Journal,
    metric: Metric,
    cohorts: u32,
    margin: Option<f64>,
) -> Option<f64> {
    if (cohorts as usize) < MIN_COHORTS {
        return None;
    }
    let (variance, usual) = scatter(earlier, metric)?;
    let load = PlannedLoad {
        cohorts: cohorts as usize,
        visits: 1,
        visit_variance: 0.0,
        instance_variance: variance,
        instances: [INSTANCES as usize; 2],
    };
    let bounds = bounds(&looks_of(cohorts), 1).pop()?;
    Some(bounds.detectable(&load.contrast(), margin.unwrap_or(usual)))
}

/// The looks at a comparison whose budget holds this many cohorts.
pub(super) fn looks_of(cohorts: u32) -> Vec<PlannedLook> {
    let due = (1..=cohorts).filter(|it| InterimLook::is_due(*it) || *it == cohorts);
    let share = |it: u32| f64::from(it) / f64::from(cohorts);
    due.map(|it| PlannedLook { cohorts: it as usize, share: share(it) }).collect()
}

/// The variance of the logarithm of a figure between instances, from the ratio of both sides in each cohort, and the
/// margin. None with fewer than three cohorts.
fn scatter(journal: &Journal, metric: Metric) -> Option<(f64, f64)> {
    let ab = Ab::of(journal, &AbOptions { metric: Some(metric), ..AbOptions::default() })?;
    let ratio = &ab.ratio()?.judged;
    let logarithms: Vec<f64> = ratio.by_block.values().map(|it| it.ln()).collect();
    let count = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / count;
    let squares: f64 = logarithms.iter().map(|it| (it - mean).powi(2)).sum();
    // Each side is the mean of its instances.
    let variance = squares / (count - 1.0) * f64::from(INSTANCES) / 2.0;
    (logarithms.len() >= MIN_COHORTS).then_some((variance, ratio.margin))
}
