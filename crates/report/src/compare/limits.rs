//! Conditions on values, such as `p99 > 5ms`: which servers and requests they concern, the value of each, and whether
//! it is beyond the limit. The value is that of the report: a median over cohorts.

use wirebench_schema::{
    gate::{Condition, Limit},
    load::{LatencyFigure, LatencySummary, LoadReport},
    suite::Phase,
};
use wirebench_stats::{Interval, geometric_mean_interval, median};

use super::{
    Cell,
    gate::{ConditionResult, Hit, State},
};
use crate::{
    analysis::{Inconclusive, Metric, MetricFacts, Role, Row, WorkloadRows},
    by_name::{RequestFigures, requests},
    table_units::{latency, percent, thousands},
};

/// A server in a workload, or a load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subject<'a> {
    /// Absent for a load.
    pub(crate) cell: Option<Cell>,
    /// What it is called besides its variant.
    pub(crate) label: Option<&'a str>,
    /// Others are compared with it, so that only conditions that name it concern it.
    pub(crate) is_reference: bool,
    /// Whether it has every figure, or only those that its phase is measured for.
    pub(crate) has_all: bool,
    pub(crate) rows: Vec<&'a Row<'a>>,
    pub(crate) loads: Vec<&'a LoadReport>,
    /// Its throughput, if it is not that of its loads.
    pub(crate) rate: Option<f64>,
    /// The throughput is a lower bound.
    pub(crate) is_rate_bound: bool,
}

