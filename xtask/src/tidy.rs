//! `cargo xtask tidy`: rules that no compiler checks, and `cargo xtask lines`, some of the counts that it limits.

mod counts;
mod cycles;
mod limits;
mod rules;
mod sources;
#[cfg(test)]
mod tests;

use anyhow::ensure;
use std::collections::BTreeMap;

use crate::step::root;
use counts::flat;
use limits::{CRATES, OTHERS};

/// Checks the project and lists every complaint.
pub(crate) fn run() -> anyhow::Result<()> {
    let sources = sources::read(root())?;
    let (cycles, mut complaints) = cycles::find(&sources);
    let crates = counts::of_crates(&sources, &cycles);
    let (others, _) = counts::of_workspace(&sources);
    complaints.extend(counts::complaints(flat(&crates, &others), flat(CRATES, OTHERS)));
    complaints.extend(rules::complaints(&sources));
    println!("\n== tidy: {} complaints", complaints.len());
    for line in &complaints {
        println!("{line}");
    }
    ensure!(complaints.is_empty(), "tidy: {} complaints", complaints.len());
    Ok(())
}

/// Prints the counts of today as the rows of the tables in `limits.rs`, and what cycles and doubled names consist of.
pub(crate) fn print_counts() -> anyhow::Result<()> {
    let sources = sources::read(root())?;
    let (cycles, _) = cycles::find(&sources);
    let (others, names) = counts::of_workspace(&sources);
    for row in counts::of_crates(&sources, &cycles) {
        println!("    {row:?},");
    }
    for row in others {
        println!("    {row:?},");
    }
    for (name, cycles) in cycles {
        println!("cycles of {name}: {}", cycles.join("; "));
    }
    println!("{}", names.join("\n"));
    Ok(())
}

/// Prints the lines of code, tests and golden files of each crate.
pub(crate) fn print_lines() -> anyhow::Result<()> {
    let sources = sources::read(root())?;
    let crates = counts::of_crates(&sources, &BTreeMap::new());
    let all = ("all", std::array::from_fn(|column| crates.iter().map(|it| it.1[column]).sum()));
    println!(
        "| crate      |   code |  tests | golden |\n|------------|--------|--------|--------|"
    );
    for (name, [code, tests, golden, ..]) in crates.iter().chain([&all]) {
        println!("| {name:<10} | {code:>6} | {tests:>6} | {golden:>6} |");
    }
    Ok(())
}
