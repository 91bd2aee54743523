//! When flat series are called steady, and whether drifting ones ever are.
//!
//! Not here: real series; see the journals of runs for those.

use crate::simulation::{Series, first_steady};
use fastrand::Rng;

pub(crate) fn all(experiments: usize, random: &mut Rng) {
    println!("\nSeries called steady by N values, in percent; {experiments} of each kind\n");
    println!("| series | noise in % | 8 | 10 | 12 | 16 | 24 | 40 | 60 |");
    let series = [
        Series::Flat,
        Series::Linear(0.01),
        Series::Linear(0.03),
        Series::Linear(0.05),
        Series::Linear(0.10),
        Series::Decay,
    ];
    for series in series {
        for noise in [0.003, 0.01, 0.02, 0.05, 0.10] {
            let found: Vec<usize> = (0..experiments)
                .filter_map(|_| first_steady(&series.values(60, noise, random)))
                .collect();
            print!("| {series:?} | {:.1} |", noise * 100.0);
            for count in [8, 10, 12, 16, 24, 40, 60] {
                let by = found.iter().filter(|first| **first <= count).count();
                print!(" {:.1} |", 100.0 * by as f64 / experiments as f64);
            }
            println!();
        }
    }
}
