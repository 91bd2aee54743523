//! `cargo xtask provoke`: causes the faults of runs, as the tests do, and prints the text that reports
//! each. It measures nothing.

use anyhow::{Context, bail};
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use crate::step::{cargo, root};

/// Runs the tests of `crates/cli/tests/provoke`, and prints their rows as a table.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut child = Command::new(cargo())
        .args(["test", "-p", "wirebench", "--test", "provoke", "--locked"])
        .current_dir(root())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{}` cannot be run", cargo()))?;
    let stdout = child.stdout.take().context("a pipe is missing")?;
    println!("| what was done | kind | weight | sentence |\n|---|---|---|---|");
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
    if !status.success() {
        bail!("some faults were not told: {status}\n{}", rest.join("\n"));
    }
    Ok(())
}
