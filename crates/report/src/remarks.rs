//! Remarks on a row, as sentences: refusals, failures, reasons against its runs, strange and missing blocks.
//! How often a sentence is shown is not decided here.

use wirebench_judge::standing::{Standing, void_cohorts};
use wirebench_schema::{
    journal::{Journal, Outcome, Verified, Weight, block_of_cohort},
    suite::Workload,
};
use wirebench_stats::{Interval, median, outliers};

use crate::{
    analysis::{Comparison, Metric, MetricFacts, Role, Row, WorkloadRows, are_builds},
    notes::{INVALID, Notes, Remark},
};

/// What other work on the machine does to a comparison of different programs.
pub(crate) const SHIFT: &str = "ratios of different programs may shift beside other work";
const SECOND_WITHOUT_FIRST: &str = "second instance of the baseline (A/A); the first has no figures, so the \
                                    baseline is another row";

/// All findings about the row at `index`, each once.
pub(crate) fn remarks(
    journal: &Journal,
    rows: &WorkloadRows<'_>,
    index: usize,
    comparison: &Comparison,
) -> Vec<Remark> {
    let row = &rows.rows[index];
    let slow = rows.rate.iter().flat_map(|rate| &rate.too_slow);
    let slow = slow.filter(|(variant, _)| variant == row.variant);
    let mut remarks: Vec<Remark> =
        slow.map(|(_, why)| format!("not measured at this rate: {why}").into()).collect();
    remarks.extend(checks(journal, row, &rows.workload).into_iter().map(Remark::from));
    // A limit stands as a sign in front of the ratio, where the metric is one that it bounds.
    let is_shown = |weight| weight != Weight::Limit || !comparison.metric.is_bounded_by_generator();
    remarks.extend(row.reasons().filter(|it| is_shown(it.weight)).map(Remark::marked));
    remarks.extend(failure(row.runs.iter().map(|run| &run.outcome)).map(|it| it.prefixed(INVALID)));
    // What was measured to warm up does not count; that it failed does.
    let warm_up = failure(row.warm_up.iter().map(|run| &run.outcome));
    remarks.extend(warm_up.map(|it| it.prefixed("in a warm-up block: ")));
    remarks.extend(missing(row, rows.blocks).map(Remark::from));
    let void = void_cohorts(&row.runs, false, &row.asked_for).len();
    if void > 0 {
        let of = row.runs.len();
        remarks.push(format!("{void} of {of} runs are not valid and in no figure").into());
    }
    remarks.extend(is_shifted(journal, rows, row).then_some(SHIFT).map(Remark::from));
    if row.role == Role::SecondWithoutFirst {
        remarks.push(SECOND_WITHOUT_FIRST.into());
    }
    remarks.extend(without_ratio(rows, index, comparison).map(Remark::from));
    remarks.extend(strange(row, comparison));
    Notes::of(remarks).into_remarks()
}

/// Whether other work may have shifted the ratio of a row to the baseline.
pub(crate) fn is_shifted(journal: &Journal, rows: &WorkloadRows<'_>, row: &Row<'_>) -> bool {
    rows.baseline.map(|index| &rows.rows[index]).is_some_and(|baseline| {
        let both = [baseline, row];
        let standing = both.map(|it| it.standing(Metric::Cpu)).into_iter().min();
        standing == Some(Standing::Disturbed)
            && !are_builds(&journal.start, both.map(|it| it.variant))
    })
}

/// Why the variant was not measured in this workload's scenario, which checks it fails as declared,
/// and what of it was not checked.
fn checks(journal: &Journal, row: &Row<'_>, workload: &Workload) -> Vec<String> {
    let mine = |verified: &&Verified| {
        verified.variant == *row.variant && verified.scenario == workload.scenario
    };
    let mut remarks = Vec::new();
    for verified in journal.verified.iter().filter(mine) {
        let failed = verified.failed.iter();
        remarks.extend(failed.map(|(check, why)| format!("not measured, fails `{check}`: {why}")));
        let known = verified.deviates.iter();
        remarks.extend(known.map(|(check, why)| format!("known to fail `{check}`: {why}")));
        // A scenario whose main point was not checked gets a remark; a skipped `workers` check does not.
        let timeouts = verified.skipped.iter().find(|(check, _)| check.starts_with("timeout-"));
        remarks.extend(timeouts.map(|(_, why)| format!("timeouts not checked: {why}")));
    }
    remarks
}

