//! The sentences on a comparison as a whole.

use std::collections::BTreeSet;

use super::{Change, Comparison, Movement, Yardstick};
use crate::{
    analysis::{Claim, Metric},
    figure_text::{change_of, value},
    interval,
    table_units::count,
};

/// The limits of a comparison. A result is one session: a start of the machine, a layout of
/// memory and neighbours that all of its cohorts share. Two sessions are a sample of one each, so how
/// far sessions of one program differ cannot be estimated from them.
pub(super) fn scope(comparison: &Comparison) -> &'static str {
    match comparison.is_of_loads() {
        true => {
            "One load each: no interval is known, so there is no verdict. Use `wirebench ab` or `run` for one."
        }
        false => {
            "each result is one session; the intervals do not include differences between sessions"
        }
    }
}

/// `10 figures compared: 2 worse, 1 better, 7 the same`, or of loads `requests/s -5.0 %, p50 +1.0 %, p99 +12 %,
/// errors 0 to 5`.
pub(super) fn summary(comparison: &Comparison) -> String {
    if comparison.is_of_loads() {
        let whole = comparison.changes.iter().filter(|it| it.cell.request.is_none());
        let part = |it: &Change| match (it.metric, it.ratio.reference) {
            (Metric::Throughput | Metric::P50 | Metric::P99, _) => {
                Some(change_of(it.metric, &it.ratio.judged))
            }
            (Metric::Errors, Some(old)) if old + it.value > 0.0 => {
                let [old, new] = [old, it.value].map(|errors| value(Metric::Errors, errors));
                Some(format!("errors {old} to {new}"))
            }
            _ => None,
        };
        return whole.filter_map(part).collect::<Vec<_>>().join(", ");
    }
    let [worse, better] = [Movement::Worse, Movement::Better]
        .map(|wanted| comparison.changes.iter().filter(|it| it.movement() == Some(wanted)).count());
    let same = comparison.changes.iter().filter(|it| it.claim() == Claim::Same).count();
    if comparison.facts.nothing_differs {
        return "same program in every row, nothing to compare; --force compares anyway".to_owned();
    }
    let all = comparison.changes.len();
    if all == 0 {
        return "nothing compared: no cell has the requested metrics in both results".to_owned();
    }
    let inconclusive = all - worse - better - same;
    let counts =
        [(worse, "worse"), (better, "better"), (same, "the same"), (inconclusive, "inconclusive")];
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let none = (worse + better == 0).then(|| "no significant change".to_owned());
    let counts = counts.map(|(number, what)| format!("{number} {what}"));
    let parts: Vec<String> = none.into_iter().chain(counts).collect();
    format!("{} compared: {}", count(all, "figure"), parts.join(", "))
}

/// Of what the changes are changes, and below which margin they count as none.
pub(super) fn basis(comparison: &Comparison) -> String {
    let relative = comparison.changes.iter().filter_map(|it| it.relative_to.as_ref());
    let baselines: BTreeSet<String> = relative.map(ToString::to_string).collect();
    let drift = drift(&comparison.facts.baseline_drift);
    let basis = if baselines.is_empty() {
        let own = drift.map_or_else(String::new, |drift| {
            format!("; the baseline, the same program in both, changed by {drift}")
        });
        format!("changes are those of absolute figures and include machine drift{own}")
    } else {
        let baselines = baselines.into_iter().collect::<Vec<_>>().join(", ");
        let drift = drift.unwrap_or_default();
        format!(
            "changes are those of the ratio to {baselines}, the same program in both results; its own \
             figures changed by {drift}"
        )
    };
    let margins = comparison.changes.iter().map(|it| it.ratio.judged.margin);
    let share = |margin: f64| format!("{:.1} %", margin * 100.0);
    let margins = spread(margins, share).map(|margins| format!("; margin {margins}"));
    format!("{basis}{}", margins.unwrap_or_default())
}

/// From the least to the most that baselines changed by themselves.
fn drift(yardsticks: &[Yardstick]) -> Option<String> {
    spread(yardsticks.iter().map(|it| it.estimate.value), |it| interval::change(it, None))
}

/// From the least to the most, or the one that they are.
fn spread(values: impl Iterator<Item = f64> + Clone, show: fn(f64) -> String) -> Option<String> {
    let least = show(values.clone().min_by(f64::total_cmp)?);
    let most = show(values.max_by(f64::total_cmp)?);
    Some(if least == most { least } else { format!("{least} to {most}") })
}
