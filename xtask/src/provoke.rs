//! `cargo xtask provoke`: causes the faults of runs, as the tests do, and prints the text that reports
//! each. It measures nothing.

use anyhow::{Context, ensure};
use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use crate::step::{at_root, cargo, step};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Record the evidence that the tests of `judge` replay, on a machine without other load
    #[arg(long)]
    record: bool,
}

/// Runs all tests of `crates/cli/tests/provoke`, and prints their rows as a table and the faults that were skipped.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let words = ["test", "-p", "wirebench", "--test", "provoke", "--locked", "--"];
    let mut test = at_root(cargo(), words);
    test.arg("--include-ignored").args(arguments.record.then_some("--record"));
    let mut child = test.stdout(Stdio::piped()).spawn().context("cargo cannot be run")?;
    println!("| fault | server | kind | weight | sentence |\n|---|---|---|---|---|");
    let (mut skipped, mut rest) = (String::new(), String::new());
    for line in BufReader::new(child.stdout.take().context("a pipe is missing")?).lines() {
        let line = line?;
        // The text that a test prints follows its name.
        match line.split_once("... ").map_or(&*line, |it| it.1) {
            row if row.starts_with("| ") => println!("{row}"),
            text if text.starts_with("left out: ") => skipped += &format!("{text}\n"),
            _ => rest += &format!("{line}\n"),
        }
    }
    print!("{skipped}");
    let status = child.wait()?;
    ensure!(status.success(), "some faults were not reported: {status}\n{rest}");
    if arguments.record {
        // The judgements of the new evidence are reviewed with it.
        let test = ["test", "-p", "wirebench-judge", "--test", "evidence", "--locked", "--quiet"];
        step("judgements", &[&[cargo()], &test[..]].concat(), &[("UPDATE_EXPECT", "1")])?;
    }
    Ok(())
}