/// Why runs have no figures: the first reason, and how many runs have another one.
fn failure<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Option<Remark> {
    let failed = |outcome: &'a Outcome| match outcome {
        Outcome::Failed { reason, server_stderr } => Some((reason, server_stderr.trim())),
        _ => None,
    };
    let failures: Vec<(&String, &str)> = outcomes.filter_map(failed).collect();
    let (reason, said) = failures.first()?;
    let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
    let others = match failures.iter().filter(|it| it.0 != *reason).count() {
        0 => String::new(),
        count => format!("; {count} more for other reasons"),
    };
    Some(format!("failed: {reason}{said}{others}").into())
}

/// How many of the blocks have figures, unless all have, or none, which is plain to see.
fn missing(row: &Row<'_>, blocks: u32) -> Option<String> {
    let measured = row.measured();
    let some_are_missing = measured > 0 && measured < blocks as usize;
    some_are_missing.then(|| format!("{measured} of {blocks} blocks have figures"))
}

/// Why a row with values has no ratio to a baseline with values: ratios need values above zero.
fn without_ratio(rows: &WorkloadRows<'_>, index: usize, comparison: &Comparison) -> Option<String> {
    let (row, baseline) = (index, rows.baseline.filter(|baseline| *baseline != index)?);
    let values = |index: usize| rows.rows[index].values(comparison.metric);
    if comparison.ratios[row].is_some() || values(row).is_empty() {
        return None;
    }
    let has_hole = |index| values(index).values().any(|it| *it <= 0.0);
    let whose = match (has_hole(row), has_hole(baseline)) {
        (true, _) => "its",
        (false, true) => "the baseline's",
        (false, false) => return None,
    };
    let title = comparison.metric.title();
    Some(format!("no ratio: {whose} {title} is 0 in some blocks"))
}

/// Blocks whose value is far from the row's others, and by more than the margin: those
/// above the median in one sentence, and those below it in another.
fn strange(row: &Row<'_>, comparison: &Comparison) -> Vec<Remark> {
    let (blocks, values): (Vec<u32>, Vec<f64>) = row.values(comparison.metric).into_iter().unzip();
    let Some(median) = median(&values) else { return Vec::new() };
    let band = Interval::of_margin(comparison.margin);
    let outliers = outliers(&values).into_iter().filter_map(|place| {
        let ratio = values[place] / median;
        let is_strange = ratio.is_finite() && !band.contains(ratio);
        let block = u64::from(block_of_cohort(blocks[place])) + 1;
        is_strange.then_some((block, (ratio - 1.0) * 100.0))
    });
    let (below, above): (Vec<_>, Vec<_>) = outliers.partition(|(_, percent)| *percent < 0.0);
    let title = comparison.metric.title();
    let sides = [(below, " below the median"), (above, " above the median")].into_iter();
    sides.filter_map(|(blocks, side)| of_outliers(&blocks, title, side)).collect()
}

/// Which blocks are outliers on one `side` of the median, and by how many percent.
fn of_outliers(outliers: &[(u64, f64)], title: &str, side: &'static str) -> Option<Remark> {
    let percents: Vec<f64> = outliers.iter().map(|(_, percent)| percent.abs()).collect();
    let range = wirebench_stats::range(&percents)?;
    let names: Vec<String> = outliers.iter().map(|(block, _)| block.to_string()).collect();
    let blocks = match names.split_last()? {
        (only, []) => format!("block {only} is an outlier"),
        (last, others) => format!("blocks {} and {last} are outliers", others.join(", ")),
    };
    let text = format!("{blocks} (included): {title} is ");
    Some(Remark::of_percents(text, range, side))
}
