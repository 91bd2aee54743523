//! Errors and lengths of comparisons that end when the answer is known.
//!
//! Not in this file: the experiments themselves; they are shared with the tests.

use crate::simulation::looks::{COHORTS, SequentialRun};
use fastrand::Rng;
use wirebench_stats::PlannedLoad;

const ROWS: [usize; 4] = [0, 1, 2, 8];
const DEVIATIONS: [f64; 5] = [0.002, 0.004, 0.008, 0.015, 0.03];

pub(crate) fn all(experiments: usize, random: &mut Rng) {
    errors(experiments, random);
    power(experiments / 4, random);
    detectable(experiments / 2, random);
}

fn errors(experiments: usize, random: &mut Rng) {
    println!("Wrong at any of the looks after {COHORTS:?} cohorts, in percent;");
    println!(
        "{experiments} runs. Different: any of equal rows, margin 0. Same: a row at the margin"
    );
    println!("of 1 %, by the deviation of a cohort; a margin of 0.5 % has the errors of twice the");
    println!("deviation. Rows 0 are two programs with two instances each\n");
    println!("| rows | correlation | different | same, 0.2 % | 0.4 % | 0.8 % | 1.5 % | 3 % |");
    println!("|---|---|---|---|---|---|---|---|");
    for rows in ROWS {
        for correlation in [0.0, 0.2, 0.4] {
            let equal = SequentialRun { rows, correlation, ..SequentialRun::TWO_PROGRAMS };
            print!("| {rows} | {correlation} | {:.1} |", equal.any_different(experiments, random));
            for deviation in DEVIATIONS {
                let margin = 0.01;
                let at_margin = SequentialRun { deviation, truth: margin, margin, ..equal };
                print!(" {:.1} |", at_margin.any_same(experiments, random));
            }
            println!();
        }
    }
}

fn power(experiments: usize, random: &mut Rng) {
    println!(
        "\nThe first row is called different and the same, in percent, and cohorts by then, on"
    );
    println!("average; margin 1 %, by the deviation of a cohort; {experiments} runs\n");
    println!("| rows | correlation | true difference | 0.2 % | 0.4 % | 0.8 % | 1.5 % |");
    println!("|---|---|---|---|---|---|---|");
    for (rows, correlation) in [(0, 0.0), (1, 0.0), (2, 0.0), (8, 0.0), (0, 0.4)] {
        for truth in [0.0, 0.01, 0.02, 0.05, 0.1] {
            print!("| {rows} | {correlation} | {} % |", truth * 100.0);
            for deviation in &DEVIATIONS[..4] {
                let run =
                    SequentialRun { rows, deviation: *deviation, correlation, truth, margin: 0.01 };
                let [different, same, cohorts] = run.decided(experiments, random);
                print!(" {different:.0}, {same:.0}; {cohorts:.1} |");
            }
            println!();
        }
    }
}

fn detectable(experiments: usize, random: &mut Rng) {
    println!(
        "\nThe detectable difference of 16 cohorts, margin 0, and how often a run finds it, in"
    );
    println!("percent\n");
    println!("| rows | deviation | detectable | correlation 0 | 0.2 | 0.4 |");
    println!("|---|---|---|---|---|---|");
    for (rows, instances, share) in [(0, [2, 2], 1.0), (1, [1, 2], 1.0 / 1.5)] {
        for deviation in [0.004_f64, 0.008] {
            let (cohorts, visits) = (COHORTS[7], 1);
            let [visit_variance, instance_variance] = [0.0, deviation.powi(2) * share];
            let plan =
                PlannedLoad { cohorts, visits, visit_variance, instance_variance, instances };
            let run = SequentialRun { rows, deviation, ..SequentialRun::TWO_PROGRAMS };
            let truth = run.bounds()[7].detectable(&plan.contrast(), 0.0);
            print!("| {rows} | {} % | {:.2} % |", deviation * 100.0, truth * 100.0);
            for correlation in [0.0, 0.2, 0.4] {
                let run = SequentialRun { correlation, truth, ..run };
                print!(" {:.0} |", run.decided(experiments, random)[0]);
            }
            println!();
        }
    }
}
