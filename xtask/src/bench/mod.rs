//! Code shared by the benchmarks of the load generator: two CPUs, programs, and processes bound to
//! them.
//!
//! The benchmarks examine `wirebench load` itself; they measure no entry.

pub(crate) mod gaps;
mod machine;
mod neighbours;
mod process;
mod wirebench;

pub(crate) use machine::Sides;
pub(crate) use neighbours::Neighbours;
pub(crate) use process::{Server, finish};
pub(crate) use wirebench::{LATENCY_PERCENTILES, LoadResult, below, histogram, parse_load};

/// What a run gave, or why `wirebench load` would not make it.
pub(crate) type Attempt<T> = Result<T, String>;

use anyhow::Context;
use std::path::PathBuf;

use crate::step::{built, step};

/// Builds these packages as they are released, and returns the folder of the programs.
pub(crate) fn build(packages: &[&str]) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut argv = vec![cargo.as_str(), "build", "--release", "--locked"];
    argv.extend(packages.iter().flat_map(|package| ["-p", package]));
    step("build", &argv, &[])?;
    let program = built("wirebench")?;
    Ok(program.parent().context("a program lies in a folder")?.to_owned())
}
