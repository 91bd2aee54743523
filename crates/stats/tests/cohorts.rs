//! The error rates that `docs/methodology.md` promises for verdicts over cohorts, tested with
//! simulated noise of known truth.
//!
//! Each seed is fixed, so a test passes always or never. The bounds leave three standard errors of
//! the few experiments that are affordable in a test; `examples/coverage` makes many more.

mod simulation;

use fastrand::Rng;
use simulation::cohorts::{Basis, Load, Shape, is_different, is_same};
use simulation::states::{Dwell, Machine, THREE_STATES, TWO_STATES};
use simulation::{at_most_five, percent_of, sweeps::Sweep};
use wirebench_stats::Outcome;

/// Loads of a kind in which a verdict is wrong: at most one of twenty of each.
fn assert_rare(
    seed: u64,
    experiments: usize,
    loads: impl IntoIterator<Item = Load>,
    mut is_wrong: impl FnMut(&Load, &mut Rng) -> bool,
) {
    let mut random = Rng::with_seed(seed);
    for load in loads {
        let wrong = percent_of(experiments, || is_wrong(&load, &mut random));
        assert!(wrong <= at_most_five(experiments), "{load:?}: {wrong} %");
    }
}

/// Loads of every number of rows and cohorts with noise of every shape.
fn equals(shapes: &[Shape], rows: &[usize], cohorts: &[usize]) -> Vec<Load> {
    let of = |shape| {
        cohorts
            .iter()
            .flat_map(move |it| rows.iter().map(move |rows| Load::of_equals(*rows, *it, shape)))
    };
    shapes.iter().copied().flat_map(of).collect()
}

#[test]
fn equal_rows_are_called_different_in_at_most_one_of_twenty_loads_whatever_their_noise() {
    let any = |load: &Load, random: &mut Rng| load.any_different(0.0, 1, random) > 0.0;
    assert_rare(41, 60, equals(&Shape::ALL, &[1, 8], &[3, 4, 6, 10]), any);
    let one: &[f64] = &[1.0, 1.0, 1.0, 1.0, 10.0, 1.0, 1.0, 1.0];
    let unequal =
        [&[0.3, 1.0, 3.0, 10.0] as &[f64], &[10.0], one].into_iter().flat_map(|loudness| {
            let loads = equals(&[Shape::Normal], &[8], &[3, 4, 10]).into_iter();
            loads.map(move |load| Load { loudness, ..load })
        });
    assert_rare(42, 60, unequal, any);
    let missing = Load { missing: 0.15, ..Load::of_equals(8, 4, Shape::Normal) };
    assert_rare(43, 80, [missing], any);
    let ranked = equals(&[Shape::Normal, Shape::HeavyTailed], &[8], &[4]);
    assert_rare(47, 60, ranked, Load::ranks_distinguish);
}

#[test]
fn one_or_two_rows_noisier_than_the_baseline_differ_in_at_most_one_of_twenty_loads() {
    const EXPERIMENTS: usize = 200;
    let mut random = Rng::with_seed(53);
    let (mut sum, mut kinds) = (0.0, 0);
    for loudness in [&[2.0] as &[f64], &[3.0]] {
        for rows in [1, 2] {
            for cohorts in [3, 4, 10] {
                let load = Load { loudness, ..Load::of_equals(rows, cohorts, Shape::Normal) };
                let wrong = load.any_different(0.0, EXPERIMENTS, &mut random);
                let what = format!("{loudness:?}, {rows} rows, {cohorts} cohorts");
                assert!(wrong <= at_most_five(EXPERIMENTS), "{what}: {wrong} %");
                (sum, kinds) = (sum + wrong, kinds + 1);
            }
        }
    }
    let mean = sum / f64::from(kinds);
    assert!(mean <= at_most_five(EXPERIMENTS * kinds as usize), "{mean} %");
}

#[test]
fn four_cohorts_find_five_percent_among_eight_rows() {
    const EXPERIMENTS: usize = 100;
    let mut random = Rng::with_seed(44);
    let load = Load { first_row: 1.05, ..Load::of_equals(8, 4, Shape::Normal) };
    let found = load.first_is(is_different, 0.03, EXPERIMENTS, &mut random);
    assert!(found >= 90.0, "{found} %");
    let width = load.half_width(EXPERIMENTS, &mut random);
    assert!(width < 2.6, "+-{width} %");
    // A row that differs by a factor is found with three cohorts and five times the noise.
    let load = Load { first_row: 2.5, loudness: &[5.0], ..Load::of_equals(8, 3, Shape::Normal) };
    let found = load.first_is(is_different, 0.03, EXPERIMENTS, &mut random);
    assert!(found >= 95.0, "{found} %");
}

