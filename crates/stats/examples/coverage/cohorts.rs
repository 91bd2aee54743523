//! What the rules for cohorts find, and how often they err.
//!
//! Not in this file: the experiments themselves; they are shared with the tests.

use crate::line;
use crate::simulation::cohorts::{Load, Shape, is_different, is_same};
use crate::simulation::percent_of;
use fastrand::Rng;

const COHORTS: [usize; 4] = [3, 4, 6, 10];
const ROWS: [usize; 5] = [1, 5, 8, 20, 50];
const LOUDNESS: &[f64] = &[0.3, 1.0, 3.0, 10.0];

pub(crate) fn all(experiments: usize, random: &mut Rng) {
    println!("Loads of equal rows in which any row is called different, in percent, margin 0;");
    println!("{experiments} loads of each kind (of 50 rows a quarter of that), by cohorts\n");
    println!("| noise | rows | 3 | 4 | 6 | 10 |");
    let usual = Load::of_equals(0, 0, Shape::Normal);
    let one: &[f64] = &[1.0, 1.0, 1.0, 1.0, 10.0, 1.0, 1.0, 1.0];
    let others = [Shape::Skewed, Shape::HeavyTailed, Shape::TwoModes];
    let kinds = [
        Shape::ALL.map(|shape| (format!("{shape:?}"), Load::of_equals(0, 0, shape))).to_vec(),
        vec![
            ("rows 0.3 to 10 times the baseline".to_owned(), Load { loudness: LOUDNESS, ..usual }),
            ("rows 10 times the baseline".to_owned(), Load { loudness: &[10.0], ..usual }),
            ("one row of eight 10 times as noisy".to_owned(), Load { loudness: one, ..usual }),
        ],
        others
            .map(|shape| (format!("{shape:?}, normal baseline"), Load { shape, ..usual }))
            .to_vec(),
        vec![("normal, a tenth of the cells missing".to_owned(), Load { missing: 0.1, ..usual })],
    ];
    for (name, load) in kinds.concat() {
        for rows in ROWS {
            let experiments = if rows == 50 { experiments / 4 } else { experiments };
            let wrong = COHORTS.map(|cohorts| {
                let load = Load { rows, cohorts, ..load };
                format!("{:.1}", load.any_different(0.0, experiments, random))
            });
            line(format_args!("{name} | {rows}"), &wrong);
        }
    }
    groups(experiments, random);
    power(experiments, random);
    same(experiments, random);
    check(experiments, random);
    sides(experiments * 5, random);
    few(experiments * 5, random);
}

/// One or two rows that are noisier than the baseline: little contradicts the baseline's noise there.
fn few(experiments: usize, random: &mut Rng) {
    println!("\nLoads of 1 and 2 equal rows, noisier than the baseline, in which any is called");
    println!("different, in percent, margin 0; {experiments} loads of each kind\n");
    println!("| noise | 3 | 4 | 6 | 10 |");
    for loudness in [&[2.0] as &[f64], &[3.0]] {
        for (shape, baseline) in Shape::ALL
            .map(|shape| (shape, shape))
            .into_iter()
            .chain([(Shape::Skewed, Shape::Normal), (Shape::TwoModes, Shape::Normal)])
        {
            let wrong = COHORTS.map(|cohorts| {
                let wrong = [1, 2].map(|rows| {
                    let load = Load { loudness, baseline, ..Load::of_equals(rows, cohorts, shape) };
                    format!("{:.1}", load.any_different(0.0, experiments, random))
                });
                wrong.join(", ")
            });
            line(format_args!("{shape:?}, {} times a {baseline:?} baseline", loudness[0]), &wrong);
        }
    }
}

fn groups(experiments: usize, random: &mut Rng) {
    println!("\nEqual rows have any different ranks, in percent, margin 0\n");
    println!("| noise | rows | 3 | 4 | 6 | 10 |");
    for shape in Shape::ALL {
        for rows in [5, 8, 20] {
            let wrong = COHORTS.map(|cohorts| {
                let load = Load::of_equals(rows, cohorts, shape);
                format!("{:.1}", percent_of(experiments, || load.ranks_distinguish(random)))
            });
            line(format_args!("{shape:?} | {rows}"), &wrong);
        }
    }
}

fn power(experiments: usize, random: &mut Rng) {
    println!("\nA row that differs is called different, in percent, margin 3 %; half width of its");
    println!("interval in percent\n");
    println!("| cohorts | rows | 1 % | 2 % | 3 % | 5 % | 10 % | half width |");
    for cohorts in COHORTS {
        for rows in [1, 8, 20] {
            print!("| {cohorts} | {rows} |");
            let load = Load::of_equals(rows, cohorts, Shape::Normal);
            for first_row in [1.01, 1.02, 1.03, 1.05, 1.10] {
                let load = Load { first_row, ..load };
                print!(" {:.0} |", load.first_is(is_different, 0.03, experiments, random));
            }
            println!(" {:.1} |", load.half_width(experiments, random));
        }
    }
}

