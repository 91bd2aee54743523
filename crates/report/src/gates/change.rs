//! Conditions on changes: a condition is violated where the whole interval of a change lies beyond its limit, and
//! kept where none of it does. Otherwise the cell is inconclusive. So is a bound on the right side of the limit: the
//! true change may lie on the other one.

use wirebench_schema::gate::{ChangeLimit, Condition};
use wirebench_stats::{Estimate, MIN_COHORTS};

use super::{ConditionResult, Hit, Kept};
use crate::{
    analysis::{JudgedRatio, LimitSide, MetricFacts, Reads},
    figure_text::change_of,
    interval,
    view::{Cell, Figure},
};

/// The result of a condition in the changes that it concerns, and warnings.
pub(super) fn judge(
    condition: &Condition,
    limit: &ChangeLimit,
    cells: &[Cell],
) -> (ConditionResult, Vec<String>) {
    let changes: Vec<(&Cell, &Figure, &JudgedRatio)> =
        cells.iter().filter_map(|it| concerned(condition, it)).collect();
    let ratios: Vec<&JudgedRatio> = changes.iter().map(|(_, _, ratio)| *ratio).collect();
    let found = changes.iter().map(|(cell, figure, ratio)| {
        let Estimate { value, interval, .. } = ratio.estimate;
        let why = change_of(figure.metric, ratio);
        (Hit::of(cell, figure.metric, value, interval, why), kept(limit, ratio))
    });
    let result = ConditionResult::of(condition, limit.beyond, found.collect());
    (result, warnings(condition, limit, &ratios))
}

/// The figure of a cell that a condition is about, and its change.
fn concerned<'a>(
    condition: &Condition,
    cell: &'a Cell,
) -> Option<(&'a Cell, &'a Figure, &'a JudgedRatio)> {
    let is_meant = condition.of.as_ref().is_none_or(|name| cell.id.is_called(name));
    let metric = condition.figure.changes_in(cell.id.phase).filter(|_| is_meant)?;
    let figure = cell.figure(metric).filter(|_| cell.id.request.is_none())?;
    let ratio = &figure.ratio()?.judged;
    ratio.claim.map(|_| (cell, figure, ratio))
}

pub(super) fn kept(limit: &ChangeLimit, ratio: &JudgedRatio) -> Kept {
    let Some(interval) = ratio.estimate.interval else {
        let cohorts = ratio.estimate.samples;
        return Kept::Open(format!("too few cohorts for an interval: {cohorts}"));
    };
    if let Some(why) = ratio.inconclusive.filter(|it| it.is_withheld()) {
        return Kept::Open(why.name().to_owned());
    }
    let (low, high) = (interval.low - 1.0, interval.high - 1.0);
    // A bound that supports a violation supports nothing else, and the reverse.
    let ChangeLimit { beyond, share } = *limit;
    let (near, far, for_violated, for_kept) = match beyond {
        LimitSide::Below => (high, low, Reads::AtMost, Reads::AtLeast),
        LimitSide::Above => (low, high, Reads::AtLeast, Reads::AtMost),
    };
    let supports = |bound| ratio.reads == Reads::Exactly || ratio.reads == bound;
    let shown = interval::change(1.0 + share, None);
    if beyond.is_beyond(near, share) && supports(for_violated) {
        Kept::No
    } else if !beyond.is_beyond(far, share) && supports(for_kept) {
        Kept::Yes
    } else if ratio.reads == Reads::Exactly {
        Kept::Open(format!("the interval includes {shown}"))
    } else {
        let is = match ratio.reads {
            Reads::AtLeast => "is at least that and may be",
            Reads::AtMost => "is at most that and may be",
            Reads::Exactly | Reads::Either => "is unknown and may be",
        };
        let side = match beyond {
            LimitSide::Below => "below",
            LimitSide::Above => "above",
        };
        Kept::Open(format!(
            "the load generator was saturated, so the true change {is} {side} {shown}: give it more CPUs, or \
             compare `cpu`"
        ))
    }
}

/// Why it is inconclusive, in all cells that it concerns or in some.
fn warnings(condition: &Condition, limit: &ChangeLimit, ratios: &[&JudgedRatio]) -> Vec<String> {
    if ratios.is_empty() {
        return vec![format!(
            "'{condition}' is inconclusive: no cell has this metric on both sides"
        )];
    }
    let in_cells = |open: usize, why: String| {
        let all = ratios.len();
        let text = || format!("'{condition}' is inconclusive in {open} of {all} cells: {why}");
        (open > 0).then(text)
    };
    let (with, without): (Vec<&JudgedRatio>, Vec<_>) =
        ratios.iter().partition(|it| it.estimate.interval.is_some());
    let shortest = without.iter().map(|it| it.estimate.samples).min().unwrap_or_default();
    let few = format!(
        "it needs {MIN_COHORTS} cohorts with figures on each side and some cells have {shortest}; measure with \
         --cohorts {MIN_COHORTS}"
    );
    let is_open =
        |it: &&&JudgedRatio| it.reads != Reads::Exactly && matches!(kept(limit, it), Kept::Open(_));
    let bounds = with.iter().filter(is_open).count();
    let saturated = "the load generator was saturated".to_owned();
    [in_cells(without.len(), few), in_cells(bounds, saturated)].into_iter().flatten().collect()
}
