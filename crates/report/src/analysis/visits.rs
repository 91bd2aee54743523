//! From the visits of a cohort to the value of each row in it: what all instances met in a round is
//! taken out, and what is left is averaged robustly. Nothing is compared here.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::journal::{Distances, Visit, logarithms_by_round};
use wirebench_stats::{InstanceValue, instance_values, median};

use super::{Machine, Metric, MetricFacts, Row, states::Filter, waking::waking};

/// The metrics of which each visit has a figure.
const VISITED: [Metric; 2] = [Metric::Cpu, Metric::Throughput];

/// The metrics that visits of one state alone can give. A tail and switches are those of all visits.
pub(super) const OF_ONE_STATE: [Metric; 3] = [Metric::Cpu, Metric::Throughput, Metric::P50];

/// The value of a row in each cohort, by metric. Empty where runs have no visits.
pub(super) type FromVisits = BTreeMap<Metric, BTreeMap<u32, f64>>;

/// Gives each row its values, of all visits or of those in one state of the machine.
pub(super) fn fill(rows: &mut [Row<'_>], machine: &Machine<'_>, filter: Option<Filter>) {
    let keep = machine.keep(filter);
    let fewest = filter.map_or(1, |filter| filter.fewest);
    let cohorts: BTreeSet<u32> =
        rows.iter().flat_map(|row| &row.runs).map(|run| run.cohort()).collect();
    for metric in VISITED {
        for cohort in &cohorts {
            let values = of_cohort(rows, metric, *cohort, fewest, &keep);
            for (row, value) in rows.iter_mut().zip(values) {
                if let Some(value) = value {
                    let of_metric = row.from_visits.entry(metric).or_default();
                    of_metric.insert(*cohort, value.value.exp());
                }
            }
        }
    }
    if filter.is_some() {
        fill_rest(rows, fewest, &keep);
    }
    for row in rows {
        row.waking = waking(row, &keep);
    }
}

/// The values of each row in a state of the machine that visits do not give: of runs that are one window, and the
/// median latency of visits.
fn fill_rest(rows: &mut [Row<'_>], fewest: usize, keep: &impl Fn(&Distances) -> bool) {
    for row in rows {
        row.in_one_state = true;
        for run in &row.runs {
            let Some(measured) = run.outcome.measured() else { continue };
            let kept =
                Visit::counted(&measured.visits).into_iter().filter(|it| keep(&it.distances));
            let p50: Vec<f64> = kept.filter_map(|it| Some(it.latency_ns_p50? as f64)).collect();
            for metric in OF_ONE_STATE {
                let value = match measured.visits.is_empty() {
                    true => metric.of(&run.outcome).filter(|_| keep(&measured.distances)),
                    false if metric == Metric::P50 && p50.len() >= fewest => median(&p50),
                    false => None,
                };
                if let Some(value) = value {
                    row.from_visits.entry(metric).or_default().insert(run.cohort(), value);
                }
            }
        }
    }
}

fn of_cohort(
    rows: &[Row<'_>],
    metric: Metric,
    cohort: u32,
    fewest: usize,
    keep: &impl Fn(&Distances) -> bool,
) -> Vec<Option<InstanceValue>> {
    let visits = |row: &Row<'_>| {
        let run = row.runs.iter().find(|run| run.cohort() == cohort);
        let visits = run.map(|run| by_round(run.outcome.visits(), metric, keep));
        let is_enough = |it: &Vec<Option<f64>>| it.iter().flatten().count() >= fewest;
        visits.filter(is_enough).unwrap_or_default()
    };
    let matrix: Vec<Vec<Option<f64>>> = rows.iter().map(visits).collect();
    instance_values(&matrix)
}

fn by_round(
    visits: &[Visit],
    metric: Metric,
    keep: &impl Fn(&Distances) -> bool,
) -> Vec<Option<f64>> {
    let figure = match metric {
        Metric::Cpu => Visit::cpu_ns_per_request,
        _ => Visit::requests_per_second,
    };
    logarithms_by_round(visits, figure, |it| keep(&it.distances))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::journal::ReasonKind;

    fn visit(round: u32, cpu_ns: u64) -> Visit {
        Visit {
            round,
            cpu_ns: Some(cpu_ns),
            requests: 100,
            length_ns: 1_000_000,
            ..Visit::default()
        }
    }

    #[test]
    fn a_visit_that_was_dropped_leaves_its_round_empty() {
        let dropped = Visit { dropped: Some(ReasonKind::Neighbour), ..visit(1, 900) };
        let found = by_round(&[visit(0, 500), dropped, visit(3, 500)], Metric::Cpu, &|_| true);
        assert_eq!(found, [Some(5_f64.ln()), None, None, Some(5_f64.ln())]);
        let rates = by_round(&[visit(0, 500)], Metric::Throughput, &|_| true);
        assert!((rates[0].unwrap() - 100_000_f64.ln()).abs() < 1e-12);
    }
}
