//! How often changes between two results are found where there are none, and where there are some.
//!
//! Not in this file: the experiments themselves; they are shared with the tests.

use crate::line;
use crate::simulation::cohorts::{Basis, Load, Shape, is_different, is_same};
use fastrand::Rng;

const COHORTS: [usize; 4] = [3, 4, 6, 10];

pub(crate) fn all(experiments: usize, random: &mut Rng) {
    false_changes(experiments, random);
    power(experiments, random);
}

fn false_changes(experiments: usize, random: &mut Rng) {
    println!(
        "Two equal results with any row called changed, in percent, margin 0; {experiments} pairs"
    );
    println!("of each kind; for 1, 8 and 20 rows\n");
    println!("| changes of | noise | 3 | 4 | 6 | 10 |");
    for basis in Basis::ALL {
        let mut pairs = |name: &str, old: Load, new: Load| {
            let wrong = COHORTS.map(|cohorts| {
                let of = |rows| {
                    let fewer = if old.cohorts > 0 { old.cohorts } else { cohorts };
                    let old = Load { rows, cohorts: fewer, ..old };
                    let new = Load { rows, cohorts, ..new };
                    format!("{:.1}", new.any_changed(&old, basis, experiments, random))
                };
                [1, 8, 20].map(of).join(", ")
            });
            line(format_args!("{basis:?} | {name}"), &wrong);
        };
        for shape in Shape::ALL {
            let load = Load::of_equals(0, 0, shape);
            pairs(&format!("{shape:?}"), load, load);
        }
        let usual = Load::of_equals(0, 0, Shape::Normal);
        let one: &[f64] = &[1.0, 1.0, 1.0, 1.0, 10.0, 1.0, 1.0, 1.0];
        for loudness in [&[0.3, 1.0, 3.0, 10.0] as &[f64], &[10.0], one] {
            let load = Load { loudness, ..usual };
            pairs(&format!("rows {loudness:?} times the baseline"), load, load);
        }
        let loud = Load { loudness: &[5.0], ..usual };
        pairs("newer rows 5 times as noisy", usual, loud);
        pairs("one older row 10 times as noisy", Load { loudness: one, ..usual }, usual);
        pairs(
            "3 older cohorts, one row 10 times as noisy",
            Load { cohorts: 3, loudness: one, ..usual },
            usual,
        );
        pairs("3 older cohorts, rows 5 times as noisy", Load { cohorts: 3, ..loud }, usual);
    }
}

fn power(experiments: usize, random: &mut Rng) {
    println!(
        "\nA row that changed is called changed, in percent, and one that did not is called the"
    );
    println!(
        "same; margin 3 %; the last column: one that changed by the margin is called the same\n"
    );
    println!("| changes of | cohorts | rows | 2 % | 3 % | 5 % | 10 % | same | same at 3 % |");
    for basis in Basis::ALL {
        for cohorts in COHORTS {
            for rows in [1, 8, 20] {
                print!("| {basis:?} | {cohorts} | {rows} |");
                let mut share = |first_row: f64, wanted| {
                    let load = Load { first_row, ..Load::of_equals(rows, cohorts, Shape::Normal) };
                    load.first_change_is(wanted, (basis, 0.03), experiments, random)
                };
                for first_row in [1.02, 1.03, 1.05, 1.10] {
                    print!(" {:.0} |", share(first_row, is_different));
                }
                println!(" {:.1} | {:.1} |", share(1.0, is_same), share(1.03, is_same));
            }
        }
    }
}
