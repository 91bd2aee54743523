//! Visits whose truth is known.

use super::*;
use fastrand::Rng;

fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// Instances at levels 0, 0.1, 0.2, ... with 2 % of noise, over rounds that share a drift.
fn cohort(instances: usize, rounds: usize, random: &mut Rng) -> Vec<Vec<Option<f64>>> {
    let drift: Vec<f64> = (0..rounds).map(|_| 0.1 * normal(random)).collect();
    (0..instances)
        .map(|it| {
            let level = 0.1 * it as f64;
            drift.iter().map(|drift| Some(level + drift + 0.02 * normal(random))).collect()
        })
        .collect()
}

#[test]
fn what_a_round_has_in_common_is_taken_out() {
    let mut random = Rng::with_seed(21);
    let values = instance_values(&cohort(9, 10, &mut random));
    for (place, found) in values.iter().enumerate() {
        let found = found.unwrap();
        let first = values[0].unwrap().value;
        assert!((found.value - first - 0.1 * place as f64).abs() < 0.03, "{place}: {found:?}");
        let error = found.error.unwrap();
        assert!(error > 0.002 && error < 0.016, "{error}");
    }
}

#[test]
fn a_fifth_of_wild_visits_and_as_many_missing_ones_move_nothing() {
    let mut random = Rng::with_seed(22);
    let mut visits = cohort(9, 20, &mut random);
    let clean = instance_values(&visits);
    for round in [3, 8, 14] {
        visits[4][round] = Some(5.0);
    }
    for round in [0, 6, 19] {
        visits[2][round] = None;
    }
    let found = instance_values(&visits);
    for (clean, found) in clean.iter().zip(&found) {
        let (clean, found) = (clean.unwrap(), found.unwrap());
        assert!((clean.value - found.value).abs() < 0.015, "{clean:?} {found:?}");
        assert!(found.error.unwrap() < 3.0 * clean.error.unwrap(), "{clean:?} {found:?}");
    }
    assert_eq!(found[2].unwrap().visits, 17);
}

#[test]
fn the_error_is_what_values_scatter_by() {
    let mut random = Rng::with_seed(23);
    let (mut squares, mut errors, mut count) = (0.0, 0.0, 0.0);
    for _ in 0..200 {
        let values = instance_values(&cohort(9, 10, &mut random));
        let levels: Vec<f64> = values.iter().map(|it| it.unwrap().value).collect();
        let mean = levels.iter().sum::<f64>() / 9.0;
        for (place, found) in values.iter().enumerate() {
            squares +=
                (found.unwrap().value - mean - 0.1 * (place as f64 - 4.0)).powi(2) * 9.0 / 8.0;
            errors += found.unwrap().error.unwrap().powi(2);
            count += 1.0;
        }
    }
    let ratio: f64 = (errors / squares).sqrt();
    assert!(count > 0.0 && (ratio - 1.0).abs() < 0.12, "{ratio}");
}

#[test]
fn a_warm_up_that_goes_on_is_found_and_rarely_where_there_is_none() {
    let mut random = Rng::with_seed(24);
    let (mut found, mut wrong) = (0, 0);
    for _ in 0..200 {
        let mut visits = cohort(9, 12, &mut random);
        // 10 % cheaper from the first round to the last.
        for (round, visit) in visits[3].iter_mut().enumerate() {
            *visit = visit.map(|value| value - 0.10 * round as f64 / 11.0);
        }
        let values = instance_values(&visits);
        let certain = |place: usize| values[place].unwrap().trend.unwrap().is_certain();
        found += usize::from(certain(3));
        wrong += usize::from(certain(5));
        if certain(3) {
            let change = values[3].unwrap().trend.unwrap().change;
            assert!(change < -0.03, "{change}");
        }
    }
    assert!(found >= 180, "{found} of 200");
    assert!(wrong <= 8, "{wrong} of 200");
}

#[test]
fn few_visits_have_what_can_be_said_of_them() {
    assert!(instance_values(&[]).is_empty());
    assert_eq!(instance_values(&[vec![None, Some(f64::NAN)]]), [None]);
    let one = instance_values(&[vec![Some(1.5)]])[0].unwrap();
    assert_eq!((one.value, one.error, one.visits, one.trend), (1.5, None, 1, None));
    // Two instances are not centred: nothing would be left of them.
    let two = instance_values(&[vec![Some(1.0), Some(2.0)], vec![Some(3.0), Some(4.0)]]);
    assert!((two[1].unwrap().value - 3.5).abs() < 1e-12 && two[1].unwrap().error.unwrap() > 0.3);
}

#[test]
fn one_disturbed_visit_of_three_or_four_does_not_decide() {
    let value =
        |visits: &[f64]| instance_values(&[visits.iter().copied().map(Some).collect()])[0].unwrap();
    let three = value(&[1.0, 1.02, 9.0]);
    assert_eq!((three.value, three.error), (1.02, None));
    let four = value(&[1.0, 1.02, 1.04, 9.0]);
    assert!((four.value - 1.03).abs() < 1e-12 && four.error.is_some());
}

#[test]
fn instances_of_unequal_length_are_taken_as_they_are() {
    let rows = [vec![Some(1.0); 5], vec![Some(2.0); 3], vec![Some(3.0); 4]];
    let values = instance_values(&rows);
    assert!((values[1].unwrap().value - 2.0).abs() < 1e-12);
    assert!(values[2].unwrap().trend.is_none() && values[0].unwrap().trend.is_some());
    assert!(!values[0].unwrap().trend.unwrap().is_certain());
}
