//! Measures with simulated noise how often the intervals hold, how often the verdicts are wrong
//! although nothing differs, and what differences are found.
//!
//! Not here: a judgement. The tables in the crate's documentation come from this program:
//! `cargo run --release -p wirebench-stats --example coverage [EXPERIMENTS]`.

mod bootstrap;
#[path = "../../tests/simulation/mod.rs"]
mod simulation;

use fastrand::Rng;
use simulation::{
    NO_FLOOR, Noise, Suite, any_difference, change_coverage_percent, coverage_percent, normal,
    percent_of,
};
use wirebench_stats::{
    Floor, Interval, Steadiness, Verdict, change_estimate, location_estimate, steadiness,
};

const SEED: u64 = 20_260_917;
const BLOCKS: [usize; 3] = [6, 10, 30];

fn main() {
    let experiments = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let mut random = Rng::with_seed(SEED);
    println!("{experiments} experiments for each number\n");
    //intervals(experiments, &mut random);
    changes(experiments, &mut random);
    families(experiments / 5, &mut random);
    loudness(experiments / 5, &mut random);
    unequal_noise(experiments / 5, &mut random);
    power(experiments / 5, &mut random);
    ranks(experiments / 20, &mut random);
    warm_up(experiments / 5, &mut random);
}

/// Coverage of the ways to make an interval of one sample.
fn intervals(experiments: usize, random: &mut Rng) {
    type Way = fn(&[f64]) -> Option<Interval>;
    let ways: [(&str, Way, usize); 5] = [
        ("signed rank", |values| location_estimate(values)?.interval, 1),
        ("percentile", bootstrap::percentile, 10),
        ("expanded", bootstrap::expanded_percentile, 10),
        ("BCa", bootstrap::bias_corrected_accelerated, 10),
        ("Student t", bootstrap::student, 1),
    ];
    println!("Coverage of 95 % intervals of the pseudo-median, in percent\n");
    for (name, way, costs) in ways {
        for noise in Noise::ALL {
            let held = BLOCKS
                .map(|blocks| coverage_percent(noise, blocks, experiments / costs, random, way));
            println!(
                "| {name:11} | {noise:11?} | {:5.1} | {:5.1} | {:5.1} |",
                held[0], held[1], held[2]
            );
        }
    }
    println!();
}

/// Coverage of the interval of a change between two times.
fn changes(experiments: usize, random: &mut Rng) {
    println!("Coverage of 95 % intervals of a change, in percent; old runs, new runs\n");
    let kinds = [
        (Noise::Normal, Noise::Normal),
        (Noise::Skewed, Noise::Skewed),
        (Noise::Exponential, Noise::Exponential),
        (Noise::Bimodal, Noise::Bimodal),
        (Noise::Normal, Noise::Exponential),
        (Noise::Normal, Noise::Bimodal),
        (Noise::Normal, Noise::EvenModes),
    ];
    for (old, new) in kinds {
        print!("| {:24} |", format!("{old:?} {new:?}"));
        for (old_runs, new_runs) in [(6, 6), (10, 10), (30, 30), (6, 30), (30, 6)] {
            let held = change_coverage_percent(
                (old, old_runs),
                (new, new_runs),
                experiments,
                random,
                |old, new| change_estimate(old, new)?.interval,
            );
            print!(" {held:5.1} |");
        }
        println!();
    }
    println!();
}

/// Experiments in which any row is called different although all are equal.
fn families(experiments: usize, random: &mut Rng) {
    println!("Experiments with any false difference, without a floor, in percent\n");
    println!("judge: rows to their baseline; judge_changes: the same rows at two times\n");
    for noise in Noise::ALL {
        for rows in [1, 5, 20, 50] {
            print!("| {noise:11?} | {rows:2} |");
            for blocks in [6, 10, 30] {
                let suite = Suite::of_equals(rows, blocks, noise);
                let judged =
                    percent_of(experiments, || any_difference(&suite.judged(&NO_FLOOR, random)));
                let changed = percent_of(experiments, || {
                    any_difference(&suite.judged_changes(&NO_FLOOR, random))
                });
                print!(" {judged:4.1} {changed:4.1} |");
            }
            println!();
        }
    }
    println!();
}

/// The same with rows that are quieter and noisier than the baseline, by up to a factor of ten.
fn loudness(experiments: usize, random: &mut Rng) {
    println!("The same with rows whose noise is 0.3, 1, 3 and 10 times the baseline's\n");
    for noise in [Noise::Normal, Noise::EvenModes] {
        for rows in [2, 5, 20, 50] {
            print!("| {noise:11?} | {rows:2} |");
            for blocks in [6, 10, 30] {
                // Symmetric noise with a centre of 0, so that no row has another truth.
                let suite = Suite {
                    loudness: &[0.3, 1.0, 3.0, 10.0],
                    baseline: Noise::Normal,
                    ..Suite::of_equals(rows, blocks, noise)
                };
                let wrong = percent_of(experiments, || {
                    let mut rows = suite.run(random);
                    for (index, row) in rows.0.iter_mut().enumerate() {
                        let centre = suite.loudness[index % 4]
                            * if noise == Noise::EvenModes { 0.05 } else { 0.0 };
                        row.values_mut().for_each(|value| *value *= centre.exp());
                    }
                    let ratios: Vec<Vec<f64>> = rows
                        .0
                        .iter()
                        .map(|row| wirebench_stats::ratios_by_block(row, &rows.1))
                        .collect();
                    any_difference(&wirebench_stats::judge(&ratios, &NO_FLOOR))
                });
                print!(" {wrong:4.1} |");
            }
            println!();
        }
    }
    println!();
}

