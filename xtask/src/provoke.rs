//! `cargo xtask provoke`: causes the faults of runs, as the tests do, and prints the text that reports
//! each. It measures nothing.

use anyhow::{Context, ensure};
use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use crate::step::{at_root, cargo};

/// Runs the tests of `crates/cli/tests/provoke`, and prints their rows as a table and the faults that were skipped.
pub(crate) fn run() -> anyhow::Result<()> {
    let arguments = ["test", "-p", "wirebench", "--test", "provoke", "--locked"];
    let mut test = at_root(cargo(), arguments);
    let mut child = test.stdout(Stdio::piped()).spawn().context("cargo cannot be run")?;
    println!("| what was done | kind | weight | sentence |\n|---|---|---|---|");
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
    Ok(())
}
