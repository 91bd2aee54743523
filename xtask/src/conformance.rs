//! The conformance step: every check of every entry, and a repetition of each failure.
//!
//! A check that fails twice alone is a failure. One that fails once among thousands, while several
//! servers are checked in parallel on a busy machine, is reported and repeated alone: a rare fault
//! of a framework must not block an unrelated change. `wirebench verify` still shows each failure
//! to its user.

use anyhow::{Context, bail};
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::Instant,
};

use crate::step::{root, step};

/// Servers that are checked in parallel. Most checks wait, so that more than the default of four are quicker.
const JOBS: &str = "8";

/// Checks all that is ready; with `strict` also that nothing is missing which setup brings.
pub(crate) fn run(program: &str, strict: &[&str]) -> anyhow::Result<()> {
    let argv = [&["verify", "--quiet", "-j", JOBS], strict].concat();
    println!("\n== conformance\n$ {program} {}", argv.join(" "));
    let began = Instant::now();
    let mut child = Command::new(program)
        .args(&argv)
        .current_dir(root())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{program}` cannot be run"))?;
    let stdout = child.stdout.take().context("the output of `verify` is not to be had")?;
    let mut failed = BTreeSet::new();
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        println!("{line}");
        failed.extend(failed_variant(&line).map(str::to_owned));
    }
    let status = child.wait()?;
    println!("== conformance: {:.0} s", began.elapsed().as_secs_f64());
    if status.success() {
        return Ok(());
    }
    if failed.is_empty() || status.code() != Some(1) {
        bail!("conformance: `{program} {}` ended with {status}", argv.join(" "));
    }
    let names: Vec<&str> = failed.iter().map(String::as_str).collect();
    let again = [&[program, "verify", "--quiet", "-j", "1"], &names[..]].concat();
    step("conformance, a second look at what failed", &again, &[])
}

/// The variant that a line of `verify` says has failed a check.
fn failed_variant(line: &str) -> Option<&str> {
    line.strip_prefix("FAIL ")?.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::failed_variant;

    #[test]
    fn only_failures_are_looked_at_again() {
        let line = "FAIL  rust/actix:web hello slow-reader: nothing came";
        assert_eq!(failed_variant(line), Some("rust/actix:web"));
        assert_eq!(failed_variant("KNOWN d/arsd:hybrid hello pipelined: by design"), None);
        assert_eq!(failed_variant("2 passed, 0 failed, 0 skipped"), None);
    }
}
