//! How often verdicts and ranks are wrong, and what they find.
//!
//! Not here: the experiments themselves; they are shared with the tests.

use crate::simulation::{NO_FLOOR, Noise, Suite, any_difference, percent_of};
use fastrand::Rng;
use wirebench_stats::{Floor, Verdict};

const BLOCKS: [u32; 3] = [6, 10, 30];
const LEAST_FLOOR: Floor = Floor { relative: 0.01, ..NO_FLOOR };

/// Families of equal rows in which any is called different.
pub(crate) fn false_differences(experiments: usize, random: &mut Rng) {
    println!("Experiments with any false difference, in percent; {experiments} of each kind;");
    println!("by blocks: judge, judge_changes; without a floor\n");
    for noise in Noise::ALL {
        for rows in [1, 5, 20, 50] {
            print!("| {noise:?} | {rows} |");
            for blocks in BLOCKS {
                let suite = Suite::of_equals(rows, blocks, noise);
                let judged =
                    percent_of(experiments, || any_difference(&suite.judged(&NO_FLOOR, random)));
                let changed = percent_of(experiments, || {
                    any_difference(&suite.judged_changes(&NO_FLOOR, random))
                });
                print!(" {judged:.1}, {changed:.1} |");
            }
            println!();
        }
    }
}

/// The same where the rows are not as noisy as the baseline, or in another way.
pub(crate) fn unequal_noise(experiments: usize, random: &mut Rng) {
    println!("\nThe same for judge, with rows as noisy as 0.3, 1, 3 and 10 times the baseline\n");
    for rows in [2, 5, 20, 50] {
        let suite =
            Suite { loudness: &[0.3, 1.0, 3.0, 10.0], ..Suite::of_equals(rows, 0, Noise::Normal) };
        centred_line(&suite, experiments, random);
    }
    println!("\nThe same for judge, with a normal baseline and rows of another noise\n");
    for noise in [Noise::Skewed, Noise::Exponential, Noise::Bimodal, Noise::EvenModes] {
        for rows in [1, 5, 20, 50] {
            let suite = Suite { baseline: Noise::Normal, ..Suite::of_equals(rows, 0, noise) };
            centred_line(&suite, experiments, random);
        }
    }
}

/// One line: false differences by number of blocks, where the rows' pseudo-median is the
/// baseline's.
fn centred_line(suite: &Suite, experiments: usize, random: &mut Rng) {
    print!("| {:?} | {} |", suite.noise, suite.rows);
    for blocks in BLOCKS {
        let suite = Suite { blocks, ..*suite }.centred(random);
        let wrong = percent_of(experiments, || any_difference(&suite.judged(&NO_FLOOR, random)));
        print!(" {wrong:.1} |");
    }
    println!();
}

/// How often one row that differs among equal ones is found.
pub(crate) fn power(experiments: usize, random: &mut Rng) {
    println!("\nA row that differs is found, in percent: judge, judge_changes");
    println!("(1 % of noise in each run, so 1.4 % in each ratio; floor 1 %)\n");
    println!("| blocks | rows | 2 % | 3 % | 5 % | 7 % | 10 % |");
    for blocks in BLOCKS {
        for rows in [1, 5, 20, 50] {
            print!("| {blocks} | {rows} |");
            for first_row in [1.02, 1.03, 1.05, 1.07, 1.10] {
                let suite = Suite { first_row, ..Suite::of_equals(rows, blocks, Noise::Normal) };
                let found = percent_of(experiments, || {
                    suite.judged(&LEAST_FLOOR, random)[0].verdict == Verdict::Higher
                });
                let changed = percent_of(experiments, || {
                    suite.judged_changes(&LEAST_FLOOR, random)[0].verdict == Verdict::Higher
                });
                print!(" {found:.0}, {changed:.0} |");
            }
            println!();
        }
    }
}

/// Experiments in which equal rows get different ranks.
pub(crate) fn ranks(experiments: usize, random: &mut Rng) {
    println!("\nEqual rows have any different ranks, in percent; {experiments} experiments\n");
    for noise in Noise::ALL {
        for rows in [5, 20] {
            print!("| {noise:?} | {rows} |");
            for blocks in BLOCKS {
                let suite = Suite::of_equals(rows, blocks, noise);
                let wrong = percent_of(experiments, || suite.ranks_distinguish(&NO_FLOOR, random));
                print!(" {wrong:.1} |");
            }
            println!();
        }
    }
}
