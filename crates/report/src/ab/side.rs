//! One of the two servers: its name, its command, and how its runs went. It has no figures.

use wirebench_judge::standing::{Standing, is_disturbed, standing, voids};
use wirebench_schema::journal::{Described, Journal, Reason, Run};

use crate::{
    analysis::{Metric, WorkloadRows, are_builds, asked_for},
    compare::ProgramIdentity,
    not_measured,
    shown::most_frequent,
    table_units::count,
};

/// One of the two servers.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// What it is called in all texts.
    pub name: &'a str,
    /// The variant, its command and its fingerprint.
    pub described: &'a Described,
    pub(super) instances: Vec<usize>,
    /// Runs that count.
    pub runs: usize,
    /// Runs without figures.
    pub failed: usize,
    /// Those whose figures are not what they claim to be, for a reason that was not asked for.
    pub invalid: usize,
    /// The use that its figures allow.
    pub standing: Standing,
    /// The fault, as a sentence without its subject; none without one.
    pub why: Option<String>,
    program: ProgramIdentity<'a>,
}

impl<'a> Side<'a> {
    /// The side at `index` of the journal's head, for a verdict about `metric`.
    pub(super) fn of(
        journal: &'a Journal,
        rows: &WorkloadRows<'a>,
        index: usize,
        metric: Metric,
    ) -> Self {
        let described = &journal.start.variants[index];
        let entry = described.variant.entry();
        let is_its = |row: &usize| rows.rows[*row].variant == &described.variant;
        let instances: Vec<usize> = (0..rows.rows.len()).filter(is_its).collect();
        let mut runs: Vec<&Run> =
            instances.iter().flat_map(|row| &rows.rows[*row].runs).copied().collect();
        runs.sort_by_key(|run| run.block);
        let (in_tail, asked) = (metric.is_tail(), asked_for(journal));
        let with = |is_meant: &dyn Fn(&Reason) -> bool| -> Vec<Vec<&Reason>> {
            let reasons = |run: &&'a Run| run.outcome.reasons().iter().filter(|it| is_meant(it));
            let found = runs.iter().map(|run| reasons(run).collect());
            found.filter(|it: &Vec<&Reason>| !it.is_empty()).collect()
        };
        let void = with(&|it| voids(it, in_tail, &asked));
        let failures: Vec<&str> = runs.iter().filter_map(|run| run.outcome.failure()).collect();
        let all = runs.len();
        let [a, b] = [0, 1].map(|index| &journal.start.variants[index].variant);
        let standing = match standing(&runs, in_tail, &asked) {
            Standing::Disturbed if are_builds(&journal.start, [a, b]) => Standing::Valid,
            standing => standing,
        };
        let most = |what: &str, of: &[Vec<&Reason>]| {
            // The end of the server explains more than what disturbed it.
            let first = failures.first().filter(|_| standing != Standing::Disturbed);
            let first = first.map(|why| (*why).to_owned());
            let why = first.or_else(|| most_frequent(of).map(Reason::brief)).unwrap_or_default();
            let of = of_all(of.len() + failures.len(), all);
            format!("{what} in {of}: {}", why.trim_end_matches('.'))
        };
        let why = match standing {
            Standing::NotMeasured if all == 0 => {
                Some(not_measured::lost(journal, &described.variant, &rows.workload.name))
            }
            Standing::NotMeasured => Some(most("failed", &[])),
            Standing::Hidden | Standing::NotCompared => Some(most("is not valid", &void)),
            Standing::Disturbed => Some(most("was disturbed", &with(&is_disturbed))),
            Standing::Valid => None,
        };
        Self {
            name: entry.split_once('/').map_or(entry, |(_, name)| name),
            described,
            instances,
            runs: all,
            failed: failures.len(),
            invalid: void.len(),
            standing,
            why,
            program: ProgramIdentity::of(described, &runs),
        }
    }
}

impl Side<'_> {
    /// What is wrong with its runs; empty where nothing is.
    #[must_use]
    pub fn trouble(&self) -> String {
        match (&self.why, self.failed + self.invalid) {
            (Some(why), _) => why.clone(),
            (None, 0) => String::new(),
            (None, bad) => format!("not valid in {}", of_all(bad, self.runs)),
        }
    }

    /// Whether both are the same program; none where that is not known. The same files are the same program where one
    /// command starts them in one folder.
    #[must_use]
    pub fn same_program(sides: &[Self; 2]) -> Option<bool> {
        let [a, b] = sides;
        let (one, other) = (a.described, b.described);
        let is_one = (&one.title, &one.fingerprint) == (&other.title, &other.fingerprint);
        match is_one && one.fingerprint.is_some() {
            true => Some(true),
            false => a.program.is_same(&b.program),
        }
    }
}

/// `3 of 4 runs`.
fn of_all(some: usize, all: usize) -> String {
    format!("{some} of {}", count(all, "run"))
}