#[test]
fn a_row_at_the_margin_is_called_the_same_in_at_most_one_of_twenty_cases() {
    let at_margin = equals(&[Shape::Normal, Shape::HeavyTailed], &[8], &[3, 4, 10]);
    let at_margin = at_margin.into_iter().map(|load| Load { first_row: 1.03, ..load });
    assert_rare(45, 200, at_margin, |load, random| load.first_is(is_same, 0.03, 1, random) > 0.0);
    let mut random = Rng::with_seed(145);
    let equal = Load::of_equals(8, 6, Shape::Normal);
    let same = equal.first_is(is_same, 0.03, 200, &mut random);
    assert!(same >= 95.0, "{same} %");
}

#[test]
fn the_check_of_the_baseline_fails_in_one_of_a_hundred_loads_and_finds_ten_percent() {
    const EXPERIMENTS: usize = 200;
    let mut random = Rng::with_seed(46);
    let failed = |second_instance: f64, margin: f64, random: &mut Rng| {
        let load = Load { second_instance, ..Load::of_equals(8, 4, Shape::Normal) };
        percent_of(EXPERIMENTS, || load.checked(margin, random).differ)
    };
    let wrong = failed(1.0, 0.0, &mut random);
    assert!(wrong <= 1.0 + 3.0 * (99.0 / EXPERIMENTS as f64).sqrt(), "{wrong} %");
    assert!(failed(1.10, 0.03, &mut random) >= 95.0);
}

#[test]
fn two_equal_programs_differ_in_at_most_one_of_twenty_comparisons() {
    let plans = [(2, [3, 4, 7]), (1, [3, 6, 14])];
    for (instances, cohorts) in plans {
        let loads = equals(&Shape::ALL, &[2], &cohorts).into_iter().flat_map(|load| {
            // Noise that is skewed and not that of the other side errs more often.
            let unequal: &[f64] = match load.shape {
                Shape::Normal | Shape::HeavyTailed => &[4.0],
                Shape::Skewed | Shape::TwoModes => &[1.0],
            };
            [&[1.0], unequal].map(|loudness| Load { loudness, ..load })
        });
        assert_rare(49, 200, loads, |load, random| {
            is_different(load.judged_sides(instances, 0.0, random).outcome)
        });
    }
}

#[test]
fn two_instances_of_either_program_find_five_percent_in_three_cohorts_and_two_percent_in_seven() {
    const EXPERIMENTS: usize = 100;
    let mut random = Rng::with_seed(50);
    for (cohorts, ratio) in [(3, 1.05), (7, 1.02)] {
        let load = Load { first_row: ratio, ..Load::of_equals(2, cohorts, Shape::Normal) };
        let mut judged = || load.judged_sides(2, 0.01, &mut random);
        let found = percent_of(EXPERIMENTS, || is_different(judged().outcome));
        assert!(found >= 90.0, "{ratio} in {cohorts} cohorts: {found} %");
    }
    let equal = Load::of_equals(2, 7, Shape::Normal);
    let width = |_| equal.judged_sides(2, 0.01, &mut random).interval.unwrap().width() / 2.0;
    let mean = (0..EXPERIMENTS).map(width).sum::<f64>() / EXPERIMENTS as f64;
    assert!(mean < 0.011, "{mean}");
}

#[test]
fn two_cohorts_never_say_anything() {
    let mut random = Rng::with_seed(48);
    let load = Load { first_row: 2.0, ..Load::of_equals(5, 2, Shape::Normal) };
    let judged = load.judged(0.0, &mut random);
    assert!(judged.iter().all(|row| row.outcome == Outcome::TooFewCohorts), "{judged:?}");
}

#[test]
fn equal_results_of_two_times_differ_in_at_most_one_of_twenty_suites_whatever_their_noise() {
    for basis in Basis::ALL {
        assert_rare(49, 60, equals(&Shape::ALL, &[1, 8], &[3, 4, 10]), |load, random| {
            load.any_changed(load, basis, 1, random) > 0.0
        });
        let loud = Load { loudness: &[5.0], ..Load::of_equals(8, 3, Shape::Normal) };
        let quiet = Load::of_equals(8, 10, Shape::Normal);
        for (old, new) in [(loud, quiet), (quiet, loud)] {
            assert_rare(51, 100, [new], |load, random| {
                load.any_changed(&old, basis, 1, random) > 0.0
            });
        }
    }
}

