//! The loads of a site: a folder for each, with its result, page and summary.

use anyhow::Context as _;
use std::{fs, path::Path};
use wirebench_experiment::experiment::ENVIRONMENT_FILE;
use wirebench_report::{
    Report as _,
    load::LOAD_FILE,
    site::{FORMAT, LoadSummary, load_summary},
};
use wirebench_server::digest;

use super::{Arguments, PAGE_FILE, SUMMARY_FILE, read, write, write_json};
use crate::results::loads;

/// Makes the folder of a load in the site, unless it is there. Its summary is written last.
pub(super) fn add(arguments: &Arguments, folder: &Path, all: &Path) -> anyhow::Result<()> {
    let text = loads::text(folder)?.with_context(|| format!("{LOAD_FILE} is not a load"))?;
    let id = digest::of_text(&text);
    let own = all.join(&id);
    if read::<LoadSummary>(&own.join(SUMMARY_FILE)).is_some_and(|it| it.format == FORMAT) {
        return Ok(());
    }
    let stored = loads::read(folder)?.with_context(|| format!("{LOAD_FILE} is not a load"))?;
    write(&own.join(LOAD_FILE), &arguments.shared(&text))?;
    if let Ok(environment) = fs::read_to_string(folder.join(ENVIRONMENT_FILE)) {
        write(&own.join(ENVIRONMENT_FILE), &arguments.shared(&environment))?;
    }
    write(&own.join(PAGE_FILE), &arguments.shared(&stored.load(None).html()))?;
    let summary = load_summary(&id, &stored.result, stored.environment.as_ref());
    write_json(&own.join(SUMMARY_FILE), &summary)
}

/// All loads of the site in the order of their start; none without a folder of them.
pub(super) fn stored(all: &Path) -> anyhow::Result<Vec<LoadSummary>> {
    let mut found = Vec::new();
    if all.is_dir() {
        for entry in fs::read_dir(all)? {
            found.extend(read::<LoadSummary>(&entry?.path().join(SUMMARY_FILE)));
        }
    }
    found.retain(|it| it.format == FORMAT);
    found.sort_by(|one, other| (&one.started, &one.id).cmp(&(&other.started, &other.id)));
    Ok(found)
}
