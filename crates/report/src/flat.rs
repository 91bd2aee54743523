//! A result as a list of rows with figures, the shape that spreadsheets and trackers of benchmarks
//! expect: each figure with its interval and its ratio to the reference.
//!
//! Not here: sentences, reasons, and figures by block; JSON has them.

use wirebench_schema::{
    entry::Class,
    journal::{Bound, Unavailable, Weight},
    load::{LatencyFigure, NamedRequests},
    suite::Phase,
};
use wirebench_stats::{Estimate, Interval};

use crate::{
    analysis::{Claim, JudgedRatio, Metric, MetricFacts, Reads},
    by_name::RequestFigures,
    json::{self, WorkloadReport},
    table_units::numbered,
};

/// The latencies that every list of figures has.
const LATENCIES: [LatencyFigure; 3] = [LatencyFigure::P50, LatencyFigure::P99, LatencyFigure::P999];

#[derive(Clone, Debug, Default)]
pub struct Flat {
    pub suite: String,
    /// When the run began, as RFC 3339 in UTC.
    pub started: String,
    /// In the order of the tables.
    pub rows: Vec<FlatRow>,
    /// Servers without a row.
    pub unavailable: Vec<Unavailable>,
}

#[derive(Clone, Debug, Default)]
pub struct FlatRow {
    pub workload: String,
    /// The name of the requests whose figures it has; none for all of them.
    pub request: Option<String>,
    pub phase: Phase,
    pub entry: String,
    /// Which of several copies, from 0.
    pub copy: u32,
    /// `baseline`, `second-of-baseline` (A/A) or `entrant`.
    pub role: &'static str,
    /// `raw`, `library` or `framework`, if known.
    pub class: Option<Class>,
    /// Whether enough of its cohorts are valid.
    pub valid: bool,
    pub runs: usize,
    pub failed: usize,
    /// Runs whose figures are not what they claim to be.
    pub invalid: usize,
    /// Runs of which only the tail of the latencies is not.
    pub tail_invalid: usize,
    /// Why it is not valid; empty where it is.
    pub trouble: String,
    /// Whether the load generator was the limit, so that some figures are only bounds.
    pub generator_limited: bool,
    pub errors: u64,
    /// Each side that was the limit of a run.
    pub bound_by: Vec<Bound>,
    pub figures: Vec<FlatFigure>,
}

#[derive(Clone, Copy, Debug)]
pub struct FlatFigure {
    pub metric: Metric,
    pub value: f64,
    /// Its interval, if known.
    pub interval: Option<Interval>,
    /// Whether it is what it claims to be.
    pub valid: bool,
    /// Its ratio to the reference; absent for the reference itself.
    pub ratio: Option<FlatRatio>,
}

/// The ratio of a figure to that of the reference.
#[derive(Clone, Copy, Debug)]
pub struct FlatRatio {
    pub estimate: Estimate,
    /// Whether the figures of both sides are what they claim to be.
    pub valid: bool,
    pub reads: Reads,
    pub claim: Option<Claim>,
}

impl Flat {
    pub(crate) fn of(suite: &str, started: &str, rows: Vec<FlatRow>) -> Self {
        let (suite, started) = (suite.to_owned(), started.to_owned());
        Self { suite, started, rows, unavailable: Vec::new() }
    }

    /// The same with one metric, as it is meant in each phase, if there is one.
    #[must_use]
    pub(crate) fn only(mut self, metric: Option<Metric>) -> Self {
        let Some(metric) = metric else { return self };
        for row in &mut self.rows {
            let meant = metric.in_phase(row.phase);
            row.figures.retain(|figure| Some(figure.metric) == meant);
        }
        self
    }

    /// Each figure, with its row. The baseline's second instance shows noise and is skipped.
    fn figures(&self) -> impl Iterator<Item = (&FlatRow, &FlatFigure)> {
        let rows = self.rows.iter().filter(|row| row.role != json::SECOND_OF_BASELINE);
        rows.flat_map(|row| row.figures.iter().map(move |figure| (row, figure)))
    }

    /// Each figure that may be tracked: those that are valid, because trackers have no mark for others.
    pub(crate) fn tracked(&self) -> impl Iterator<Item = (&FlatRow, &FlatFigure)> {
        self.figures().filter(|(_, figure)| figure.valid)
    }

    /// How many figures are not.
    pub(crate) fn not_valid(&self) -> usize {
        self.figures().filter(|(_, figure)| !figure.valid).count()
    }

    /// What a form without marks cannot say: servers that are not valid, and figures that are only bounds.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let rows = || self.rows.iter().filter(|row| row.role != json::SECOND_OF_BASELINE);
        let invalid = rows().filter(|row| !row.valid);
        let invalid =
            invalid.map(|row| format!("{} is not valid: {}", row.benchmark(), row.trouble));
        let bounded = rows().filter(|row| row.figures.iter().any(|it| row.is_bound(it)));
        let bounded = bounded.map(|row| format!("{}: {BOUND}", row.benchmark()));
        self.absent().into_iter().chain(invalid).chain(bounded).collect()
    }

    /// Servers that forms of rows lack.
    pub(crate) fn absent(&self) -> Vec<String> {
        let one = |it: &Unavailable| format!("{} was not measured: {}", it.variant, it.reason);
        self.unavailable.iter().map(one).collect()
    }
}