#[test]
fn four_cohorts_on_each_side_find_a_change_of_five_times_the_noise() {
    const EXPERIMENTS: usize = 100;
    let mut random = Rng::with_seed(50);
    let ratios = (Basis::TwoInstances, 0.03);
    // With 1.2 % of noise; what was 5 times 1 % is 5 times that.
    for rows in [1, 8] {
        let load = Load { first_row: 1.06, ..Load::of_equals(rows, 4, Shape::Normal) };
        let found = load.first_change_is(is_different, ratios, EXPERIMENTS, &mut random);
        assert!(found >= 80.0, "{rows} rows: {found} %");
    }
    // A change of the size of the margin is called the same in at most one of twenty cases.
    let load = Load { first_row: 1.03, ..Load::of_equals(8, 6, Shape::Normal) };
    let wrong = load.first_change_is(is_same, ratios, EXPERIMENTS, &mut random);
    assert!(wrong <= at_most_five(EXPERIMENTS), "{wrong} %");
}

#[test]
fn equal_cells_of_a_sweep_that_share_servers_seldom_differ() {
    const EXPERIMENTS: usize = 100;
    let mut random = Rng::with_seed(52);
    for instance in [0.0, 0.01, 0.04] {
        for groups in [1, 2, 4] {
            let sweep = Sweep { groups, cells: 7, blocks: 3, instance, window: 0.02, first: 1.0 };
            let wrong = percent_of(EXPERIMENTS, || sweep.behind(0.0, &mut random) > 0);
            assert!(wrong <= at_most_five(EXPERIMENTS), "{groups} groups, {instance}: {wrong} %");
        }
    }
    // One cell is 15 % faster than 27 others.
    let sweep = Sweep { groups: 4, cells: 7, blocks: 3, instance: 0.01, window: 0.02, first: 1.15 };
    let found: usize = (0..EXPERIMENTS).map(|_| sweep.behind(0.03, &mut random)).sum();
    assert!(found >= 70 * 27, "{} %", found as f64 / 27.0);
}

#[test]
fn within_one_state_intervals_hold_and_are_as_narrow_as_on_a_machine_that_never_changes() {
    const EXPERIMENTS: usize = 60;
    let mut random = Rng::with_seed(54);
    let usual = Machine { dwell: Dwell::Constant, states: TWO_STATES, cohorts: 4 };
    let [plain, constant] = usual.shown(EXPERIMENTS, &mut random);
    let exact = |of: [f64; 2]| of.map(f64::to_bits);
    assert_eq!(exact(plain.half_widths), exact(constant.half_widths), "nothing is filtered");
    let changing = [
        (Dwell::Mean(10.0), TWO_STATES),
        (Dwell::Mean(60.0), TWO_STATES),
        (Dwell::Seen, TWO_STATES),
        (Dwell::Mean(60.0), THREE_STATES),
    ];
    for (dwell, states) in changing {
        let machine = Machine { dwell, states, ..usual };
        let [plain, filtered] = machine.shown(EXPERIMENTS, &mut random);
        assert!(filtered.misses <= at_most_five(EXPERIMENTS), "{dwell:?}: {filtered:?}");
        assert!(filtered.usable >= 90.0, "{dwell:?}: {filtered:?}");
        for (row, half_width) in filtered.half_widths.into_iter().enumerate() {
            assert!(half_width < 1.3 * constant.half_widths[row], "{dwell:?}: {filtered:?}");
            assert!(half_width < 0.6 * plain.half_widths[row], "{dwell:?}: {plain:?} {filtered:?}");
        }
    }
}

#[test]
fn without_the_filter_a_machine_of_two_states_makes_intervals_that_do_not_hold() {
    const EXPERIMENTS: usize = 60;
    let machine = Machine { dwell: Dwell::Mean(180.0), states: TWO_STATES, cohorts: 4 };
    let [plain, filtered] = machine.shown(EXPERIMENTS, &mut Rng::with_seed(55));
    assert!(plain.misses > 2.0 * at_most_five(EXPERIMENTS), "{plain:?}");
    assert!(filtered.misses <= at_most_five(EXPERIMENTS), "{filtered:?}");
}
