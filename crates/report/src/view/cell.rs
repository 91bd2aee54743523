//! One server under one load, or its requests of one name.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use wirebench_schema::{
    entry::Class,
    id::VariantId,
    journal::{Bound, ReasonKind, WakeUpPrice, Weight},
    suite::{Phase, Workload},
};

use super::{CellRank, Figure};
use crate::{
    analysis::{Metric, MetricFacts, Role},
    table_units::numbered,
};

/// The load, requests and server of a cell.
#[derive(Clone, Debug, Default, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
pub struct CellId {
    /// The name of the load.
    pub load: String,
    /// The name of the requests whose figures it has; absent for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    pub phase: Phase,
    /// The variant, or the target of a load.
    pub server: String,
    /// Which of several copies, from 0.
    pub copy: u32,
}

/// The runs of a server under a load together.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Cell {
    #[serde(flatten)]
    pub id: CellId,
    /// Its part among the others of its load.
    pub role: Role,
    /// `raw`, `library` or `framework`; null for a command line of the user's, and for a service.
    pub class: Option<Class>,
    /// Connections in total, silent ones not included.
    pub connections: usize,
    /// Workers that were asked for; null where the server decides.
    pub workers: Option<u32>,
    /// The rate that was asked for, in requests/s; null without one, and where it changes.
    pub rate: Option<f64>,
    /// True if enough of its cohorts are valid: three, or all where there are fewer. Cohorts with a void run are in no
    /// figure then.
    pub valid: bool,
    /// `valid` for latencies from the 99th percentile on.
    pub tail_valid: bool,
    /// Why it is not valid; null where it is.
    pub trouble: Option<String>,
    pub runs: Runs,
    /// The name of the requests, if all have one and the same.
    #[serde(skip)]
    pub(crate) only_request: Option<String>,
    /// Correct replies and failed requests, over all runs.
    pub requests: u64,
    /// Requests and connections that failed, over all runs.
    pub errors: u64,
    /// Failed requests as a share of all; 1 if every connection failed, null if nothing was sent.
    pub error_share: Option<f64>,
    /// Each side that bounded a run.
    pub bound_by: Vec<Bound>,
    /// True if the load generator was at its limit in at least half of the runs: then the server may be better.
    pub generator_limited: bool,
    /// True if the server was busy for at least 95 % of the time in most runs of a `saturate` phase; null in other
    /// phases and without figures.
    pub saturated: Option<bool>,
    /// The cost that waking adds to a request; absent without `--idle both`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_up: Option<WakeUpPrice>,
    /// True if it is the same program as that of the reference; null if unknown, and where both are of one result.
    pub same_program: Option<bool>,
    /// Of a sweep of `tune`: how it compares with the best combination; absent in other results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<CellRank>,
    /// A metric without a value is absent.
    pub figures: Vec<Figure>,
    /// The reasons of its runs.
    pub reasons: Vec<Reasons>,
    /// All that the tables say of it, as sentences; numbers that differ between runs are ranges.
    pub notes: Vec<String>,
}

/// Numbers of runs that count.
#[derive(Clone, Copy, Debug, Default, Eq, JsonSchema, PartialEq, Serialize)]
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

/// One kind of reason over all runs of a cell.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Reasons {
    pub kind: ReasonKind,
    /// The use of the figures that it leaves.
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

impl CellId {
    /// All requests of a variant under a load.
    pub(crate) fn of(workload: &Workload, variant: &VariantId, copy: u32) -> Self {
        let (load, phase, server) = (workload.name.clone(), workload.phase, variant.to_string());
        Self { load, request: None, phase, server, copy }
    }

    /// The variant; none for the target of a load.
    pub(crate) fn variant(&self) -> Option<VariantId> {
        self.server.parse().ok()
    }

    /// True if a person means its server by `name`.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.variant().is_some_and(|it| it.is_called(name))
    }

    /// The server, and which copy of it unless it is the first.
    #[must_use]
    pub fn entry(&self) -> String {
        numbered(&self.server, self.copy)
    }

    /// The load with the name of the requests, for forms that have no place for the latter.
    fn load_and_request(&self) -> String {
        let request = self.request.iter().map(String::as_str);
        [self.load.as_str()].into_iter().chain(request).collect::<Vec<_>>().join(" ")
    }

    /// The name in forms that have one for each figure.
    pub(crate) fn benchmark(&self) -> String {
        numbered(&format!("{} {}", self.load_and_request(), self.server), self.copy)
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.load, self.entry())
    }
}

impl Cell {
    /// The same with these numbers of correct replies, failed requests and failed connections.
    pub(crate) fn with_counts(self, correct: u64, failed: u64, connections: u64) -> Self {
        let requests = correct + failed;
        // Attempts to connect are no requests, but where none succeeds nothing does.
        let error_share = match requests {
            0 => (connections > 0).then_some(1.0),
            _ => Some(failed as f64 / requests as f64),
        };
        Self { requests, errors: failed + connections, error_share, ..self }
    }

    /// The figure of a metric, if it has one.
    #[must_use]
    pub fn figure(&self, metric: Metric) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.metric == metric)
    }

    /// True if the server may be better than this figure.
    pub(crate) fn is_bound(&self, figure: &Figure) -> bool {
        self.generator_limited && figure.metric.is_bounded_by_generator()
    }
}
