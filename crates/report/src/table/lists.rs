//! The lists below the tables: what was not measured, what entries leave out, and how to read it
//! all.

use wirebench_schema::{
    journal::Journal,
    suite::{Phase, Scale},
};

use crate::analysis::WorkloadRows;

/// What could not be measured, and why.
pub(super) fn unavailable(journal: &Journal) -> Vec<String> {
    let left_out = journal.start.left_out.iter().map(|it| format!("{}: {}", it.what, it.reason));
    let unavailable = journal.unavailable.iter();
    left_out.chain(unavailable.map(|it| format!("{}: {}", it.variant, it.reason))).collect()
}

/// What each entry that was measured leaves out, as it declares itself.
pub(super) fn skips(journal: &Journal) -> Vec<String> {
    let declared = journal.start.variants.iter().filter(|described| !described.skips.is_empty());
    declared.map(|it| format!("{}: {}", it.variant, it.skips.join("; "))).collect()
}

/// When a run that was cut off went on, and what was not as before.
pub(super) fn resumed(journal: &Journal) -> Vec<String> {
    let one = |it: &wirebench_schema::journal::Resumed| match it.differences.as_slice() {
        [] => format!("{}: all as it was", it.at),
        differences => format!("{}: {}", it.at, differences.join("; ")),
    };
    journal.resumed.iter().map(one).collect()
}

/// What the columns mean, and what they cannot show.
pub(super) fn reading_aid(journal: &Journal, workloads: &[WorkloadRows<'_>]) -> Vec<String> {
    let has = |phase: Phase| workloads.iter().any(|rows| rows.workload.phase == phase);
    let mut lines = vec![
        "a ratio refers to the mean of the baseline's two instances (A/A); (a..b) is its 95 % interval \
         for all rows together, [a..b] the range of too few blocks",
        "a row differs when that interval excludes 1 and is not inside the margin (3 % saturated, 5 % at \
         a rate, 10 % of a latency); it is the same when its 90 % interval is inside",
        "rank a-b: the ranks that the row may have; rows that share one need not differ",
        "!: not valid, the row or the one figure; the notes below the table say why; ?: fewer than 10 \
         samples beyond it",
        "figures are medians of the runs; a..b in a note: from the least to the most over all runs \
         that have it",
    ];
    if has(Phase::Saturate) {
        lines.extend([
            "<= (>=): the load generator was at its limit in the baseline's (the row's) runs; ~: in \
             both; then the verdict is what can be said nevertheless",
            "bound by generator: the load generator was at its limit, the server may do more",
        ]);
    }
    if has(Phase::Idle) {
        lines.push("memory/connection: what the server keeps; the kernel's share is not in it");
    }
    let published = journal.start.published.is_some();
    if published && journal.start.scale != Scale::Smoke {
        lines.push(
            "published: a figure of the document, and its ratio to the same row's; only ratios can \
             be compared, and only as far as the loads are alike",
        );
    }
    if journal.start.warmup_blocks > 0 {
        lines.push("runs of warm-up blocks are in the journal and in no figure");
    }
    lines.into_iter().map(str::to_owned).collect()
}
