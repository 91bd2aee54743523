//! From a journal and its analysis to what the first screen shows. No other file of the first screen
//! knows how outcomes come about.

use std::collections::BTreeSet;
use wirebench_schema::{
    load::{Arrivals, LoadModel, RateCurve},
    suite::{Phase, Workload},
};

use super::{
    causes::causes,
    model::{Block, Column, Group, Model, Outcome, Value},
    row::{is_listed, name},
};
use crate::{
    analysis::{
        Analysis, Claim, Compared, Inconclusive, Metric, MetricFacts, Role, Row, WorkloadRows,
    },
    load_words::{describe_model, describe_payload, describe_shape},
    order::grouped,
    published_rows,
    shown::{Shown, shown},
    table::{
        headline::{ended, made},
        states::sentences,
    },
    why,
};

/// What the first screen shows of a result.
pub(super) fn model<'a>(analysis: &Analysis<'a>) -> Model<'a> {
    let Analysis { journal, workloads, .. } = analysis;
    let measured = workloads.iter().flat_map(|it| &it.rows).filter(|row| row.measured() > 0);
    let servers: BTreeSet<String> = measured.map(|row| row.variant.to_string()).collect();
    let labelled =
        workloads.iter().map(|it| (format!("{} {}", it.workload.scenario, title(it)), it));
    let (lines, disturbed) = causes(journal, &labelled.collect::<Vec<_>>());
    Model {
        start: &journal.start,
        servers: servers.len(),
        made: made(workloads),
        ended: match ended(journal) {
            "complete" | "precise" => None,
            end => Some(end),
        },
        blocks: blocks(workloads),
        causes: [sentences(workloads), lines].concat(),
        published: published_rows::summary(journal),
        whys: why::sentences(journal, workloads),
        disturbed,
    }
}

/// The scenario and the shape of a load. Loads of one shape are next to each other.
fn shape(workload: &Workload) -> String {
    let Workload { scenario, connections, .. } = workload;
    if workload.phase == Phase::Idle {
        return format!("{scenario}, {connections} idle connections");
    }
    let (shape, payload) = (describe_shape(workload), describe_payload(workload));
    format!("{scenario}, {connections} connections{shape}{payload}")
}

/// The workloads with rows in each block of the model, in its order.
pub(super) fn members<'w, 'a>(workloads: &'w [WorkloadRows<'a>]) -> Vec<Vec<&'w WorkloadRows<'a>>> {
    let measured = workloads.iter().filter(|it| !it.rows.is_empty());
    let shapes = grouped(measured.map(|it| (shape(&it.workload), it))).into_iter();
    shapes.map(|(_, members)| members).collect()
}

