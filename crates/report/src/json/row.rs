//! One row in `report.json`.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use wirebench_schema::{
    entry::Class,
    journal::{Bound, Journal, ReasonKind, WakeUpPrice, Weight},
    load::NamedRequests,
    suite::Phase,
};
use wirebench_stats::{Estimate, Rank};

use crate::{
    analysis::{self, Compared, Comparison, Metric, MetricFacts, Role, WorkloadRows},
    by_name,
    notes::Notes,
    remarks::remarks,
};

/// What the runs of one variant, or of one copy of it, say together.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Row<'a> {
    /// The variant.
    pub variant: String,
    /// Which of several copies, from 0.
    pub copy: u32,
    /// `baseline`, `second-of-baseline` (A/A) or `entrant`.
    pub role: &'static str,
    /// `raw`, `library` or `framework`; absent for a command line of the user's.
    pub class: Option<Class>,
    /// Whether at least three cohorts are valid, or all where there are fewer. Cohorts with a void run are
    /// in no figure then.
    pub valid: bool,
    /// `valid` for latencies from the 99th percentile on.
    pub tail_valid: bool,
    /// How many runs count.
    pub runs: Runs,
    /// Requests and connections that failed, over all runs.
    pub errors: u64,
    /// Each side that bounded a run.
    pub bound_by: Vec<Bound>,
    /// Whether the load generator was at its limit in at least half of the runs: then the row may be
    /// better.
    pub generator_limited: bool,
    /// Whether the server was busy for at least 95 % of the time in most runs of a `saturate` phase;
    /// absent in other phases and without figures.
    pub saturated: Option<bool>,
    /// Figures by metric; a metric without a value is absent.
    pub figures: BTreeMap<&'static str, Figure<'a>>,
    /// Cost of waking for a request of it; absent without `--idle both`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_up: Option<WakeUpPrice>,
    /// The requests of each name over its runs; absent where all have one name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_name: Vec<NamedRequests>,
    /// Its ratio to the baseline by the primary metric in each other state of the machine of which there are three
    /// cohorts.
    pub other_states: Vec<OtherState>,
    /// What must be known of its runs.
    pub reasons: Vec<Reasons>,
    /// All that the tables say of it, as sentences; numbers that differ between runs are ranges.
    pub notes: Vec<String>,
}

/// One metric of the row.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Figure<'a> {
    #[serde(flatten)]
    pub compared: &'a Compared,
    /// Which ranks the row may have; absent with few blocks, and of the baseline's second run.
    pub rank: Option<Rank>,
}

/// The ratio of a row in another state.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct OtherState {
    /// Its number in `machine_states`.
    pub state: usize,
    /// The ratio to the baseline.
    pub ratio: Estimate,
}

/// Numbers of runs.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Runs {
    /// With figures.
    pub measured: usize,
    /// Without.
    pub failed: usize,
    /// With void figures.
    pub invalid: usize,
    /// Of which only latencies from the 99th percentile on are void.
    pub tail_invalid: usize,
}

/// One kind of reason over all runs of a row.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Reasons {
    /// What it is.
    pub kind: ReasonKind,
    /// What it does to the figures.
    pub weight: Weight,
    /// How often it was found; a run may have more than one of a kind.
    pub times: usize,
    /// The smallest figure, in the unit of the kind.
    pub figure_least: Option<f64>,
    /// The largest.
    pub figure_most: Option<f64>,
    /// Sentences; numbers that differ between runs are ranges.
    pub texts: Vec<String>,
}

/// The row at `index` by all metrics.
pub(super) fn row<'a>(
    journal: &Journal,
    rows: &'a WorkloadRows<'_>,
    index: usize,
    comparisons: &[&'a Comparison],
) -> Row<'a> {
    let row = &rows.rows[index];
    let runs = Runs {
        measured: row.measured(),
        failed: row.failed(),
        invalid: row.invalid(),
        tail_invalid: row.tail_invalid(),
    };
    let figures = comparisons.iter().filter_map(|comparison| {
        let metric = comparison.metric;
        let (compared, rank) = (comparison.rows[index].as_ref()?, rows.ranks(metric)[index]);
        Some((metric.field(), Figure { compared, rank }))
    });
    let main = rows.compare(Metric::primary(rows.workload.phase));
    let notes = Notes::of(remarks(journal, rows, index, main));
    Row {
        variant: row.variant.to_string(),
        copy: row.copy,
        role: match row.role {
            Role::Baseline => super::BASELINE,
            Role::SecondOfBaseline => super::SECOND_OF_BASELINE,
            Role::Entrant | Role::SecondWithoutFirst => "entrant",
        },
        class: row.class,
        valid: row.standing(Metric::Cpu).is_compared(),
        tail_valid: row.standing(Metric::P99).is_compared(),
        runs,
        errors: row.errors(),
        bound_by: row.bound().into_iter().collect(),
        generator_limited: row.is_limited(),
        saturated: row.saturated().filter(|_| rows.workload.phase == Phase::Saturate),
        figures: figures.collect(),
        wake_up: row.waking,
        by_name: by_name::of_row(row),
        other_states: Vec::new(),
        reasons: reasons(row),
        notes: notes.texts().collect(),
    }
}

/// What the reasons of one kind and weight have said.
#[derive(Default)]
struct ReasonTexts {
    figures: Vec<Option<f64>>,
    texts: Notes,
}

/// The reasons of all runs, those of a kind and a weight together, the gravest first.
fn reasons(row: &analysis::Row<'_>) -> Vec<Reasons> {
    let mut found: BTreeMap<(Weight, ReasonKind), ReasonTexts> = BTreeMap::new();
    for reason in row.reasons() {
        let said = found.entry((reason.weight, reason.kind)).or_default();
        said.figures.push(reason.figure);
        said.texts.add(reason);
    }
    let one = |((weight, kind), said): ((Weight, ReasonKind), ReasonTexts)| {
        let known: Vec<f64> = said.figures.iter().copied().flatten().collect();
        let range = wirebench_stats::range(&known);
        Reasons {
            kind,
            weight,
            times: said.figures.len(),
            figure_least: range.map(|(least, _)| least),
            figure_most: range.map(|(_, most)| most),
            texts: said.texts.texts().collect(),
        }
    };
    found.into_iter().rev().map(one).collect()
}