/// The same where the rows have another noise than the baseline, and the same pseudo-median.
fn unequal_noise(experiments: usize, random: &mut Rng) {
    println!("The same with rows whose noise is not the baseline's\n");
    for noise in [Noise::Skewed, Noise::Exponential, Noise::Bimodal, Noise::EvenModes] {
        for rows in [1, 5, 20, 50] {
            print!("| {noise:11?} | {rows:2} |");
            for blocks in [6, 10, 30] {
                let centre = centre_of_ratio(noise, Noise::Normal, random);
                let suite =
                    Suite { baseline: Noise::Normal, ..Suite::of_equals(rows, blocks, noise) };
                for floor in [0.0, 0.01] {
                    let floor = Floor { relative: floor, ..NO_FLOOR };
                    let wrong = percent_of(experiments, || {
                        let (rows, baseline) = suite.run(random);
                        let ratios: Vec<Vec<f64>> = rows
                            .iter()
                            .map(|row| row.iter().map(|(b, v)| v / baseline[b] / centre).collect())
                            .collect();
                        any_difference(&wirebench_stats::judge(&ratios, &floor))
                    });
                    print!(" {wrong:4.1}");
                }
                print!(" |");
            }
            println!();
        }
    }
    println!();
}

/// The pseudo-median of the ratio of two kinds of noise.
fn centre_of_ratio(noise: Noise, baseline: Noise, random: &mut Rng) -> f64 {
    let mut ratio = || noise.draw(random) - baseline.draw(random);
    let means: Vec<f64> = (0..400_000).map(|_| f64::midpoint(ratio(), ratio())).collect();
    wirebench_stats::median(&means).unwrap_or(0.0).exp()
}

/// How often one row that differs among equal ones is found.
fn power(experiments: usize, random: &mut Rng) {
    println!("A row that differs is found, in percent (1 % of noise in each run, floor 1 %)\n");
    let floor = Floor { relative: 0.01, ..NO_FLOOR };
    for blocks in [6, 10, 30] {
        for rows in [1, 5, 20, 50] {
            print!("| {blocks:2} | {rows:2} |");
            for ratio in [1.02, 1.03, 1.05, 1.07, 1.10] {
                let suite =
                    Suite { first_row: ratio, ..Suite::of_equals(rows, blocks, Noise::Normal) };
                let found = percent_of(experiments, || {
                    suite.judged(&floor, random)[0].verdict == Verdict::Higher
                });
                let changed = percent_of(experiments, || {
                    suite.judged_changes(&floor, random)[0].verdict == Verdict::Higher
                });
                print!(" {found:5.1} {changed:5.1} |");
            }
            println!();
        }
    }
    println!();
}

/// Experiments in which equal rows get different ranks.
fn ranks(experiments: usize, random: &mut Rng) {
    println!("Experiments in which equal rows have any different ranks, in percent\n");
    for noise in Noise::ALL {
        for rows in [5, 20] {
            print!("| {noise:11?} | {rows:2} |");
            for blocks in [6, 10, 30] {
                let suite = Suite::of_equals(rows, blocks, noise);
                let wrong = percent_of(experiments, || suite.ranks_distinguish(&NO_FLOOR, random));
                print!(" {wrong:4.1} |");
            }
            println!();
        }
    }
    println!();
}

/// When flat series are called steady, and whether drifting ones ever are.
fn warm_up(experiments: usize, random: &mut Rng) {
    println!("Series called steady by so many values, in percent\n");
    let shapes: [(&str, fn(f64) -> f64); 6] = [
        ("flat", |_| 1.0),
        ("1 % in 8", |place| 1.0 + 0.01 * place / 7.0),
        ("3 % in 8", |place| 1.0 + 0.03 * place / 7.0),
        ("5 % in 8", |place| 1.0 + 0.05 * place / 7.0),
        ("10 % in 8", |place| 1.0 + 0.10 * place / 7.0),
        ("decay", |place| 1.0 + 2.0 * (-place / 5.0).exp()),
    ];
    println!("| shape | noise | 8 | 10 | 12 | 16 | 24 | 40 | 60 |");
    for (name, shape) in shapes {
        for noise in [0.003, 0.01, 0.02, 0.05, 0.10] {
            let mut by = [0_usize; 61];
            for _ in 0..experiments {
                let values: Vec<f64> = (0..60)
                    .map(|place| shape(f64::from(place)) * (1.0 + noise * normal(random)))
                    .collect();
                let first = (8..=60).find(|count| {
                    matches!(steadiness(&values[..*count]), Steadiness::Steady { .. })
                });
                if let Some(first) = first {
                    by[first..].iter_mut().for_each(|count| *count += 1);
                }
            }
            let share = |count: usize| 100.0 * by[count] as f64 / experiments as f64;
            print!("| {name:9} | {:4.1} |", noise * 100.0);
            [8, 10, 12, 16, 24, 40, 60].map(|count| print!(" {:5.1} |", share(count)));
            println!();
        }
    }
}
