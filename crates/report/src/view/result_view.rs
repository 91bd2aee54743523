//! A result as a whole.

use schemars::JsonSchema;
use serde::Serialize;
use std::{borrow::Cow, collections::BTreeMap};
use wirebench_schema::{
    journal::{
        EndReason, FixedRate, Journal, Resumed, SearchResult, SearchSpec, Start, Unavailable,
    },
    labels::Labels,
    load::LoadResult,
    printable::printable_json,
};

use super::{Cell, ComparisonFacts, Figure, Gate, PublishedReport, SearchFacts, Why};
use crate::analysis::{BaselineCheck, MachineStates, Metric, MetricFacts, Role};

/// The version of the JSON of results. It grows whenever a field changes its meaning or goes away.
pub const FORMAT: u32 = 4;

/// The verb that made a result.
#[derive(Clone, Copy, Debug, Default, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    #[default]
    Run,
    Ab,
    Tune,
    Compare,
    Load,
    CompareLoads,
}

/// A result of any verb.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct ResultView<'a> {
    /// The finding in words.
    pub sentence: String,
    /// [`FORMAT`] of the writer.
    pub format: u32,
    pub verb: Verb,
    /// Of `ab`: `higher`, `lower`, `same`, `not-higher`, `not-lower`, `inconclusive`, `not-valid`, `not-measured` or
    /// `not-comparable`. Absent in other verbs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'static str>,
    /// Where it comes from: one result, or the older and the newer one of a comparison.
    pub results: Vec<Source<'a>>,
    /// Each load of the newest result.
    pub loads: Vec<LoadFacts<'a>>,
    /// Each server under each load, and the requests of each name; in the order of the tables.
    pub cells: Vec<Cell>,
    /// The document that the suite repeats; absent without one, and at `smoke`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedReport<'a>>,
    /// Of `compare`: what speaks for and against the comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<&'a ComparisonFacts>,
    /// Of a search of `tune`: what each rate did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<&'a SearchFacts>,
    /// The profiles of `--why`, each load's baseline first; absent without any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<Why<'a>>,
    /// The result of the conditions; null without conditions.
    pub gate: Option<&'a Gate>,
}

/// Where a result comes from.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Source<'a> {
    /// Its name, usually its folder; absent where there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The first record of its journal; absent of a load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Cow<'a, Start>>,
    /// How it ended; null if it was cut off.
    pub ended: Option<EndReason>,
    /// When it went on after it was cut off.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub resumed: &'a [Resumed],
    /// Servers that could not be measured.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub unavailable: &'a [Unavailable],
    /// The objectives of a search; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sought: Option<&'a SearchSpec>,
    /// The rate that it found; absent if it was cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<SearchResult>,
    /// The record of a load; absent of servers that wirebench started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Cow<'a, LoadResult>>,
}

/// One load of a suite. Its definition is in `start`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct LoadFacts<'a> {
    pub name: String,
    /// The rate of a cost phase: who chose it, why, and who cannot hold it.
    pub rate: Option<&'a FixedRate>,
    /// Cohorts that count in which at least one run was made.
    pub cohorts: u32,
    /// The headline figure, by which rows are compared and sorted.
    pub primary_metric: &'static str,
    /// For each metric the baseline's two instances compared with each other (A/A).
    pub baseline_check: BTreeMap<&'static str, BaselineCheck>,
    /// The states of the machine in its visits, and the one whose visits alone are compared.
    pub machine_states: MachineStates,
}

impl<'a> Source<'a> {
    pub(crate) fn of(journal: &'a Journal) -> Self {
        Self {
            start: Some(Cow::Borrowed(&journal.start)),
            ended: journal.end.as_ref().map(|end| end.reason),
            resumed: &journal.resumed,
            unavailable: &journal.unavailable,
            sought: journal.sought.as_ref(),
            found: journal.found,
            ..Self::default()
        }
    }

