//! What must be known of a row beside its figures, as sentences: refusals, failures, what speaks
//! against its runs, strange and missing blocks. How often a sentence is shown is not decided here.

use wirebench_schema::{
    journal::{Journal, Outcome, Run, Verified, Weight, block_of_cohort},
    suite::Workload,
};
use wirebench_stats::Interval;

use crate::analysis::{Comparison, Metric, Role, Row, WorkloadRows};

/// Prefix of a reason that makes the figures invalid.
const INVALID: &str = "! ";
/// Prefix of a reason that makes only the tail of the latencies invalid.
const TAIL_INVALID: &str = "! p99 and above: ";

const SECOND_WITHOUT_FIRST: &str = "second instance of the baseline (A/A); the first has no figures, so the \
                                    baseline is another row";

/// All findings about the row at `index`, each once.
pub(crate) fn remarks(
    journal: &Journal,
    rows: &WorkloadRows<'_>,
    index: usize,
    comparison: &Comparison,
) -> Vec<String> {
    let row = &rows.rows[index];
    let mut remarks = Vec::new();
    let mut add = |remark: String| {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    };
    let slow = rows.rate.iter().flat_map(|rate| &rate.too_slow);
    slow.filter(|(variant, _)| variant == row.variant)
        .for_each(|(_, why)| add(format!("not measured at this rate: {why}")));
    checks(journal, row, &rows.workload).into_iter().for_each(&mut add);
    for run in &row.runs {
        of_run(run, comparison.metric).into_iter().for_each(&mut add);
    }
    // What was measured to warm up does not count; that it failed does.
    for run in &row.warm_up {
        failure(run).into_iter().for_each(|it| add(format!("in a warm-up block: {it}")));
    }
    missing(row, rows.blocks).into_iter().for_each(&mut add);
    if row.role == Role::SecondWithoutFirst {
        add(SECOND_WITHOUT_FIRST.to_owned());
    }
    without_ratio(rows, index, comparison).into_iter().for_each(&mut add);
    strange(index, comparison).into_iter().for_each(&mut add);
    remarks
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

/// What must be known of one run.
fn of_run(run: &Run, metric: Metric) -> Vec<String> {
    // A limit stands as a sign in front of the ratio, where the metric is one that it bounds.
    let is_shown = |weight| weight != Weight::Limit || !metric.is_bounded_by_generator();
    let reasons = run.outcome.reasons().iter();
    let told = reasons.filter(|reason| is_shown(reason.weight)).map(|reason| {
        let mark = match reason.weight {
            Weight::Invalid => INVALID,
            Weight::Tail => TAIL_INVALID,
            Weight::Limit | Weight::Note => "",
        };
        format!("{mark}{}", reason.text)
    });
    told.chain(failure(run).map(|it| format!("{INVALID}{it}"))).collect()
}

/// Why a run has no figures.
fn failure(run: &Run) -> Option<String> {
    let Outcome::Failed { reason, server_stderr } = &run.outcome else { return None };
    let said = server_stderr.trim();
    let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
    Some(format!("failed: {reason}{said}"))
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
    let by_block = |index: usize| comparison.rows[index].as_ref().map(|it| &it.by_block);
    if comparison.rows[row].as_ref()?.ratio.is_some() {
        return None;
    }
    let has_hole = |index| by_block(index).is_some_and(|it| it.values().any(|it| *it <= 0.0));
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
fn strange(index: usize, comparison: &Comparison) -> Vec<String> {
    let Some(compared) = &comparison.rows[index] else { return Vec::new() };
    let band = Interval::of_margin(comparison.margin);
    let outliers = compared.outlier_blocks.iter().filter_map(|block| {
        let ratio = compared.by_block.get(block)? / compared.median;
        let is_strange = ratio.is_finite() && !band.contains(ratio);
        is_strange.then_some((u64::from(block_of_cohort(*block)) + 1, (ratio - 1.0) * 100.0))
    });
    let (below, above): (Vec<_>, Vec<_>) = outliers.partition(|(_, percent)| *percent < 0.0);
    let title = comparison.metric.title();
    let sides = [(below, "below"), (above, "above")].into_iter();
    sides.filter_map(|(blocks, side)| of_outliers(&blocks, title, side)).collect()
}

/// Which blocks are outliers on one `side` of the median, and by how many percent.
fn of_outliers(outliers: &[(u64, f64)], title: &str, side: &str) -> Option<String> {
    let percents = outliers.iter().map(|(_, percent)| percent.abs());
    let [least, most] =
        [percents.clone().min_by(f64::total_cmp)?, percents.max_by(f64::total_cmp)?]
            .map(|percent| format!("{percent:.1}"));
    let size = if least == most { least } else { format!("{least}..{most}") };
    let names: Vec<String> = outliers.iter().map(|(block, _)| block.to_string()).collect();
    Some(match names.split_last()? {
        (only, []) => {
            format!("block {only} is an outlier (included): {title} is {size} % {side} the median")
        }
        (last, others) => format!(
            "blocks {} and {last} are outliers (included): {title} is {size} % {side} the median",
            others.join(", ")
        ),
    })
}
