//! Conditions on values, such as `p99 > 5ms`: which cells they concern, and whether the figure of each is beyond the
//! limit.

use wirebench_schema::{
    gate::{Condition, Limit},
    suite::Phase,
};

use super::{ConditionResult, Evidence, Hit, Kept};
use crate::{
    analysis::{Inconclusive, Metric, MetricFacts, Reads, Role},
    table_units::{latency, percent, thousands},
    view::{Cell, Figure, Verb},
};

/// Whether a phase is measured for the value of this figure.
pub(super) fn is_of_phase(figure: Metric, phase: Phase) -> bool {
    match figure {
        // No verb watches for stalls but `load`.
        _ if figure.is_without_stalls() => false,
        Metric::Throughput => phase == Phase::Saturate,
        Metric::Latency(_) | Metric::Achieved | Metric::Unsent => phase == Phase::Cost,
        _ => phase != Phase::Idle,
    }
}

/// The result of a condition, the values nearest to the limit or farthest beyond it first.
pub(super) fn judge(condition: &Condition, limit: f64, evidence: &Evidence<'_>) -> ConditionResult {
    let concerned = evidence.cells.iter().filter(|it| evidence.concerns(condition, it));
    let found = concerned.filter_map(|cell| match condition.figure {
        Metric::Errors => errors(condition, limit, cell),
        metric => evidence.value(limit, cell, cell.figure(metric)?),
    });
    let found = found.map(|(hit, kept)| {
        let cell = hit.cell.filter(|_| !evidence.is_of_load());
        (Hit { cell, ..hit }, kept)
    });
    ConditionResult::of(condition, condition.figure.worse(), found.collect())
}

impl Evidence<'_> {
    /// True if a client measured a load that it did not start the server of.
    fn is_of_load(&self) -> bool {
        matches!(self.verb, Verb::Load | Verb::CompareLoads)
    }

    /// Others are compared with a reference, so that only conditions that name it concern it.
    pub(super) fn is_reference(&self, cell: &Cell) -> bool {
        let is_entrant = |it: &Cell| it.id.load == cell.id.load && it.role.is_compared();
        cell.role == Role::Baseline && self.cells.iter().any(is_entrant)
    }

    pub(super) fn concerns(&self, condition: &Condition, cell: &Cell) -> bool {
        // These verbs measure several loads, each for its own figures.
        let has_phases = matches!(self.verb, Verb::Run | Verb::Compare);
        let has_figure = !has_phases || is_of_phase(condition.figure, cell.id.phase);
        let is_whole = cell.id.request.is_none();
        let is_meant = match &condition.of {
            None => is_whole && !self.is_reference(cell),
            Some(name) if self.cells.iter().any(|it| it.id.is_called(name)) => {
                is_whole && cell.id.is_called(name)
            }
            name => {
                let is_only = is_whole && cell.only_request == *name;
                (is_only || cell.id.request == *name) && !self.is_reference(cell)
            }
        };
        cell.role != Role::SecondOfBaseline && has_figure && is_meant
    }

    fn value(&self, limit: f64, cell: &Cell, figure: &Figure) -> Option<(Hit, Kept)> {
        let Figure { metric, value, interval, .. } = *figure;
        let is_beyond = metric.worse().is_beyond(value, limit);
        let is_of_search = metric == Metric::Throughput && figure.reads == Reads::AtLeast;
        let is_count = matches!(metric, Metric::Achieved | Metric::Unsent);
        let kept = if !figure.valid && !is_count && !self.is_of_load() {
            Kept::Open(Inconclusive::NotValid.name().to_owned())
        } else if figure.is_beyond_replies() {
            Kept::No
        } else if is_beyond && cell.is_bound(figure) && !self.is_of_load() {
            Kept::Open("the load generator was saturated: give it more CPUs".to_owned())
        } else if is_beyond && is_of_search && !self.is_of_load() {
            Kept::Open("it is a lower bound: the server may hold a higher rate".to_owned())
        } else if is_beyond {
            Kept::No
        } else {
            Kept::Yes
        };
        let name = metric.name();
        if figure.is_beyond_replies() {
            let why = format!("{name} at least {}, because no reply took as long", latency(value));
            return Some((Hit::of(cell, metric, value, None, why), kept));
        }
        let ends =
            interval.map(|it| format!(" ({}..{})", metric.show(it.low), metric.show(it.high)));
        let why =
            format!("{name} {}{}{}", metric.show(value), unit(metric), ends.unwrap_or_default());
        Some((Hit::of(cell, metric, value, interval, why), kept))
    }
}

/// Failed requests are failed requests, whatever else is wrong with their runs.
fn errors(condition: &Condition, limit: f64, cell: &Cell) -> Option<(Hit, Kept)> {
    let share = cell.error_share?;
    let is_share = matches!(condition.limit, Limit::Share(_));
    let value = if is_share { share } else { cell.errors as f64 };
    let is_beyond = condition.figure.worse().is_beyond(value, limit);
    let (few, many) = (thousands(cell.errors as f64), thousands(cell.requests as f64));
    let why = format!("{few} errors in {many} requests ({})", percent(share));
    let kept = if is_beyond { Kept::No } else { Kept::Yes };
    Some((Hit::of(cell, condition.figure, value, None, why), kept))
}

/// The unit of a value as [`MetricFacts::show`] writes it, where it does not write the unit.
fn unit(figure: Metric) -> &'static str {
    match figure.unit() {
        "requests/s" => " requests/s",
        "ns/request" => " us/request",
        "switches/request" => " switches/request",
        "requests" => " requests",
        _ => "",
    }
}
