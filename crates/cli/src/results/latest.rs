//! Results on the command line: a path, or `latest` for the newest one in the folder of results.

use clap::builder::{PathBufValueParser, TypedValueParser};
use jiff::civil::DateTime;
use std::path::{Path, PathBuf};
use wirebench_experiment::journal;

use crate::{args::project::ProjectOption, results::loads};

/// The word for the newest result. A file or folder of this name takes precedence.
const LATEST: &str = "latest";

/// The parser of an argument that names a result.
pub(crate) fn result() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(find)
}

fn find(path: PathBuf) -> Result<PathBuf, String> {
    if path.as_os_str() != LATEST || path.exists() {
        return Ok(path);
    }
    let project = ProjectOption::default().project().map_err(|error| format!("{error:#}"))?;
    newest(&project.results).ok_or_else(|| {
        format!(
            "no result in {}: measure something with `wirebench run`, or name the folder of a result",
            project.results.display()
        )
    })
}

/// The result in `folder` that began last.
fn newest(folder: &Path) -> Option<PathBuf> {
    sorted(folder).into_iter().next()
}

/// The results in `folder`, the newest first, by the time in their names.
pub(crate) fn sorted(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_result = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let time = name.get(.."2026-01-01-000000".len()).unwrap_or_default();
        let is_dated = DateTime::strptime(journal::FOLDER_TIME, time).is_ok();
        is_dated && (journal::is_in(path) || loads::is_in(path))
    };
    let mut results: Vec<PathBuf> = folders.filter(is_result).collect();
    results.sort_unstable_by(|a, b| b.cmp(a));
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_newest_result_began_last_and_has_a_journal_or_a_load() {
        let parent = tempfile::tempdir().unwrap();
        assert_eq!(newest(parent.path()), None);
        for (name, file) in [
            ("2026-03-01-101010-quick", "runs.jsonl"),
            ("2026-03-02-101010-load", "load.json"),
            ("2026-03-03-101010-quick", "environment.json"),
            ("saved", "runs.jsonl"),
        ] {
            fs::create_dir(parent.path().join(name)).unwrap();
            fs::write(parent.path().join(name).join(file), "").unwrap();
        }
        assert_eq!(newest(parent.path()), Some(parent.path().join("2026-03-02-101010-load")));
    }
}
