//! From the slices of a cohort to the value of each row in it: what all instances met in a round is
//! taken out, and what is left is averaged robustly. Nothing is compared here.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::journal::{Run, Slice, logarithms_by_round};
use wirebench_stats::{InstanceValue, instance_values};

use super::{Metric, Row};

/// The metrics of which each slice has a figure.
const SLICED: [Metric; 2] = [Metric::Cpu, Metric::Throughput];

/// The value of a row in each cohort, by metric. Empty where runs have no slices.
pub(super) type FromSlices = BTreeMap<Metric, BTreeMap<u32, f64>>;

/// Gives each row its values.
pub(super) fn fill(rows: &mut [Row<'_>]) {
    let cohorts: BTreeSet<u32> =
        rows.iter().flat_map(|row| &row.runs).map(|run| run.cohort()).collect();
    for metric in SLICED {
        for cohort in &cohorts {
            let values = of_cohort(rows, metric, *cohort);
            for (row, value) in rows.iter_mut().zip(values) {
                if let Some(value) = value {
                    let of_metric = row.from_slices.entry(metric).or_default();
                    of_metric.insert(*cohort, value.value.exp());
                }
            }
        }
    }
}

fn of_cohort(rows: &[Row<'_>], metric: Metric, cohort: u32) -> Vec<Option<InstanceValue>> {
    let slices = |row: &Row<'_>| {
        let run = row.runs.iter().find(|run| run.cohort() == cohort);
        run.map_or_else(Vec::new, |run| by_round(slices(run), metric))
    };
    let matrix: Vec<Vec<Option<f64>>> = rows.iter().map(slices).collect();
    instance_values(&matrix)
}

fn slices(run: &Run) -> &[Slice] {
    run.outcome.measured().map_or(&[], |measured| &measured.slices)
}

fn by_round(slices: &[Slice], metric: Metric) -> Vec<Option<f64>> {
    let figure = match metric {
        Metric::Cpu => Slice::cpu_ns_per_request,
        _ => Slice::requests_per_second,
    };
    logarithms_by_round(slices, figure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::journal::ReasonKind;

    fn slice(round: u32, cpu_ns: u64) -> Slice {
        Slice {
            round,
            cpu_ns: Some(cpu_ns),
            requests: 100,
            length_ns: 1_000_000,
            ..Slice::default()
        }
    }

    #[test]
    fn a_slice_that_was_dropped_leaves_its_round_empty() {
        let dropped = Slice { dropped: Some(ReasonKind::Neighbour), ..slice(1, 900) };
        let found = by_round(&[slice(0, 500), dropped, slice(3, 500)], Metric::Cpu);
        assert_eq!(found, [Some(5_f64.ln()), None, None, Some(5_f64.ln())]);
        let rates = by_round(&[slice(0, 500)], Metric::Throughput);
        assert!((rates[0].unwrap() - 100_000_f64.ln()).abs() < 1e-12);
    }
}
