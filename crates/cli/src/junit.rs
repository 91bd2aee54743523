//! The file of `--junit`. What is in it is made by the crate `report`.

use anyhow::Context as _;
use std::{
    fs::{self, OpenOptions},
    path::Path,
};
use wirebench_report::junit::{self, Case};
use wirebench_schema::secrets::hidden_text;

use crate::{exit::usage, out};

/// Creates `file`, if one was named, without losing what it holds.
pub(crate) fn create(file: Option<&Path>) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened.map(drop).map_err(|error| {
        usage(format!(
            "--junit `{}` cannot be written ({error}): give another file",
            file.display()
        ))
    })
}

/// Writes `cases` into `file`, if one was named.
pub(crate) fn write(file: Option<&Path>, verb: &str, cases: &[Case]) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    let text = junit::text(&format!("wirebench {verb}"), cases);
    fs::write(file, out::hide(text, |it| hidden_text(&it)))
        .with_context(|| format!("cannot write the file of --junit, {}", file.display()))
}
