//! Whether an instance went on changing over its slices, compared with the other instances of the
//! cohort. Pure.

use std::collections::BTreeSet;
use wirebench_schema::{
    journal::{Outcome, Reason, ReasonKind, Run, Slice, Weight, logarithms_by_round},
    suite::Workload,
};
use wirebench_stats::{InstanceValue, Trend, instance_values};

/// Adds a note to each run of a cohort whose CPU time per request has a trend that is certain and
/// larger than the margin: the usual one of its phase, if none is given.
pub(crate) fn note_drift(runs: &mut [Run], workloads: &[&Workload], margin: Option<f64>) {
    let names: BTreeSet<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
    for name in names {
        let workload = workloads.iter().find(|workload| workload.name == name);
        let usual = workload.map_or(0.0, |workload| workload.phase.usual_margin());
        let mut own: Vec<&mut Run> = runs.iter_mut().filter(|run| run.workload == name).collect();
        let slices: Vec<Vec<Option<f64>>> = own.iter().map(|run| by_round(run)).collect();
        for (run, value) in own.iter_mut().zip(instance_values(&slices)) {
            let reason = value.and_then(|value| drift(&value, margin.unwrap_or(usual)));
            if let (Outcome::Measured(measured), Some(reason)) = (&mut run.outcome, reason) {
                measured.reasons.push(reason.with_next_step());
            }
        }
    }
}

fn by_round(run: &Run) -> Vec<Option<f64>> {
    let Outcome::Measured(measured) = &run.outcome else { return Vec::new() };
    logarithms_by_round(&measured.slices, Slice::cpu_ns_per_request)
}

fn drift(value: &InstanceValue, margin: f64) -> Option<Reason> {
    let trend = value.trend.filter(Trend::is_certain)?;
    let change = trend.change.exp_m1();
    let text = format!(
        "its CPU time per request changed by {:+.1} % from the first slice to the last",
        change * 100.0
    );
    let is_large = trend.change.abs() > margin.ln_1p();
    is_large.then(|| ReasonKind::Drifting.reason(Weight::Note, Some(change), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten slices of three instances, of which the last drifts by this much from slice to slice.
    fn drift_of(step: f64, margin: f64, seed: u64) -> Vec<Option<f64>> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut noise = || 0.01 * (random.f64() + random.f64() - 1.0);
        let matrix: Vec<Vec<Option<f64>>> = (0..3)
            .map(|row| {
                let step = if row == 2 { step } else { 0.0 };
                // The machine slows all of them down meanwhile.
                (0..10).map(|round| Some(f64::from(round) * (step + 0.01) + noise())).collect()
            })
            .collect();
        let found = |value: Option<InstanceValue>| drift(&value?, margin)?.figure;
        instance_values(&matrix).into_iter().map(found).collect()
    }

    #[test]
    fn an_instance_that_drifts_alone_is_named_and_the_others_are_not() {
        for seed in 0..50 {
            let found = drift_of(-0.01, 0.03, seed);
            assert_eq!(found[..2], [None, None], "{seed}");
            assert!((found[2].unwrap() + 0.086).abs() < 0.03, "{seed}: {found:?}");
        }
    }

    #[test]
    fn a_drift_within_the_margin_and_one_that_may_be_noise_are_none() {
        assert_eq!(drift_of(-0.002, 0.03, 1), [None; 3]);
        assert_eq!(drift_of(0.0, 0.0, 1), [None; 3]);
        let trend = Trend { slope: 0.1, t: 1.0, freedom: 8.0, change: 0.9 };
        let value = InstanceValue { value: 0.0, error: None, slices: 10, trend: Some(trend) };
        assert_eq!(drift(&value, 0.03), None);
    }
}
