//! Measures with simulated noise how often the intervals hold, how often the verdicts are wrong
//! although nothing differs, what differences are found, and when a series is called steady.
//!
//! `cargo run --release -p wirebench-stats --example coverage [PART] [EXPERIMENTS]`, where the parts
//! are `cohorts` (the tables in `docs/methodology.md`), `changes`, `pairs` and `warm-up`; all of them
//! without one. The tables in the documentation come from the default number of experiments. Not in
//! this file: what is good enough; the tests say that.

mod bootstrap;
mod cohorts;
#[path = "../../tests/simulation/mod.rs"]
mod simulation;
mod verdicts;
mod warm_up;

use fastrand::Rng;
use simulation::{Noise, change_coverage_percent, coverage_percent, stopped_coverage_percent};
use std::process::ExitCode;
use wirebench_stats::{Interval, change_estimate, location_estimate};

const SEED: u64 = 20_260_917;
const EXPERIMENTS: usize = 4_000;
/// The rarest experiments are a twentieth of the number given.
const FEWEST: usize = 20;
const PARTS: [&str; 4] = ["cohorts", "changes", "pairs", "warm-up"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (part, number) = match arguments.split_first() {
        Some((first, rest)) if PARTS.contains(&first.as_str()) => (Some(first.as_str()), rest),
        _ => (None, &arguments[..]),
    };
    let experiments = match number.first().map(|text| text.parse::<usize>()) {
        None => EXPERIMENTS,
        Some(Ok(experiments)) if experiments >= FEWEST => experiments,
        Some(_) => {
            let parts = PARTS.join(", ");
            eprintln!("usage: coverage [PART] [EXPERIMENTS, at least {FEWEST}]; parts: {parts}");
            return ExitCode::from(2);
        }
    };
    for wanted in PARTS.into_iter().filter(|it| part.is_none_or(|part| part == *it)) {
        // Each part has the same seed, so that none depends on what another one draws.
        let random = || Rng::with_seed(SEED);
        match wanted {
            "cohorts" => cohorts::all(experiments / 10, &mut random()),
            "changes" => changes(experiments, &mut random()),
            "warm-up" => warm_up::all(experiments / 5, &mut random()),
            _ => {
                intervals(experiments, &mut random());
                stopping(experiments, &mut random());
                verdicts::false_differences(experiments / 5, &mut random());
                verdicts::unequal_noise(experiments / 5, &mut random());
                verdicts::power(experiments / 5, &mut random());
                verdicts::ranks(experiments / 10, &mut random());
            }
        }
    }
    ExitCode::SUCCESS
}

/// Coverage of the ways to make an interval of one sample.
fn intervals(experiments: usize, random: &mut Rng) {
    type Way = fn(&[f64]) -> Option<Interval>;
    // How many times fewer experiments each way gets, because it takes that much longer.
    let ways: [(&str, Way, usize); 5] = [
        ("signed rank", |values| location_estimate(values)?.interval, 1),
        ("percentile", bootstrap::percentile, 20),
        ("expanded", bootstrap::expanded_percentile, 20),
        ("BCa", bootstrap::bias_corrected_accelerated, 20),
        ("Student t", bootstrap::student, 1),
    ];
    println!("Coverage of 95 % intervals of the pseudo-median, in percent, by number of blocks\n");
    println!("| interval | noise | 6 | 10 | 30 | experiments |");
    let truths = Noise::ALL.map(|noise| (noise, noise.pseudo_median(random)));
    for (name, way, rarer) in ways {
        for truth in truths {
            let experiments = experiments / rarer;
            let held =
                [6, 10, 30].map(|blocks| coverage_percent(truth, blocks, experiments, random, way));
            let [six, ten, thirty] = held;
            let noise = truth.0;
            println!("| {name} | {noise:?} | {six:.1} | {ten:.1} | {thirty:.1} | {experiments} |");
        }
    }
    println!();
}

/// Coverage when blocks are added until the interval is narrow enough.
fn stopping(experiments: usize, random: &mut Rng) {
    println!(
        "Coverage when the interval decides when to stop, in percent; {experiments} experiments\n"
    );
    println!("| half width in deviations of the noise | coverage | blocks |");
    for half_width in [0.5, 0.7, 0.8, 1.0, 1.2, 1.5] {
        let (held, blocks) = stopped_coverage_percent(half_width, experiments, random);
        println!("| {half_width} | {held:.1} | {blocks:.1} |");
    }
    println!();
}

/// Coverage of the interval of a change between two times.
fn changes(experiments: usize, random: &mut Rng) {
    println!("Coverage of 95 % intervals of a change, in percent; {experiments} experiments\n");
    println!("| old noise | new noise | 6, 6 runs | 10, 10 | 30, 30 | 6, 30 | 30, 6 |");
    let kinds = [
        (Noise::Normal, Noise::Normal),
        (Noise::Skewed, Noise::Skewed),
        (Noise::Exponential, Noise::Exponential),
        (Noise::Bimodal, Noise::Bimodal),
        (Noise::EvenModes, Noise::EvenModes),
        (Noise::Normal, Noise::Exponential),
        (Noise::Normal, Noise::Bimodal),
        (Noise::Normal, Noise::EvenModes),
    ];
    for (old, new) in kinds {
        print!("| {old:?} | {new:?} |");
        for (old_runs, new_runs) in [(6, 6), (10, 10), (30, 30), (6, 30), (30, 6)] {
            let held = change_coverage_percent(
                (old, old_runs),
                (new, new_runs),
                experiments,
                random,
                |old, new| change_estimate(old, new)?.interval,
            );
            print!(" {held:.1} |");
        }
        println!();
    }
    println!();
}
