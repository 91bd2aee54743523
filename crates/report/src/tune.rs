//! The result of `wirebench tune`, from its journal alone: a sweep over workers and connections, or a search for the
//! highest rate that keeps objectives.

mod charts;
mod document;
mod gate;
mod search;
mod sweep;
mod words;

pub use crate::suites::TUNE as SUITE;
pub use gate::gate;
pub(crate) use search::RateSearch;
pub(crate) use sweep::Sweep;

use wirebench_schema::journal::{Journal, ReasonKind, Run, Weight};

use crate::{
    Report,
    analysis::Analysis,
    build::loads,
    document::Document,
    load_words::{describe_payload, describe_stop},
    services,
    table::headline::{conditions, labels},
    table_units::count,
    view::{CellRank, Gate, ProbedRate, ResultView, Source, Verb},
};

/// The result of a sweep or a search.
#[derive(Debug)]
pub struct Tuned<'a> {
    pub(crate) analysis: Analysis<'a>,
    pub(crate) tuning: Tuning<'a>,
    /// The result of the conditions that the user set.
    pub gate: Option<Gate>,
}

#[derive(Debug)]
pub(crate) enum Tuning<'a> {
    Sweep(Sweep<'a>),
    Search(RateSearch<'a>),
}

impl<'a> Tuned<'a> {
    /// Reads it from a journal; none when `wirebench tune` has not written it.
    #[must_use]
    pub fn of(journal: &'a Journal) -> Option<Self> {
        if journal.start.suite != SUITE {
            return None;
        }
        let analysis = Analysis::of(journal);
        let tuning = match RateSearch::of(journal) {
            Some(search) => Tuning::Search(search),
            None => Tuning::Sweep(Sweep::of(&analysis)?),
        };
        Some(Self { analysis, tuning, gate: None })
    }

    /// The result in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        match &self.tuning {
            Tuning::Sweep(sweep) => words::highest(sweep),
            Tuning::Search(search) => words::sentence(search),
        }
    }
}

impl Report for Tuned<'_> {
    fn document(&self) -> Document {
        document::document(self)
    }

    fn view(&self) -> ResultView<'_> {
        let (cells, search) = match &self.tuning {
            Tuning::Sweep(sweep) => (sweep.all.clone(), None),
            Tuning::Search(search) => (search.cells.clone(), Some(&search.facts)),
        };
        ResultView {
            results: vec![Source::of(self.analysis.journal)],
            loads: loads(&self.analysis.workloads),
            search,
            gate: self.gate.as_ref(),
            ..ResultView::of(Verb::Tune, self.sentence(), cells)
        }
    }

    fn json_file(&self) -> &'static str {
        "tune.json"
    }
}

/// How the runs were made, and how they ended, in one line.
fn headline(Tuned { analysis, tuning, .. }: &Tuned<'_>) -> String {
    let start = &analysis.journal.start;
    let (shape, workload, window) = match tuning {
        Tuning::Sweep(sweep) => {
            (format!("{} per cell", count(start.blocks, "run")), sweep.workload, String::new())
        }
        Tuning::Search(search) => {
            let window = format!("{}, ", describe_stop(search.workload.stop));
            (search.shape(), search.workload, window)
        }
    };
    let (payload, labels) = (describe_payload(workload), labels(&start.labels));
    format!("{shape}{payload}{labels}, {window}{}", conditions(analysis.journal))
}

/// A combination in words.
fn place(workers: u32, connections: usize) -> String {
    format!("{} and {}", count(workers, "worker"), count(connections, "connection"))
}

/// Why nothing was measured, or not all, and notes on the server.
fn refusals(journal: &Journal) -> Vec<String> {
    let unavailable = journal.unavailable.iter();
    let unavailable = unavailable.map(|it| format!("{}: {}", it.variant, it.reason));
    let failed = journal.verified.iter().flat_map(|it| &it.failed);
    let failed = failed.map(|(check, why)| format!("not measured, fails `{check}`: {why}"));
    unavailable.chain(failed).chain(services::notes(journal)).collect()
}

/// The reasons for which figures of these runs, or the tails of their latencies, are void. Of each kind there is the
/// first, because the figure differs from run to run.
fn invalid<'a>(runs: impl Iterator<Item = &'a Run>) -> impl Iterator<Item = String> {
    let mut found: Vec<(ReasonKind, String)> = Vec::new();
    let spoils = |weight| matches!(weight, Weight::Invalid | Weight::Tail);
    let reasons = runs.flat_map(|run| run.outcome.reasons());
    for reason in reasons.filter(|reason| spoils(reason.weight)) {
        if found.iter().all(|(kind, _)| *kind != reason.kind) {
            found.push((reason.kind, reason.text()));
        }
    }
    found.into_iter().map(|(_, text)| text)
}

#[cfg(test)]
pub(crate) mod tests;
