//! The arithmetic of the model, by examples that can be checked by hand.

use super::*;

const NONE: f64 = f64::NAN;

fn contrast(cells: &[Vec<f64>]) -> Contrast {
    TwoWay::fit(cells, &[0, 1]).unwrap().contrast(&[2], &[0, 1]).unwrap()
}

#[test]
fn with_all_cells_a_difference_is_the_mean_difference_within_cohorts() {
    let cells = [vec![1.0, 5.0, 3.0], vec![1.2, 5.1, 2.9], vec![2.0, 6.3, 4.1]];
    let found = contrast(&cells);
    let by_hand = (0..3).map(|it| cells[2][it] - f64::midpoint(cells[0][it], cells[1][it]));
    assert!((found.difference - by_hand.sum::<f64>() / 3.0).abs() < 1e-9, "{found:?}");
    assert_eq!(found.cohorts, 3);
}

#[test]
fn what_a_cohort_has_in_common_is_not_noise() {
    let cells = [vec![1.0, 2.0, 3.0], vec![1.01, 1.99, 3.0], vec![1.1, 2.11, 3.09]];
    let drift = |cohort: usize| [0.0, 10.0, -7.0][cohort];
    let moved: Vec<Vec<f64>> = cells
        .iter()
        .map(|row| row.iter().enumerate().map(|(cohort, it)| it + drift(cohort)).collect())
        .collect();
    let (still, moved) = (contrast(&cells), contrast(&moved));
    assert!((still.difference - moved.difference).abs() < 1e-9);
    assert!((still.error / moved.error - 1.0).abs() < 1e-6, "{still:?} {moved:?}");
}

#[test]
fn equal_noise_makes_the_error_of_the_textbook() {
    let mut random = fastrand::Rng::with_seed(31);
    let mut even = || 0.02 * (random.f64() - 0.5);
    let cells: Vec<Vec<f64>> = (0..8).map(|_| (0..60).map(|_| even()).collect()).collect();
    let found = contrast(&cells);
    let expected = 0.02 / 12.0_f64.sqrt() * (1.0 / 60.0 + 1.0 / 120.0_f64).sqrt();
    assert!((found.error / expected - 1.0).abs() < 0.1, "{} {expected}", found.error);
    assert!((found.reference_share - 1.0 / 3.0).abs() < 0.1, "{found:?}");
    // Rows borrow from each other, and not more than all of them know.
    assert!(found.freedom > 60.0 && found.freedom < 413.0, "{found:?}");
}

#[test]
fn a_missing_cell_leaves_what_the_others_say_of_its_cohort() {
    // The third row is 1 above; it misses the cohort that is 5 higher for all.
    let full = [vec![0.0, 5.0, 0.1, 0.0], vec![0.0, 5.0, 0.0, 0.1], vec![1.0, NONE, 1.0, 1.1]];
    let found = contrast(&full);
    assert!((found.difference - 1.0).abs() < 0.05 && found.cohorts == 3, "{found:?}");
    // And where one instance of the baseline misses, the other stands for both.
    let half = [vec![0.0, NONE, 0.1, 0.0], vec![0.0, 5.0, 0.0, 0.1], vec![1.0, 6.0, 1.0, 1.1]];
    let found = contrast(&half);
    assert!((found.difference - 1.0).abs() < 0.05 && found.cohorts == 4, "{found:?}");
}

#[test]
fn rows_that_share_no_cohort_are_compared_through_one_that_meets_both() {
    let cells = [
        vec![0.0, 0.1, 0.0, NONE, NONE, NONE],
        vec![1.0, 1.0, 1.1, 3.0, 3.1, 3.0],
        vec![NONE, NONE, NONE, 4.0, 4.0, 4.1],
    ];
    let model = TwoWay::fit(&cells, &[0]).unwrap();
    let through = model.contrast(&[2], &[0]).unwrap();
    assert!((through.difference - 2.0).abs() < 0.1 && through.cohorts == 0, "{through:?}");
    let apart = [cells[0].clone(), cells[2].clone()];
    assert!(TwoWay::fit(&apart, &[0]).unwrap().contrast(&[1], &[0]).is_none());
}

#[test]
fn a_noisy_row_has_a_large_error_and_leaves_that_of_the_others_small() {
    let noise = [0.002, -0.003, 0.001, 0.003, -0.001, -0.002];
    let row = |turn: usize, size: f64| -> Vec<f64> {
        (0..6).map(|cohort| size * noise[(cohort * turn + turn) % 6]).collect()
    };
    let cells = [row(1, 1.0), row(5, 1.0), row(1, -1.0), row(5, 0.8), row(1, 0.9), row(5, 30.0)];
    let model = TwoWay::fit(&cells, &[0, 1]).unwrap();
    let error = |row: usize| model.contrast(&[row], &[0, 1]).unwrap().error;
    assert!(error(5) > 8.0 * error(2), "{} {}", error(5), error(2));
    assert!(error(2) < 0.003, "{}", error(2));
}

#[test]
fn without_values_there_is_no_model_and_one_value_has_no_more_than_a_level() {
    assert!(TwoWay::fit(&[], &[]).is_none());
    assert!(TwoWay::fit(&[vec![NONE]], &[0]).is_none());
    let one = TwoWay::fit(&[vec![1.0], vec![1.5]], &[0]).unwrap();
    let found = one.contrast(&[1], &[0]).unwrap();
    assert!((found.difference - 0.5).abs() < 1e-9 && found.cohorts == 1, "{found:?}");
}
