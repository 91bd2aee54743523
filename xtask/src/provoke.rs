//! `cargo xtask provoke`: causes the faults of runs, as the tests do, and prints the text that reports
//! each. It measures nothing.

use anyhow::{Context, ensure};
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use crate::step::{cargo, root};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Record the evidence that the tests of `judge` replay, on a machine without other load
    #[arg(long)]
    record: bool,
}

/// Runs all tests of `crates/cli/tests/provoke`, and prints their rows as a table.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut command = Command::new(cargo());
    command.args(["test", "-p", "wirebench", "--test", "provoke", "--locked", "--"]);
    command.arg("--include-ignored").args(arguments.record.then_some("--record"));
    let mut child = command
        .current_dir(root())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{}` cannot be run", cargo()))?;
    let stdout = child.stdout.take().context("a pipe is missing")?;
    println!("| fault | server | kind | weight | sentence |\n|---|---|---|---|---|");
    let (mut left_out, mut rest) = (Vec::new(), Vec::new());
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        // What a test prints begins behind its name.
        let said = line.split_once("... ").map_or(line.as_str(), |(_, said)| said);
        if said.starts_with("| ") {
            println!("{said}");
        } else if said.starts_with("left out: ") {
            left_out.push(said.to_owned());
        } else {
            rest.push(line);
        }
    }
    left_out.iter().for_each(|line| println!("{line}"));
    let status = child.wait()?;
    ensure!(status.success(), "some faults were not reported: {status}\n{}", rest.join("\n"));
    if arguments.record {
        update_expected()?;
    }
    Ok(())
}

/// Writes the judgements of the new evidence, which are reviewed with it.
fn update_expected() -> anyhow::Result<()> {
    let mut command = Command::new(cargo());
    command.args(["test", "-p", "wirebench-judge", "--test", "evidence", "--locked", "--quiet"]);
    let status = command.env("UPDATE_EXPECT", "1").current_dir(root()).status()?;
    ensure!(status.success(), "the recorded evidence is not what was provoked: {status}");
    Ok(())
}
