//! The lists below the tables: what was not measured, what entries skip, and how to read the report.

use wirebench_schema::{
    journal::Journal,
    suite::{Phase, Scale},
};

use crate::{
    analysis::WorkloadRows,
    document::{Block, Cell},
    shown::SIGNS,
};

/// What could not be measured, and why. `is_listed` decides on the parts of the suite that were left out.
pub(crate) fn unavailable(journal: &Journal, is_listed: impl Fn(&str) -> bool) -> Vec<String> {
    let left_out = journal.start.left_out.iter().filter(|it| is_listed(&it.what));
    let left_out = left_out.map(|it| format!("{}: {}", it.what, it.reason));
    let unavailable = journal.unavailable.iter();
    left_out.chain(unavailable.map(|it| format!("{}: {}", it.variant, it.reason))).collect()
}

/// What each measured entry skips, according to its own description.
pub(super) fn skips(journal: &Journal) -> Vec<String> {
    let declared = journal.start.variants.iter().filter(|described| !described.skips.is_empty());
    declared.map(|it| format!("{}: {}", it.variant, it.skips.join("; "))).collect()
}

/// When a run that was cut off went on, and what was not as before.
pub(super) fn resumed(journal: &Journal) -> Vec<String> {
    let one = |it: &wirebench_schema::journal::Resumed| match it.differences.as_slice() {
        [] => format!("{}: no changes", it.at),
        differences => format!("{}: {}", it.at, differences.join("; ")),
    };
    journal.resumed.iter().map(one).collect()
}

/// A line of the legend, and the cells that need it.
type Explained = (fn(&Cell) -> bool, &'static str);

const ALWAYS: fn(&Cell) -> bool = |_| true;

const READING_AID: [Explained; 5] = [
    (
        ALWAYS,
        "ratio: to the mean of the baseline's two instances (A/A); (a..b): 95 % interval, simultaneous for \
         all rows; [a..b]: range, with too few blocks",
    ),
    (
        ALWAYS,
        "a row differs if its interval excludes 1 and is not inside the margin (3 % saturated, 5 % at a rate, \
         10 % of a latency); same if its 90 % interval is inside; otherwise inconclusive",
    ),
    (
        |cell| {
            let ends = cell.text.split_once('-');
            ends.is_some_and(|(first, last)| is_number(first) && is_number(last))
        },
        "rank a-b: possible ranks of the row; rows with a rank in common may be equal",
    ),
    (|cell| cell.text.starts_with("! ") || cell.text.ends_with(['!', '?']), SIGNS),
    (
        |cell| !cell.notes.is_empty(),
        "figures: medians of the runs; a..b in a note: minimum to maximum over the runs with that note",
    ),
];

/// How to read a document's tables.
pub(super) const OF_DOCUMENT: [&str; 4] = [
    "published: name and figures of the document, its ratio to the same row; measured: variant and medians of this \
     run; compare ratios only, and only for similar loads",
    "-: not measured, or not valid; !: figures of a row that is not valid; > in front of a latency: lower bound",
    "same program; same design (written anew, or newer versions): conclusions use only these rows",
    "different; missing: not compared with the document, see the list of its rows for the reason",
];

const OF_SATURATED: [Explained; 2] = [
    (
        |cell| cell.text.starts_with(['<', '>', '~']),
        "<= (>=, ~): the load generator was saturated in the runs of the baseline (the row, both), so the \
         ratio is a bound",
    ),
    (
        |cell| cell.text.contains("generator"),
        "bound by generator: the load generator was saturated, throughput is a lower bound",
    ),
];

/// What the columns of these sections mean, and what they cannot show.
pub(super) fn reading_aid(
    journal: &Journal,
    workloads: &[WorkloadRows<'_>],
    sections: &[Block],
) -> Vec<String> {
    let has = |phase: Phase| workloads.iter().any(|rows| rows.workload.phase == phase);
    let mut lines = READING_AID.to_vec();
    if has(Phase::Saturate) {
        lines.extend(OF_SATURATED);
    }
    if has(Phase::Idle) {
        lines.push((ALWAYS, "memory/connection: memory of the server, without that of the kernel"));
    }
    let published = journal.start.published.is_some();
    if published && journal.start.scale != Scale::Smoke {
        lines.extend(OF_DOCUMENT.map(|line| (ALWAYS, line)));
    }
    if journal.start.warmup_blocks > 0 {
        lines
            .push((ALWAYS, "warm-up blocks are recorded in the journal and excluded from figures"));
    }
    let cells: Vec<&Cell> = sections.iter().flat_map(Block::cells).collect();
    let needed = lines.into_iter().filter(|(explains, _)| cells.iter().any(|it| explains(it)));
    needed.map(|(_, line)| line.to_owned()).collect()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|sign| sign.is_ascii_digit())
}