/// A value, and how it is to be read.
struct Found {
    value: f64,
    interval: Option<Interval>,
    shown: String,
    bound: Option<Bound>,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Bound {
    /// No reply took as long, so that the true latency is longer.
    Replies,
    /// The load generator was saturated, so that the server may be better.
    Generator,
    /// A search ended before it found a rate that the server misses.
    Search,
}

/// The servers of all workloads but the second instances of baselines.
pub(crate) fn subjects<'a>(workloads: &'a [WorkloadRows<'a>]) -> Vec<Subject<'a>> {
    let of_workload = |workload: &'a WorkloadRows<'a>| {
        let is_alone = !workload.rows.iter().any(|row| row.role.is_compared());
        let rows = workload.rows.iter().filter(|row| row.role != Role::SecondOfBaseline);
        rows.map(move |row| Subject {
            is_reference: row.role == Role::Baseline && !is_alone,
            ..Subject::of_rows(workload, vec![row])
        })
    };
    workloads.iter().flat_map(of_workload).collect()
}

/// Whether a phase is measured for the value of this figure.
pub(crate) fn is_of_phase(figure: Metric, phase: Phase) -> bool {
    match figure {
        Metric::Throughput => phase == Phase::Saturate,
        Metric::Latency(_) | Metric::Achieved | Metric::Unsent => phase == Phase::Cost,
        _ => phase != Phase::Idle,
    }
}

/// The result of a condition, the values nearest to the limit or farthest beyond it first.
pub(super) fn judge(condition: &Condition, subjects: &[Subject<'_>]) -> ConditionResult {
    let figure = condition.figure;
    let request = request(condition, subjects);
    let concerned = subjects.iter().filter(|it| it.is_concerned_by(condition, request));
    let found = concerned.filter_map(|subject| {
        let found = subject.value(condition, request)?;
        let state = subject.state(condition, &found);
        let Found { value, interval, shown: why, .. } = found;
        let (cell, metric) = (subject.cell.clone(), figure.field().to_owned());
        Some((Hit { cell, metric, value, interval, why }, state))
    });
    ConditionResult::of(condition, figure.worse(), found.collect())
}

/// The requests that a condition names; none if it names a server, or nothing.
fn request<'a>(condition: &'a Condition, subjects: &[Subject<'_>]) -> Option<&'a str> {
    let name = condition.of.as_deref()?;
    (!subjects.iter().any(|it| it.is_called(name))).then_some(name)
}

impl<'a> Subject<'a> {
    /// These rows of a workload together, at least one.
    pub(crate) fn of_rows(workload: &WorkloadRows<'_>, rows: Vec<&'a Row<'a>>) -> Self {
        let cell = rows.first().map(|row| Cell::of_row(workload, row));
        let loads = rows.iter().flat_map(|row| row.measurements().map(|it| &it.load)).collect();
        Self { cell, rows, loads, ..Self::default() }
    }

    /// A load by itself.
    pub(crate) fn of_load(load: &'a LoadReport) -> Self {
        Self { has_all: true, loads: vec![load], ..Self::default() }
    }

    fn is_called(&self, name: &str) -> bool {
        let variant = self.cell.as_ref().map(|cell| &cell.variant);
        self.label == Some(name) || variant.is_some_and(|it| it.is_called(name))
    }

    pub(crate) fn is_concerned_by(&self, condition: &Condition, request: Option<&str>) -> bool {
        let phase = self.cell.as_ref().map(|cell| cell.phase);
        let has_figure =
            self.has_all || phase.is_some_and(|phase| is_of_phase(condition.figure, phase));
        let is_meant = match (&condition.of, request) {
            (Some(name), None) => self.is_called(name),
            _ => !self.is_reference,
        };
        has_figure && is_meant
    }

    fn value(&self, condition: &Condition, request: Option<&str>) -> Option<Found> {
        let figure = condition.figure;
        if figure == Metric::Errors {
            return self.errors(condition, request);
        }
        let values = self.values(figure, request)?;
        let value = median(&values)?;
        let limited = self.rows.iter().any(|row| row.is_limited());
        let is_bounded = matches!(figure, Metric::Throughput | Metric::Latency(_));
        let bound = match figure {
            Metric::Latency(it) if self.is_lower_bound(it, request) => Some(Bound::Replies),
            Metric::Throughput if self.is_rate_bound => Some(Bound::Search),
            _ => (limited && is_bounded && self.rate.is_none()).then_some(Bound::Generator),
        };
        let name = figure.name();
        if bound == Some(Bound::Replies) {
            let shown =
                format!("{name} at least {}, because no reply took as long", latency(value));
            return Some(Found { value, interval: None, shown, bound });
        }
        let interval = geometric_mean_interval(&values);
        let ends =
            interval.map(|it| format!(" ({}..{})", figure.show(it.low), figure.show(it.high)));
        let (shown, ends) = (figure.show(value), ends.unwrap_or_default());
        let shown = format!("{name} {shown}{}{ends}", unit(figure));
        Some(Found { value, interval, shown, bound })
    }

    /// Its figure over all requests in each cohort, or of named requests in each load that has them.
    fn values(&self, figure: Metric, request: Option<&str>) -> Option<Vec<f64>> {
        let is_whole = request.is_none();
        let metric = figure.compared().filter(|_| is_whole && !self.rows.is_empty());
        match (figure, metric, self.rate.filter(|_| is_whole)) {
            (Metric::Throughput, _, Some(rate)) => Some(vec![rate]),
            (_, Some(metric), _) => {
                let rows = self.rows.iter();
                Some(rows.flat_map(|row| row.values(metric).into_values()).collect())
            }
            (Metric::Throughput, None, _) => {
                let found = self.loads.iter().filter_map(|load| named(load, request));
                Some(found.map(|it| it.requests_per_second).collect())
            }
            (Metric::Latency(it), None, _) => {
                Some(self.latencies(request).map(|latency| it.of(latency)).collect())
            }
            (Metric::Achieved, ..) if is_whole => {
                Some(self.loads.iter().filter_map(|it| it.achieved_share()).collect())
            }
            (Metric::Unsent, ..) if is_whole => {
                let offered = self.loads.iter().filter_map(|it| it.offered);
                Some(offered.map(|it| it.owed_at_end as f64).collect())
            }
            _ => None,
        }
    }

    fn latencies(&self, request: Option<&str>) -> impl Iterator<Item = &'a LatencySummary> {
        self.loads.iter().filter_map(move |load| named(load, request)?.latency)
    }

    fn is_lower_bound(&self, figure: LatencyFigure, request: Option<&str>) -> bool {
        let latencies: Vec<_> = self.latencies(request).collect();
        let bounds = latencies.iter().filter(|it| figure.is_lower_bound(it)).count();
        bounds > 0 && 2 * bounds >= latencies.len()
    }

    fn errors(&self, condition: &Condition, request: Option<&str>) -> Option<Found> {
        let of = |load: &&LoadReport| {
            let found = named(load, request)?;
            let errors = found.name.map_or_else(|| load.errors.requests(), |_| found.errors);
            Some((errors, found.requests))
        };
        let counts = self.loads.iter().filter_map(of);
        let (errors, correct) =
            counts.fold((0, 0), |(errors, correct), it| (errors + it.0, correct + it.1));
        let all = (errors + correct) as f64;
        let others = match request {
            None => self.loads.iter().map(|it| it.errors.total() - it.errors.requests()).sum(),
            Some(_) => 0,
        };
        // Attempts to connect are no requests, but where none succeeds nothing does.
        let share = match all {
            0.0 => (others > 0).then_some(1.0)?,
            _ => errors as f64 / all,
        };
        let number = (errors + others) as f64;
        let value = if let Limit::Share(_) = condition.limit { share } else { number };
        let (few, many) = (thousands(number), thousands(all));
        let shown = format!("{few} errors in {many} requests ({})", percent(share));
        Some(Found { value, interval: None, shown, bound: None })
    }

    fn state(&self, condition: &Condition, found: &Found) -> State {
        let (figure, side) = (condition.figure, condition.figure.worse());
        let is_count = matches!(figure, Metric::Errors | Metric::Achieved | Metric::Unsent);
        let limit = match condition.limit {
            Limit::Value(limit) => limit as f64,
            Limit::Share(share) => share,
            Limit::Change(_) => return State::Kept,
        };
        let is_beyond = side.is_beyond(found.value, limit);
        match found.bound {
            _ if !is_count && self.is_spoiled(figure.is_tail()) => {
                State::Open(Inconclusive::NotValid.words().to_owned())
            }
            Some(Bound::Replies) => State::Violated,
            Some(Bound::Generator) if is_beyond => {
                State::Open("the load generator was saturated: give it more CPUs".to_owned())
            }
            Some(Bound::Search) if is_beyond => {
                State::Open("it is a lower bound: the server may hold a higher rate".to_owned())
            }
            _ if is_beyond => State::Violated,
            _ => State::Kept,
        }
    }

    /// True if too few of its cohorts are valid for a figure.
    fn is_spoiled(&self, in_tail: bool) -> bool {
        let metric = if in_tail { Metric::P99 } else { Metric::Cpu };
        !self.rows.is_empty() && !Row::standing_of(&self.rows, metric).is_compared()
    }
}

/// The requests of a name in a load, or all of them. If it is the only name, they are all requests.
fn named<'a>(load: &'a LoadReport, name: Option<&str>) -> Option<RequestFigures<'a>> {
    let is_only = || {
        let of_set = load.config.requests.as_ref().map(|set| set.names());
        load.by_name.is_empty() && of_set == name.map(|name| vec![name])
    };
    requests(load).find(|it| it.name == name).or_else(|| is_only().then(|| load.into()))
}

const fn unit(figure: Metric) -> &'static str {
    match figure {
        Metric::Throughput => " requests/s",
        Metric::Cpu => " us/request",
        Metric::Unsent => " requests",
        _ => "",
    }
}
