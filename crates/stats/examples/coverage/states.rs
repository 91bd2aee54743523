//! What the filter by state does on machines that change between states, and what happens without it.
//!
//! Not in this file: the experiments themselves; they are shared with the tests.

use crate::simulation::states::{Dwell, Machine, THREE_STATES, TWO_STATES};
use fastrand::Rng;

pub(crate) fn all(experiments: usize, random: &mut Rng) {
    println!(
        "Runs with 8 rows in which any interval misses the truth, pairs of runs in which a row has"
    );
    println!(
        "intervals without a common value, and runs with a result of one state, in percent; half"
    );
    println!(
        "widths of c/threads and node/http in percent of the ratio; {experiments} runs of each kind\n"
    );
    println!("|  | without the filter ||| with it |||||");
    print!("| states | miss | disjoint | c/threads, node/http ");
    println!("| miss | disjoint | usable | c/threads, node/http | cohorts |");
    let (two, three) = (TWO_STATES, THREE_STATES);
    let cases = [
        ("never changes", Dwell::Constant, two, 4),
        ("10 s each", Dwell::Mean(10.0), two, 4),
        ("60 s each", Dwell::Mean(60.0), two, 4),
        ("180 s each", Dwell::Mean(180.0), two, 4),
        ("600 s each", Dwell::Mean(600.0), two, 4),
        ("as seen", Dwell::Seen, two, 4),
        ("three, 10 s each", Dwell::Mean(10.0), three, 4),
        ("three, 60 s each", Dwell::Mean(60.0), three, 4),
        ("0.2 s each", Dwell::Mean(0.2), two, 4),
        ("8 cohorts, 10 s each", Dwell::Mean(10.0), two, 8),
        ("8 cohorts, as seen", Dwell::Seen, two, 8),
    ];
    for (name, dwell, states, cohorts) in cases {
        let [plain, filtered] = Machine { dwell, states, cohorts }.shown(experiments, random);
        let widths = |of: [f64; 2]| of.map(|it| format!("{it:.1}")).join(", ");
        println!(
            "| {name} | {:.1} | {:.1} | {} | {:.1} | {:.1} | {:.0} | {} | {:.1} |",
            plain.misses,
            plain.disjoint,
            widths(plain.half_widths),
            filtered.misses,
            filtered.disjoint,
            filtered.usable,
            widths(filtered.half_widths),
            filtered.cohorts,
        );
    }
}
