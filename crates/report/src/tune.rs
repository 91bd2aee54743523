//! What `wirebench tune` has found, from its journal alone: a sweep over workers and connections,
//! or a search for the highest rate that keeps objectives. Which of the two it is, the journal
//! tells.

mod charts;
mod document;
mod search;
mod sweep;
mod view;
mod words;

pub use search::{ProbedRate, SearchReport};
pub use sweep::{CellRank, Sweep, SweepCell};

use wirebench_schema::{
    journal::{EndReason, Journal, Reason, ReasonKind, Weight},
    suite::Workload,
};

use crate::{
    Report,
    document::Document,
    gates::{Gate, conditions_block},
    idle_words,
    load_words::describe_payload,
    table::{
        count,
        headline::{labels, sides},
    },
    view::ResultView,
};

/// The name of the suites of `wirebench tune`.
pub const SUITE: &str = "tune";

/// What a journal of `wirebench tune` says.
#[derive(Clone, Debug, PartialEq)]
pub enum Tuned {
    /// A sweep over workers and connections.
    Sweep(Box<Sweep>),
    /// A search for the highest rate.
    Search(Box<SearchReport>),
}

impl Tuned {
    /// Reads it from a journal; none when `wirebench tune` has not written it.
    #[must_use]
    pub fn of(journal: &Journal) -> Option<Self> {
        if journal.start.suite != SUITE {
            return None;
        }
        match SearchReport::of(journal) {
            Some(search) => Some(Self::Search(Box::new(search))),
            None => Sweep::of(journal).map(|it| Self::Sweep(Box::new(it))),
        }
    }
}

/// The result of a sweep or a search, and that of the conditions that the user set.
#[derive(Clone, Copy, Debug)]
pub struct TuneReport<'a> {
    pub journal: &'a Journal,
    pub tuned: &'a Tuned,
    pub gate: Option<&'a Gate>,
}

impl Report for TuneReport<'_> {
    fn document(&self) -> Document {
        let mut document = match self.tuned {
            Tuned::Sweep(sweep) => document::of_sweep(sweep),
            Tuned::Search(search) => document::of_search(search),
        };
        document.blocks.push(conditions_block(self.gate));
        document
    }

    fn view(&self) -> ResultView<'_> {
        view::view(self)
    }

    fn json_file(&self) -> &'static str {
        "tune.json"
    }
}

/// Why nothing was measured, or not all: failed checks, and an end before the end.
fn refusals(journal: &Journal) -> Vec<String> {
    let unavailable = journal.unavailable.iter();
    let mut lines: Vec<String> =
        unavailable.map(|it| format!("{}: {}", it.variant, it.reason)).collect();
    for verified in &journal.verified {
        let failed = verified.failed.iter();
        lines.extend(failed.map(|(check, why)| format!("not measured, fails `{check}`: {why}")));
    }
    lines
}

/// With what the runs were made, and how they ended, in one line.
fn headline(journal: &Journal, workload: &Workload, shape: &str, window: &str) -> String {
    let start = &journal.start;
    let (payload, labels) = (describe_payload(workload), labels(&start.labels));
    let (seed, sides, ended) =
        (start.seed, idle_words::after(&sides(&start.placement), start.idle), ended(journal));
    format!("{shape}{payload}{labels}, {window}seed {seed}, {sides}{ended}")
}

/// A combination in words.
fn place(workers: u32, connections: usize) -> String {
    format!("{} and {}", count(workers, "worker"), count(connections, "connection"))
}

/// How the runs ended, as the end of a headline.
fn ended(journal: &Journal) -> &'static str {
    match journal.end.as_ref().map(|end| end.reason) {
        Some(EndReason::Complete | EndReason::Precise | EndReason::Decided) => "",
        Some(EndReason::Budget) => "; stopped after the budget",
        Some(EndReason::Interrupted) => "; interrupted",
        None => "; cut off",
    }
}

/// Adds the reasons of a run that make its figures, or the tail of its latencies, something else than
/// what they claim to be, each kind once: its figure is another one in each run.
fn add_invalid(notes: &mut Vec<(ReasonKind, String)>, reasons: &[Reason]) {
    let spoils = |weight| matches!(weight, Weight::Invalid | Weight::Tail);
    for reason in reasons.iter().filter(|reason| spoils(reason.weight)) {
        if notes.iter().all(|(kind, _)| *kind != reason.kind) {
            notes.push((reason.kind, reason.text()));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
