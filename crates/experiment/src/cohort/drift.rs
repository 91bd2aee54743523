//! Whether an instance went on changing over its visits, compared with the other instances of the
//! cohort. Pure.

use std::collections::BTreeSet;
use wirebench_judge::instance::Drift;
use wirebench_schema::{
    journal::{Outcome, Run, Visit, logarithms_by_round},
    suite::Workload,
};
use wirebench_stats::{InstanceValue, Trend, instance_values};

use super::state::in_most_common;
use crate::evidence;

/// With fewer instances a change of the machine looks like one of a server.
const FEWEST_INSTANCES: usize = 3;

/// Adds a note to each run of a cohort whose CPU time per request has a trend that is certain and
/// larger than the margin: the usual one of its phase, if none is given.
pub(crate) fn note_drift(runs: &mut [Run], workloads: &[&Workload], margin: Option<f64>) {
    let names: BTreeSet<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
    for name in names {
        let workload = workloads.iter().find(|workload| workload.name == name);
        let usual = workload.map_or(0.0, |workload| workload.phase.usual_margin());
        let mut own: Vec<&mut Run> = runs.iter_mut().filter(|run| run.workload == name).collect();
        let all: Vec<&Visit> = own.iter().flat_map(|run| run.outcome.visits()).collect();
        let is_in = in_most_common(&all.iter().map(|it| &it.distances).collect::<Vec<_>>());
        let by_round = |run: &&mut Run| {
            let figure = Visit::cpu_ns_per_request;
            logarithms_by_round(run.outcome.visits(), figure, |it| is_in(&it.distances))
        };
        let visits: Vec<Vec<Option<f64>>> = own.iter().map(by_round).collect();
        for (run, drift) in own.iter_mut().zip(drifts(&visits, margin.unwrap_or(usual))) {
            if let (Outcome::Measured(measured), Some(drift)) = (&mut run.outcome, drift) {
                evidence::record(&run.variant, run.copy, "drift", &drift);
                measured.reasons.extend(drift.reason());
            }
        }
    }
}

/// The drift of each instance where it is certain, from the logarithms of its visits by round.
fn drifts(visits: &[Vec<Option<f64>>], margin: f64) -> Vec<Option<Drift>> {
    let is_measured = |row: &&Vec<Option<f64>>| row.iter().any(Option::is_some);
    if visits.iter().filter(is_measured).count() < FEWEST_INSTANCES {
        return vec![None; visits.len()];
    }
    instance_values(visits).into_iter().map(|value| drift(&value?, margin)).collect()
}

fn drift(value: &InstanceValue, margin: f64) -> Option<Drift> {
    let trend = value.trend.filter(Trend::is_certain)?;
    Some(Drift { change: trend.change, margin })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The drifts that are found in ten visits of three instances, of which the last one drifts by this
    /// much from visit to visit, on a machine that takes `machine(instance, round)` longer for each.
    fn drift_of(
        step: f64,
        margin: f64,
        machine: impl Fn(u32, u32) -> f64,
        seed: u64,
    ) -> Vec<Option<f64>> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut noise = || 0.01 * (random.f64() + random.f64() - 1.0);
        let matrix: Vec<Vec<Option<f64>>> = (0..3)
            .map(|row| {
                let step = if row == 2 { step } else { 0.0 };
                let value = |round| f64::from(round) * step + machine(row, round) + noise();
                (0..10).map(value).map(Some).collect()
            })
            .collect();
        drifts(&matrix, margin).into_iter().map(|it| it?.reason()?.figure).collect()
    }

    /// It slows all of them down evenly.
    const EVEN: fn(u32, u32) -> f64 = |_, round| 0.01 * f64::from(round);

    #[test]
    fn an_instance_that_drifts_alone_is_named_and_the_others_are_not() {
        for seed in 0..50 {
            let found = drift_of(-0.01, 0.03, EVEN, seed);
            assert_eq!(found[..2], [None, None], "{seed}");
            assert!((found[2].unwrap() + 0.086).abs() < 0.03, "{seed}: {found:?}");
        }
    }

    #[test]
    fn a_machine_that_slows_down_by_a_fifth_halfway_is_no_drift_of_a_server() {
        let slow = 1.2_f64.ln();
        for before in 0..3 {
            // In round 5, after some of the instances.
            let machine = |instance: u32, round: u32| match (round, instance) {
                (0..5, _) => 0.0,
                (5, instance) if instance < before => 0.0,
                _ => slow,
            };
            let found: Vec<_> = (0..50).map(|seed| drift_of(0.0, 0.03, machine, seed)).collect();
            let named = found.iter().filter(|it| it.iter().any(Option::is_some)).count();
            assert!(named <= 2, "{before}: {named} of 50");
            for seed in 0..50 {
                let found = drift_of(-0.04, 0.03, machine, seed);
                assert_eq!(found[..2], [None, None], "{before} {seed}");
                assert!(found[2].is_some_and(|it| it < -0.1), "{before} {seed}: {found:?}");
            }
        }
    }

    #[test]
    fn two_instances_show_no_drift() {
        let visits = |step: f64| {
            let visit = move |round: u32| Visit {
                round,
                requests: 1000,
                cpu_ns: Some((1e6 * (step * f64::from(round)).exp()) as u64),
                ..Visit::default()
            };
            (0..10).map(visit).collect::<Vec<Visit>>()
        };
        let matrix = [visits(0.0), visits(0.0), visits(0.05)]
            .map(|it| logarithms_by_round(&it, Visit::cpu_ns_per_request, |_| true));
        let named = |matrix: &[Vec<Option<f64>>]| {
            drifts(matrix, 0.03).into_iter().flatten().filter_map(|it| it.reason()).count()
        };
        assert_eq!((named(&matrix), named(&matrix[1..])), (1, 0));
    }

    #[test]
    fn a_drift_within_the_margin_and_one_that_may_be_noise_are_none() {
        assert_eq!(drift_of(-0.002, 0.03, EVEN, 1), [None; 3]);
        assert_eq!(drift_of(0.0, 0.0, EVEN, 1), [None; 3]);
        let trend = Trend { slope: 0.1, t: 1.0, freedom: 8.0, change: 0.9 };
        let value = InstanceValue { value: 0.0, error: None, visits: 10, trend: Some(trend) };
        assert_eq!(drift(&value, 0.03), None);
    }
}
