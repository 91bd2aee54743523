//! `run --strict`: which rows have figures that are a bound, or not what they claim to be. It
//! decides nothing: the runs carry their reasons.

use wirebench_schema::journal::{Counts, Journal, Reason, Run, Weight};

use crate::out;

/// Says which rows are not valid, each with one of its heaviest reasons, and how many they are.
pub(super) fn report(journal: &Journal) -> usize {
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
    let mut rows: Vec<(&Run, &Reason, usize)> = Vec::new();
    for run in runs() {
        let Some(reason) = run.outcome.reasons().iter().max_by_key(|reason| reason.weight) else {
            continue;
        };
        if reason.weight == Weight::Note {
            continue;
        }
        match rows.iter_mut().find(|(first, ..)| same_row(first, run)) {
            Some(row) => {
                row.2 += 1;
                if reason.weight > row.1.weight {
                    row.1 = reason;
                }
            }
            None => rows.push((run, reason, 1)),
        }
    }
    let sentence = |(first, reason, count): &(&Run, &Reason, usize)| {
        let of = runs().filter(|run| same_row(first, run)).count();
        let (variant, workload) = (&first.variant, &first.workload);
        let what = match reason.weight {
            Weight::Invalid => "not valid",
            Weight::Limit => "only a bound",
            Weight::Tail => "p99 and above not valid",
            Weight::Note => "note",
        };
        format!("{what} in {count} of {of} runs: {variant} {workload}: {}", reason.brief())
    };
    rows.iter().map(sentence).collect()
}

fn same_row(a: &Run, b: &Run) -> bool {
    (&a.variant, &a.workload) == (&b.variant, &b.workload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::journal::{IdleMeasurement, Outcome, ReasonKind, Start};

    fn run(workload: &str, counts: Counts, weights: &[Weight]) -> Run {
        let reason = |weight: &Weight| ReasonKind::Errors.reason(*weight, None, weight.name());
        Run {
            block: 0,
            group: 0,
            counts,
            position: 0,
            variant: "c/epoll".parse().unwrap(),
            copy: 0,
            workload: workload.into(),
            started: String::new(),
            workers: 1,
            server_command: Vec::new(),
            generator_command: Vec::new(),
            outcome: Outcome::Idle(Box::new(IdleMeasurement {
                reasons: weights.iter().map(reason).collect(),
                ..IdleMeasurement::default()
            })),
        }
    }

    fn journal(runs: Vec<Run>) -> Journal {
        Journal { runs, ..Journal::new(Start::default()) }
    }

    #[test]
    fn notes_and_runs_that_do_not_count_keep_a_row_valid() {
        let runs = vec![
            run("hello", Counts::Yes, &[Weight::Note]),
            run("hello", Counts::WarmUp, &[Weight::Invalid]),
            run("hello", Counts::Pilot, &[Weight::Limit]),
            run("hello", Counts::Yes, &[]),
        ];
        assert_eq!(not_valid(&journal(runs)), [""; 0]);
    }

    #[test]
    fn a_row_is_reported_once_with_its_heaviest_reason_and_how_many_runs_it_spoils() {
        let runs = vec![
            run("hello", Counts::Yes, &[Weight::Limit]),
            run("echo", Counts::Yes, &[Weight::Note, Weight::Limit]),
            run("hello", Counts::Yes, &[Weight::Note, Weight::Invalid]),
            run("hello", Counts::Yes, &[]),
            run("hello-cost", Counts::Yes, &[Weight::Tail]),
        ];
        let why = "some requests failed. Check the server's log.";
        let expected = [
            format!("not valid in 2 of 3 runs: c/epoll hello: {why}"),
            format!("only a bound in 1 of 1 runs: c/epoll echo: {why}"),
            format!("p99 and above not valid in 1 of 1 runs: c/epoll hello-cost: {why}"),
        ];
        assert_eq!(not_valid(&journal(runs)), expected);
    }
}
