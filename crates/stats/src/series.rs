//! The mean of a ratio over a series of loads, such as one load at ten numbers of connections.
//!
//! An instance that serves several loads of a cohort moves all of them together. So the deviations of a cohort are
//! added up over the loads before they are squared (Liang & Zeger 1986), each enlarged for the mean that its load took
//! away. The degrees of freedom are those of the cohorts by the part that each has in the error.
//!
//! Not in this file: which loads belong together.

use crate::estimate::CONFIDENCE;
use crate::judgement::{Judged, Rule};
use crate::mean::Mean;
use crate::moderation::LEAST_VARIANCE;
use crate::simultaneous::Family;
use crate::two_way::Contrast;

/// Judges the mean of the logarithms `loads[load][cohort]` of a ratio, as one of this many comparisons. What is not
/// finite is missing. None where no load has values of two cohorts; one with a single value is left out, because
/// nothing is known of its noise.
#[must_use]
pub fn judge_series(loads: &[Vec<f64>], comparisons: usize, margin: f64) -> Option<Judged> {
    let means = loads.iter().filter_map(|load| Some((load, Mean::of(load)?)));
    let loads: Vec<(&Vec<f64>, Mean)> = means.filter(|(_, mean)| mean.count > 1).collect();
    let cohorts = loads.iter().map(|(load, _)| load.len()).max()?;
    let mut sums = vec![0.0; cohorts];
    let mut parts = vec![0.0; cohorts];
    for (load, mean) in &loads {
        let (count, all) = (mean.count as f64, loads.len() as f64);
        let enlarged = (count / (count - 1.0)).sqrt();
        for (cohort, value) in load.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            sums[cohort] += (value - mean.value) * enlarged / (count * all);
            parts[cohort] += (count * all).powi(-2);
        }
    }
    let squares: f64 = sums.iter().map(|it| it.powi(2)).sum();
    let of_parts: f64 = parts.iter().map(|it| it.powi(2)).sum();
    let present = parts.iter().filter(|it| **it > 0.0).count();
    let contrast = Contrast {
        difference: loads.iter().map(|(_, mean)| mean.value).sum::<f64>() / loads.len() as f64,
        error: squares.max(LEAST_VARIANCE / present as f64).sqrt(),
        freedom: (parts.iter().sum::<f64>().powi(2) / of_parts - 1.0).max(1.0),
        borrowed: 0.0,
        reference_share: 0.0,
        cohorts: present,
    };
    let mut rule = Rule::new(Family::Separate { comparisons }, 1.0 - CONFIDENCE, margin);
    Some(rule.judge(&contrast))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::Outcome;
    use fastrand::Rng;

    const NONE: f64 = f64::NAN;

    #[test]
    fn one_load_has_the_interval_of_the_mean_of_its_cohorts() {
        let ratios = [0.70, 0.74, 0.71, 0.75];
        let judged = judge_series(&[ratios.map(f64::ln).to_vec()], 1, 0.03).unwrap();
        let mean = crate::geometric_mean_interval(&ratios).unwrap();
        let found = judged.interval.unwrap();
        // Critical values have degrees of freedom in steps of 2 %.
        assert!((found.width() / mean.width() - 1.0).abs() < 0.02, "{found:?} {mean:?}");
    }

    #[test]
    fn each_load_counts_alike_however_many_cohorts_have_it() {
        let loads = [vec![0.1, 0.2, NONE, NONE], vec![-0.1, 0.0, -0.1, 0.0], vec![9.0, NONE]];
        let judged = judge_series(&loads, 1, 0.03).unwrap();
        assert!((judged.ratio.ln() - 0.05).abs() < 1e-12, "{judged:?}");
        assert_eq!(judged.cohorts, 4);
        assert_eq!(judge_series(&[vec![1.0, NONE]], 1, 0.03), None);
        assert_eq!(
            judge_series(&[vec![0.5, 0.5]], 1, 0.03).unwrap().outcome,
            Outcome::TooFewCohorts
        );
    }

    /// How often equal servers are called different over `loads` loads of six cohorts, a third of whose values are
    /// missing, where an instance moves all loads of its cohort by `shared` of the noise.
    fn wrong(loads: usize, shared: f64, random: &mut Rng) -> f64 {
        const TRIES: usize = 2000;
        let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let mut differs = || {
            let instances: Vec<f64> = (0..6).map(|_| normal()).collect();
            let mut value = |cohort: usize| match normal() > 0.43 {
                true => NONE,
                false => 0.02 * (shared * instances[cohort] + (1.0 - shared) * normal()),
            };
            let loads: Vec<Vec<f64>> =
                (0..loads).map(|_| (0..6).map(&mut value).collect()).collect();
            let outcome = judge_series(&loads, 1, 0.0).map(|it| it.outcome);
            matches!(outcome, Some(Outcome::Higher | Outcome::Lower))
        };
        (0..TRIES).filter(|_| differs()).count() as f64 / TRIES as f64
    }

    #[test]
    fn equal_servers_differ_in_a_twentieth_whether_loads_share_their_noise_or_not() {
        let mut random = Rng::with_seed(61);
        for (loads, shared) in [(1, 0.0), (4, 0.0), (20, 0.0), (4, 0.5), (20, 0.8)] {
            let wrong = wrong(loads, shared, &mut random);
            assert!((0.02..0.065).contains(&wrong), "{loads} loads, {shared} shared: {wrong}");
        }
    }
}
