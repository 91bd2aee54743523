//! `run --strict`: which rows have figures that are a bound, or not what they claim to be. It
//! decides nothing: the runs carry their reasons.

use wirebench_schema::journal::{Counts, Journal, Run, Weight};

use crate::out;

/// Says which rows are not valid, each with one of its heaviest reasons, and how many they are.
pub(super) fn tell(journal: &Journal) -> usize {
    let rows = not_valid(journal);
    for row in &rows {
        out::error(row);
    }
    rows.len()
}

/// One sentence for each row with such runs, in the order of the journal. Runs that do not count
/// are no part of any row.
fn not_valid(journal: &Journal) -> Vec<String> {
    let runs = || journal.runs.iter().filter(|run| run.counts == Counts::Yes);
    let mut rows: Vec<(&Run, Weight, &str, usize)> = Vec::new();
    for run in runs() {
        let Some(reason) = run.outcome.reasons().iter().max_by_key(|reason| reason.weight) else {
            continue;
        };
        if reason.weight == Weight::Note {
            continue;
        }
        match rows.iter_mut().find(|(first, ..)| same_row(first, run)) {
            Some(row) => {
                row.3 += 1;
                if reason.weight > row.1 {
                    (row.1, row.2) = (reason.weight, &reason.text);
                }
            }
            None => rows.push((run, reason.weight, &reason.text, 1)),
        }
    }
    let sentence = |(first, weight, text, count): &(&Run, Weight, &str, usize)| {
        let of = runs().filter(|run| same_row(first, run)).count();
        let (variant, workload) = (&first.variant, &first.workload);
        let what = if *weight == Weight::Limit { "only a bound" } else { "not valid" };
        format!("{what}: {variant} {workload}: {text} ({count} of {of} runs)")
    };
    rows.iter().map(sentence).collect()
}

fn same_row(a: &Run, b: &Run) -> bool {
    (&a.variant, &a.workload) == (&b.variant, &b.workload)
}
