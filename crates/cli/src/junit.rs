//! The file of `--junit`. What is in it is made by the crate `report`.

use anyhow::Context as _;
use std::{fs, path::Path};
use wirebench_report::{
    compare::Gate,
    junit::{self, Case},
};

/// Writes `cases` into `file`, if one was named.
pub(crate) fn write(file: Option<&Path>, verb: &str, cases: &[Case]) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    fs::write(file, junit::text(&format!("wirebench {verb}"), cases))
        .with_context(|| format!("cannot write the file of --junit, {}", file.display()))
}

/// Writes the result of the conditions into `file`, if one was named.
pub(crate) fn write_gate(
    file: Option<&Path>,
    verb: &str,
    gate: Option<&Gate>,
) -> anyhow::Result<()> {
    write(file, verb, &gate.map_or_else(Vec::new, junit::of_gate))
}
