//! One of the two servers: its name, its command, and how its runs went. It has no figures.

use wirebench_schema::{
    id::VariantId,
    journal::{Counts, Described, Journal, Reason, ReasonKind, Run},
};

use crate::{
    analysis::{Comparison, Metric, WorkloadRows, asked_for, invalid},
    compare::{ProgramIdentity, program},
    notes::Notes,
    remarks::remarks,
    table::count,
};

/// Reasons that come from other work on the machine. Slices of both sides alternate, so such work
/// widens the interval and makes the checks of equal instances fail before it makes a difference.
const DISTURBANCES: [ReasonKind; 7] = [
    ReasonKind::ScheduleLag,
    ReasonKind::GeneratorStall,
    ReasonKind::Neighbour,
    ReasonKind::Stolen,
    ReasonKind::Throttled,
    ReasonKind::Swapped,
    ReasonKind::SlicesDropped,
];

#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// What it is called in all texts.
    pub name: &'a str,
    /// The variant, its command and its fingerprint.
    pub described: &'a Described,
    pub(super) instances: Vec<usize>,
    pub runs: usize,
    pub failed: usize,
    /// Those whose figures are not what they claim to be, for a reason that was not asked for.
    pub invalid: usize,
    pub state: State,
    program: Option<ProgramIdentity<'a>>,
}

/// What the runs of a side are worth.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum State {
    Valid,
    /// Most of them are not, because of other work on the machine, which met both sides alike; as a
    /// sentence without its subject.
    Disturbed(String),
    /// Most of them are not, as a sentence without its subject.
    NotValid(String),
    /// None has figures, as a sentence without its subject.
    NotMeasured(String),
}

impl State {
    /// What is wrong, as a sentence without its subject.
    pub(super) fn why(&self) -> Option<&str> {
        match self {
            Self::Valid => None,
            Self::Disturbed(why) | Self::NotValid(why) | Self::NotMeasured(why) => Some(why),
        }
    }
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
        let instances = instances(journal, rows, index);
        let mut runs: Vec<&Run> =
            instances.iter().flat_map(|row| &rows.rows[*row].runs).copied().collect();
        runs.sort_by_key(|run| run.block);
        let asked_for = asked_for(journal);
        let invalid =
            runs.iter().map(|run| invalid(run, metric, &asked_for)).filter(|it| !it.is_empty());
        let invalid: Vec<Vec<&Reason>> = invalid.collect();
        let failures: Vec<&str> = runs.iter().filter_map(|run| run.outcome.failure()).collect();
        let (all, bad) = (runs.len(), invalid.len() + failures.len());
        let state = if failures.len() == all {
            let why = match failures.first() {
                Some(why) => format!("failed in {}: {why}", of_all(all, all)),
                None => not_run(journal, rows, &described.variant),
            };
            State::NotMeasured(why)
        } else if bad * 2 > all {
            let why = most_frequent(&invalid)
                .or(failures.first().map(|why| (*why).to_owned()))
                .map_or_else(String::new, |why| format!(": {}", why.trim_end_matches('.')));
            let why = format!("is not valid in {}{why}", of_all(bad, all));
            let is_disturbed =
                |run: &&Vec<&Reason>| run.iter().all(|it| DISTURBANCES.contains(&it.kind));
            let disturbed = invalid.iter().filter(is_disturbed).count();
            if (bad - disturbed) * 2 > all { State::NotValid(why) } else { State::Disturbed(why) }
        } else {
            State::Valid
        };
        Self {
            name: entry.split_once('/').map_or(entry, |(_, name)| name),
            described,
            instances,
            runs: all,
            failed: failures.len(),
            invalid: invalid.len(),
            state,
            program: program(described, &runs),
        }
    }
}

impl Side<'_> {
    /// What is wrong with its runs; empty where nothing is.
    #[must_use]
    pub fn trouble(&self) -> String {
        match (self.state.why(), self.failed + self.invalid) {
            (Some(why), _) => why.to_owned(),
            (None, 0) => String::new(),
            (None, bad) => format!("not valid in {}", of_all(bad, self.runs)),
        }
    }

    /// Whether both are the same program; none where that is not known.
    #[must_use]
    pub fn same_program(sides: &[Self; 2]) -> Option<bool> {
        let [a, b] = sides.each_ref().map(|side| side.program.as_ref());
        Some(a? == b?)
    }
}

/// `3 of 4 runs`.
fn of_all(some: usize, all: usize) -> String {
    format!("{some} of {}", count(all, "run"))
}

/// The rows of the side at `index` of the journal's head, one for each instance in a cohort.
pub(super) fn instances(journal: &Journal, rows: &WorkloadRows<'_>, index: usize) -> Vec<usize> {
    let variant = &journal.start.variants[index].variant;
    (0..rows.rows.len()).filter(|row| rows.rows[*row].variant == variant).collect()
}

/// The sentence of the reason that most runs have.
fn most_frequent(runs: &[Vec<&Reason>]) -> Option<String> {
    let times =
        |kind: ReasonKind| runs.iter().filter(|it| it.iter().any(|it| it.kind == kind)).count();
    let mut all: Vec<&Reason> = runs.iter().flatten().copied().collect();
    // The first of those that are equally frequent.
    all.reverse();
    all.into_iter().max_by_key(|reason| times(reason.kind)).map(Reason::brief)
}

/// Why there is no run of a side.
pub(crate) fn not_run(journal: &Journal, rows: &WorkloadRows<'_>, variant: &VariantId) -> String {
    let verified = journal.verified.iter().filter(|it| it.variant == *variant);
    if let Some((check, why)) = verified.flat_map(|it| &it.failed).next() {
        return format!("fails the check `{check}`: {why}");
    }
    let slow = rows.rate.iter().flat_map(|rate| &rate.too_slow);
    if let Some((_, why)) = slow.into_iter().find(|(slow, _)| slow == variant) {
        return format!("cannot hold the rate: {why}");
    }
    let pilots = journal.runs.iter().filter(|run| run.counts == Counts::Pilot);
    let mut pilots = pilots.filter(|run| run.variant == *variant);
    match pilots.find_map(|run| run.outcome.failure()) {
        Some(why) => format!("failed in the pilot run: {why}"),
        None => "was not run".to_owned(),
    }
}

/// What must be known of the runs of a side, as sentences; numbers that differ between runs are
/// ranges.
pub(super) fn remarks_of(
    journal: &Journal,
    rows: &WorkloadRows<'_>,
    side: &Side<'_>,
    comparison: &Comparison,
) -> Vec<String> {
    let instances = side.instances.iter();
    let all = instances.flat_map(|row| remarks(journal, rows, *row, comparison));
    Notes::of(all).texts().collect()
}
