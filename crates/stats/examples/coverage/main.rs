//! Measures with simulated noise how often the intervals hold, how often the verdicts are wrong
//! although nothing differs, and what differences are found.
//!
//! `cargo run --release -p wirebench-stats --example coverage [PART] [EXPERIMENTS]`, where the parts
//! are `cohorts`, `changes`, `states` and `looks`; all of them without one. The tables in
//! `docs/methodology.md` come from the default number of experiments. Not in this file: what is good
//! enough; the tests say that.

mod changes;
mod cohorts;
mod looks;
#[path = "../../tests/simulation/mod.rs"]
mod simulation;
mod states;

use fastrand::Rng;
use std::{fmt::Display, process::ExitCode};

const SEED: u64 = 20_260_917;
const EXPERIMENTS: usize = 4_000;
/// The rarest experiments are a twentieth of the number given.
const FEWEST: usize = 20;
const PARTS: [&str; 4] = ["cohorts", "changes", "states", "looks"];

/// Prints a line of a table.
fn line(name: impl Display, figures: &[String]) {
    println!("| {name} | {} |", figures.join(" | "));
}

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
            "changes" => changes::all(experiments / 10, &mut random()),
            "looks" => looks::all(experiments / 2, &mut random()),
            _ => states::all(experiments / 4, &mut random()),
        }
    }
    ExitCode::SUCCESS
}