fn blocks(workloads: &[WorkloadRows<'_>]) -> Vec<Block> {
    let all = members(workloads);
    let scenario = |members: &Vec<&WorkloadRows<'_>>| members[0].workload.scenario;
    let same = |of: &Vec<_>| all.iter().filter(|it| scenario(it) == scenario(of)).count();
    all.iter().map(|members| block(members, same(members) > 1)).collect()
}

fn block(members: &[&WorkloadRows<'_>], has_shape: bool) -> Block {
    let workload = &members[0].workload;
    let title = match has_shape || workload.phase == Phase::Idle {
        true => shape(workload),
        false => workload.scenario.to_string(),
    };
    let rows = order(members);
    let mut groups: Vec<Group> = members.iter().map(|member| group(member, &rows)).collect();
    let titles: Vec<String> = groups.iter().map(|group| group.title.clone()).collect();
    for (group, member) in groups.iter_mut().zip(members) {
        if titles.iter().filter(|title| **title == group.title).count() > 1 {
            group.title = format!("{} ({})", group.title, member.workload.name);
        }
    }
    Block { title, rows, groups }
}

/// The names of all rows: the baseline first, then by the first load's figure, rows without one last.
fn order(members: &[&WorkloadRows<'_>]) -> Vec<String> {
    let mut found: Vec<(bool, (f64, String), String)> = Vec::new();
    for member in members {
        let metric = Metric::primary(member.workload.phase);
        for row in member.rows.iter().filter(|row| is_listed(row)) {
            let name = name(row);
            if !found.iter().any(|(.., known)| *known == name) {
                let usual = || (row.median(metric).unwrap_or(f64::INFINITY), String::new());
                let key = member.sort_key(row).unwrap_or_else(usual);
                found.push((row.role != Role::Baseline, key, name));
            }
        }
    }
    found.sort_by(|a, b| {
        a.0.cmp(&b.0).then(a.1.0.total_cmp(&b.1.0)).then_with(|| a.1.1.cmp(&b.1.1))
    });
    found.into_iter().map(|(.., name)| name).collect()
}

fn columns(workload: &Workload) -> Vec<Column> {
    use Metric::{MemoryAtRest, Throughput};
    let others: &[Metric] = match (workload.phase, &workload.model) {
        (Phase::Idle, _) => &[MemoryAtRest],
        (Phase::Saturate, LoadModel::Closed | LoadModel::Think { .. }) => {
            &[Throughput, Metric::P50, Metric::P99]
        }
        _ => &[Metric::P50, Metric::P99],
    };
    let main = Column::Figure(Metric::primary(workload.phase));
    let others = others.iter().copied().map(Column::Figure);
    [main, Column::Outcome, Column::Waking].into_iter().chain(others).collect()
}

pub(super) fn title(rows: &WorkloadRows<'_>) -> String {
    let workload = &rows.workload;
    match (workload.phase, &workload.model) {
        (Phase::Idle, _) => "idle".to_owned(),
        (Phase::Saturate, LoadModel::Closed) => "saturated".to_owned(),
        (_, LoadModel::Rate { curve: RateCurve::Constant(requests), arrivals, .. }) => {
            let requests = requests.short();
            let random = if *arrivals == Arrivals::Poisson { ", Poisson" } else { "" };
            format!("at {requests}/s{random}")
        }
        (Phase::Cost, LoadModel::Closed) => "at a rate".to_owned(),
        (_, model) => describe_model(model),
    }
}

/// A row that the first screen has, and what was compared of it.
type Listed<'r, 'a> = (&'r Row<'a>, Option<&'r Compared>);

fn group(rows: &WorkloadRows<'_>, names: &[String]) -> Group {
    let metric = Metric::primary(rows.workload.phase);
    let comparison = rows.compare(metric);
    let compared = comparison.rows.iter().map(Option::as_ref);
    let listed: Vec<Listed<'_, '_>> =
        rows.rows.iter().zip(compared).filter(|(row, _)| is_listed(row)).collect();
    let says = |column: &Column| {
        let mut values = listed.iter().map(|row| value(*row, *column));
        values.any(|it| {
            !matches!(it, Value::Empty | Value::Hidden | Value::Compared(Outcome::Reference))
        })
    };
    let columns: Vec<Column> = columns(&rows.workload).into_iter().filter(says).collect();
    let cells = |row: &Listed<'_, '_>| columns.iter().map(|it| value(*row, *it)).collect();
    let ratio = |(row, compared): &Listed<'_, '_>| {
        let is_shown = !matches!(outcome(row, *compared), None | Some(Outcome::Withheld));
        compared.and_then(|it| it.ratio.clone()).filter(|_| is_shown)
    };
    let of_name = |wanted: &String| listed.iter().find(|(row, _)| name(row) == *wanted);
    Group {
        title: title(rows),
        metric,
        baseline: rows.baseline.map(|index| rows.rows[index].variant.to_string()),
        margin: comparison.margin,
        cells: names.iter().map(|name| of_name(name).map(cells)).collect(),
        ratios: names.iter().map(|name| of_name(name).and_then(ratio)).collect(),
        columns: columns.clone(),
    }
}

fn value((row, compared): Listed<'_, '_>, column: Column) -> Value {
    match (column, row.waking) {
        (Column::Outcome, _) => outcome(row, compared).map_or(Value::Empty, Value::Compared),
        (Column::Figure(metric), _) => figure(row, metric),
        (Column::Waking, Some(_)) if !shown(row).is_compared() => Value::Hidden,
        (Column::Waking, waking) => waking.map_or(Value::Empty, |it| Value::Exact(it.cpu_ns)),
    }
}

fn outcome(row: &Row<'_>, compared: Option<&Compared>) -> Option<Outcome> {
    let compared = compared?;
    if row.role == Role::Baseline {
        let is_compared = shown(row).is_compared();
        return Some(if is_compared { Outcome::Reference } else { Outcome::Withheld });
    }
    let ratio = compared.ratio.as_ref()?;
    if ratio.inconclusive.is_some_and(Inconclusive::is_withheld) {
        return Some(Outcome::Withheld);
    }
    Some(match (ratio.claim, ratio.estimate.interval) {
        (Some(Claim::Higher | Claim::Lower), Some(interval)) => {
            Outcome::Different { ratio: ratio.estimate.value, interval }
        }
        (Some(Claim::Same), _) => Outcome::Same,
        _ => Outcome::Inconclusive,
    })
}

fn figure(row: &Row<'_>, metric: Metric) -> Value {
    let Some(median) = row.median(metric) else { return Value::Empty };
    match shown(row) {
        Shown::Nothing => Value::Hidden,
        Shown::NoTail | Shown::NotCompared if metric.is_tail() => Value::Hidden,
        _ if metric.is_bounded_by_generator() && row.is_limited() => Value::Bound(median),
        _ => Value::Exact(median),
    }
}
