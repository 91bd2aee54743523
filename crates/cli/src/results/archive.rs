//! `report --archive`: a copy of a result that may be shared and kept. It has the journal or the load without names
//! and folders, compressed, and the machine. All verbs that read a result read it.

use anyhow::Context as _;
use serde_json::Value;
use std::{fs, io, path::Path};
use wirebench_experiment::{
    experiment::ENVIRONMENT_FILE,
    journal::{self, ARCHIVE_FILE},
};
use wirebench_schema::secrets;

use crate::{
    exit::usage,
    out,
    results::{loads, stored},
};

/// Distributions that judge a measurement when it is made. No report needs them, and they are half of a
/// journal.
const SKIPPED: [&str; 2] = ["lag", "service"];

/// Writes the copy of a result to `target`, which must not have one. `shared` takes out what must not be shared.
pub(crate) fn write(
    result: &Path,
    target: &Path,
    shared: impl Fn(&str) -> String,
) -> anyhow::Result<()> {
    let folder = stored::folder(result);
    let (name, text) = match loads::text(result)? {
        // A load is judged by all of its distributions when it is shown.
        Some(text) => (loads::ARCHIVE_FILE, text),
        None => {
            journal::read(result).map_err(usage)?;
            let (_, text) = journal::text(result).map_err(usage)?;
            let text = out::hide(text, |it| secrets::hidden_json(&it));
            let lines = text.lines().map(smaller).collect::<Result<Vec<_>, _>>()?;
            (ARCHIVE_FILE, lines.join("\n") + "\n")
        }
    };
    journal::environment(folder).map_err(usage)?;
    let failed = || format!("cannot write the archive in {}", target.display());
    fs::create_dir_all(target).with_context(failed)?;
    journal::archive(&target.join(name), &shared(&text)).with_context(failed)?;
    match fs::read_to_string(folder.join(ENVIRONMENT_FILE)) {
        Ok(text) => fs::write(target.join(ENVIRONMENT_FILE), shared(&text)).with_context(failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).context(ENVIRONMENT_FILE),
    }
}

/// A record without what no report needs.
fn smaller(line: &str) -> serde_json::Result<String> {
    let mut record: Value = serde_json::from_str(line)?;
    if let Some(load) = record.pointer_mut("/outcome/measured/load").and_then(Value::as_object_mut)
    {
        SKIPPED.iter().for_each(|name| {
            load.remove(*name);
        });
    }
    serde_json::to_string(&record)
}