fn same(experiments: usize, random: &mut Rng) {
    println!("\nA row is called the same, in percent, by its true difference\n");
    println!("| cohorts | rows | margin | 0 | 1 % | the margin |");
    for margin in [0.03, 0.05] {
        for cohorts in COHORTS {
            for rows in [1, 8, 20] {
                let same = [1.0, 1.01, 1.0 + margin].map(|first_row| {
                    let load = Load { first_row, ..Load::of_equals(rows, cohorts, Shape::Normal) };
                    format!("{:.1}", load.first_is(is_same, margin, experiments, random))
                });
                line(format_args!("{cohorts} | {rows} | {:.0} %", margin * 100.0), &same);
            }
        }
    }
    println!("\nThe same at the margin of 3 %, with other noise\n");
    println!("| noise | rows | 3 | 4 | 6 | 10 |");
    let usual = Load::of_equals(0, 0, Shape::Normal);
    let louder = [&[0.3] as &[f64], &[3.0], &[0.3, 1.0, 3.0, 10.0], &[3.0, 1.0]].map(|loudness| {
        (format!("rows {loudness:?} times the baseline"), Load { loudness, ..usual })
    });
    let shapes = Shape::ALL.map(|shape| (format!("{shape:?}"), Load::of_equals(0, 0, shape)));
    for rows in [1, 8] {
        for (name, load) in shapes.iter().chain(&louder) {
            let same = COHORTS.map(|cohorts| {
                let load = Load { rows, cohorts, first_row: 1.03, ..*load };
                format!("{:.1}", load.first_is(is_same, 0.03, experiments, random))
            });
            line(format_args!("{name} | {rows}"), &same);
        }
    }
}

fn check(experiments: usize, random: &mut Rng) {
    println!("\nThe check of the baseline is suspicious, in percent, by the true difference of");
    println!("its two instances; 8 rows, margin 3 %; the last column: equal instances, margin 0\n");
    println!("| noise | cohorts | 0 | 3 % | 5 % | 7 % | 10 % | 0, margin 0 |");
    for shape in Shape::ALL {
        for cohorts in COHORTS {
            print!("| {shape:?} | {cohorts} |");
            let load = Load::of_equals(8, cohorts, shape);
            for second_instance in [1.0, 1.03, 1.05, 1.07, 1.10] {
                let load = Load { second_instance, ..load };
                print!(" {:.1} |", percent_of(experiments, || load.checked(0.03, random).differ));
            }
            println!(" {:.1} |", percent_of(experiments, || load.checked(0.0, random).differ));
        }
    }
}

/// Instances of each program in a cohort, and cohorts.
const PLANS: [(usize, usize); 7] = [(2, 3), (2, 4), (2, 7), (2, 16), (1, 3), (1, 6), (1, 14)];

/// Two programs, as `ab` compares them.
fn sides(experiments: usize, random: &mut Rng) {
    println!(
        "\nTwo equal programs are called different, in percent, margin 0; by cohorts with two"
    );
    println!("instances of each, and by blocks with one\n");
    println!("| noise | 3 | 4 | 7 | 16 | 3 blocks | 6 | 14 |");
    for shape in Shape::ALL {
        for loudness in [&[1.0] as &[f64], &[2.0], &[4.0]] {
            let wrong = PLANS.map(|(instances, cohorts)| {
                let load = Load { loudness, ..Load::of_equals(2, cohorts, shape) };
                let mut judged = || load.judged_sides(instances, 0.0, random).outcome;
                format!("{:.1}", percent_of(experiments, || is_different(judged())))
            });
            line(format_args!("{shape:?}, one {} times as noisy", loudness[0]), &wrong);
        }
    }
    println!(
        "\nTwo programs with two instances each are called different by their difference, and the"
    );
    println!("same without one, in percent, margin 1 %; half width of the interval in percent\n");
    println!("| cohorts | 1 % | 2 % | 3 % | 5 % | same | half width |");
    for cohorts in [3, 4, 7, 16] {
        print!("| {cohorts} |");
        let load = Load::of_equals(2, cohorts, Shape::Normal);
        for first_row in [1.01, 1.02, 1.03, 1.05] {
            let load = Load { first_row, ..load };
            let mut judged = || load.judged_sides(2, 0.01, random).outcome;
            print!(" {:.0} |", percent_of(experiments, || is_different(judged())));
        }
        let mut judged = || load.judged_sides(2, 0.01, random);
        print!(" {:.0} |", percent_of(experiments, || is_same(judged().outcome)));
        let width = |_| judged().interval.map_or(0.0, |it| it.width()) * 50.0;
        println!(" {:.2} |", (0..experiments).map(width).sum::<f64>() / experiments as f64);
    }
}
