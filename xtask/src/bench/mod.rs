//! Code shared by the benchmarks of the load generator: two CPUs, programs, and processes bound to
//! them.
//!
//! The benchmarks examine `wirebench load` itself; they measure no entry.

mod machine;
mod process;

pub(crate) use machine::Sides;
pub(crate) use process::{Server, finish};

use anyhow::Context;
use std::path::PathBuf;
use wirebench_host::neighbours::Programs;
use wirebench_schema::load::LoadReport;

use crate::step::{built, cargo, step};

/// Parses the whole output of `wirebench load --json`, or returns an error that shows it.
pub(crate) fn parse_load(output: &str) -> anyhow::Result<LoadReport> {
    serde_json::from_str(output)
        .with_context(|| format!("`wirebench load --json` was not understood:\n{output}"))
}

/// Builds these packages as they are released, and returns the folder of the programs.
pub(crate) fn build(packages: &[&str]) -> anyhow::Result<PathBuf> {
    let mut argv = vec![cargo(), "build", "--release", "--locked"];
    argv.extend(packages.iter().flat_map(|package| ["-p", package]));
    step("build", &argv, &[])?;
    let program = built("wirebench")?;
    Ok(program.parent().context("a program lies in a folder")?.to_owned())
}

/// The programs that ran beside the bench since `before`, if they used enough of its CPUs to report.
pub(crate) fn complaint(before: &Programs, sides: &Sides) -> Option<String> {
    /// Share of a CPU.
    const NOTICED: f64 = 0.05;
    let cpus = [&sides.server_cpus[..], &sides.generator_cpus].concat();
    let mut seen = Programs::read().since(before, &cpus);
    seen.retain(|it| it.share > NOTICED);
    let names: Vec<String> =
        seen.iter().map(|it| format!("{} {:.0} %", it.name, it.share * 100.0)).collect();
    let text = || format!("{} of a CPU meanwhile: end them and measure again", names.join(", "));
    (!names.is_empty()).then(text)
}