/// What the limit of the generator means.
pub(crate) const BOUND: &str =
    "the load generator was saturated, so throughput and latency are bounds";

impl FlatFigure {
    /// A figure without interval and ratio.
    pub(crate) const fn of(metric: Metric, value: f64, valid: bool) -> Self {
        Self { metric, value, interval: None, valid, ratio: None }
    }
}

impl FlatRatio {
    pub(crate) const fn of(ratio: &JudgedRatio, valid: bool) -> Self {
        let JudgedRatio { estimate, reads, claim, .. } = *ratio;
        Self { estimate, valid, reads, claim }
    }
}

impl FlatRow {
    /// Whether the server may be better than this figure.
    pub(crate) fn is_bound(&self, figure: &FlatFigure) -> bool {
        self.generator_limited && figure.metric.is_bounded_by_generator()
    }

    /// The workload with the name of the requests, for forms that have no place for the latter.
    pub(crate) fn workload_and_request(&self) -> String {
        let request = self.request.iter().map(String::as_str);
        [self.workload.as_str()].into_iter().chain(request).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn benchmark(&self) -> String {
        numbered(&format!("{} {}", self.workload_and_request(), self.entry), self.copy)
    }
}

pub(crate) fn of_run(report: &json::Report<'_>) -> Flat {
    let of = |workload: &WorkloadReport<'_>| -> Vec<FlatRow> {
        workload.rows.iter().flat_map(|row| with_names(of_row(workload, row), row)).collect()
    };
    let rows = report.workloads.iter().flat_map(of).collect();
    let unavailable = report.unavailable.clone();
    Flat { unavailable, ..Flat::of(&report.suite, &report.started, rows) }
}

/// The row of a server, and one for each name of its requests.
fn with_names(whole: FlatRow, row: &json::Row<'_>) -> Vec<FlatRow> {
    let of_name = |named: &NamedRequests| FlatRow {
        request: Some(named.name.clone()),
        errors: named.errors,
        figures: figures(&named.into(), |metric| is_valid(row, metric)),
        ..whole.clone()
    };
    let named: Vec<FlatRow> = row.by_name.iter().map(of_name).collect();
    [whole].into_iter().chain(named).collect()
}

/// The figures of requests. A latency that is only a bound is not valid.
pub(crate) fn figures(
    requests: &RequestFigures<'_>,
    is_valid: impl Fn(Metric) -> bool,
) -> Vec<FlatFigure> {
    let throughput = (Metric::Throughput, requests.requests_per_second, true);
    let latencies = requests.latency.into_iter().flat_map(|latency| {
        LATENCIES.map(|it| (Metric::Latency(it), it.of(latency), !it.is_lower_bound(latency)))
    });
    let figure =
        |(metric, value, is_known)| FlatFigure::of(metric, value, is_known && is_valid(metric));
    [throughput].into_iter().chain(latencies).map(figure).collect()
}

fn of_row(workload: &WorkloadReport<'_>, row: &json::Row<'_>) -> FlatRow {
    let reference = workload.rows.iter().find(|row| row.role == json::BASELINE);
    let figure = |metric: Metric| {
        let figure = row.figures.get(metric.field())?.compared;
        let (value, interval, valid) = (figure.median, figure.interval, is_valid(row, metric));
        let are_valid = valid && reference.is_some_and(|row| is_valid(row, metric));
        let ratio = figure.ratio.as_ref().map(|it| FlatRatio::of(it, are_valid));
        Some(FlatFigure { metric, value, interval, valid, ratio })
    };
    FlatRow {
        workload: workload.name.clone(),
        request: None,
        phase: workload.phase,
        entry: row.variant.clone(),
        copy: row.copy,
        role: row.role,
        class: row.class,
        valid: row.valid,
        runs: row.runs.measured,
        failed: row.runs.failed,
        invalid: row.runs.invalid,
        tail_invalid: row.runs.tail_invalid,
        trouble: if row.valid { String::new() } else { trouble(row) },
        generator_limited: row.generator_limited,
        errors: row.errors,
        bound_by: row.bound_by.clone(),
        figures: Metric::ALL.into_iter().filter_map(figure).collect(),
    }
}

/// The gravest reason of the runs, or why there is none.
fn trouble(row: &json::Row<'_>) -> String {
    let grave = row.reasons.iter().find(|it| it.weight == Weight::Invalid);
    let text = grave.and_then(|it| it.texts.first()).or(row.notes.first());
    text.map_or("not measured", |text| text.trim_start_matches("! ")).to_owned()
}

fn is_valid(row: &json::Row<'_>, metric: Metric) -> bool {
    if metric.is_tail() { row.tail_valid } else { row.valid }
}