    pub(crate) fn of_load(load: &'a LoadResult) -> Self {
        Self { load: Some(Cow::Borrowed(load)), ..Self::default() }
    }
}

impl ResultView<'_> {
    /// A result of a verb with this finding.
    pub(crate) fn of(verb: Verb, sentence: String, cells: Vec<Cell>) -> Self {
        Self { format: FORMAT, verb, sentence, cells, ..Self::default() }
    }

    /// All of it as JSON. All keys are words or numbers, and a number that JSON does not have becomes null.
    #[must_use]
    pub fn json(&self) -> String {
        pretty(self)
    }

    /// The suite of the newest result, when it began, as RFC 3339 in UTC, and its labels.
    pub(crate) fn origin(&self) -> (&str, &str, &Labels) {
        match self.results.last().map(|it| (it.start.as_deref(), it.load.as_deref())) {
            Some((Some(start), _)) => (&start.suite, &start.started, &start.labels),
            Some((_, Some(load))) => ("load", &load.started, &load.labels),
            _ => ("", "", &Labels { label: None, revision: None }),
        }
    }

    /// The same with one metric, as it is meant in each phase, if there is one.
    #[must_use]
    pub(crate) fn only(mut self, metric: Option<Metric>) -> Self {
        let Some(metric) = metric else { return self };
        for cell in &mut self.cells {
            let meant = metric.in_phase(cell.id.phase);
            cell.figures.retain(|figure| Some(figure.metric) == meant);
        }
        self
    }

    /// The rows of forms for other programs. The baseline's second instance shows noise and is skipped.
    pub(crate) fn tracked_cells(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|cell| cell.role != Role::SecondOfBaseline)
    }

    /// Each figure that trackers may have, valid or not.
    fn figures(&self) -> impl Iterator<Item = (&Cell, &Figure)> {
        let all = self.tracked_cells();
        let all = all.flat_map(|cell| cell.figures.iter().map(move |figure| (cell, figure)));
        all.filter(|(_, figure)| figure.metric.compared().is_some())
    }

    /// Each figure that may be tracked: those that are valid, because trackers have no mark for others.
    pub(crate) fn tracked(&self) -> impl Iterator<Item = (&Cell, &Figure)> {
        self.figures().filter(|(_, figure)| figure.is_known())
    }

    /// How many figures are not.
    pub(crate) fn not_valid(&self) -> usize {
        self.figures().filter(|(_, figure)| !figure.valid).count()
    }

    /// What a form without marks cannot say: servers that are not valid, and figures that are only bounds.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let invalid = self.tracked_cells().filter(|cell| !cell.valid);
        let invalid = invalid.map(|cell| {
            format!(
                "{} is not valid: {}",
                cell.id.benchmark(),
                cell.trouble.as_deref().unwrap_or_default()
            )
        });
        let bounded =
            self.tracked_cells().filter(|cell| cell.figures.iter().any(|it| cell.is_bound(it)));
        let bounded = bounded.map(|cell| format!("{}: {BOUND}", cell.id.benchmark()));
        let beyond = self.figures().filter(|(_, it)| it.valid && it.is_beyond_replies());
        let beyond = beyond.map(|(cell, it)| {
            let (name, field) = (cell.id.benchmark(), it.metric.field());
            format!(
                "{name}: {field} is only a lower bound, because no reply took as long, and skipped"
            )
        });
        self.absent().into_iter().chain(invalid).chain(bounded).chain(beyond).collect()
    }

    /// Servers that forms of rows lack.
    pub(crate) fn absent(&self) -> Vec<String> {
        let all = self.results.iter().flat_map(|it| it.unavailable);
        all.map(|it| format!("{} was not measured: {}", it.variant, it.reason)).collect()
    }
}

/// What the limit of the generator means.
pub(crate) const BOUND: &str =
    "the load generator was saturated, so throughput and latency are bounds";

/// Any report of this crate as text.
pub(crate) fn pretty(report: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(report).expect("every report can be written as JSON");
    printable_json(&text) + "\n"
}
