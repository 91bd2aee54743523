//! Stored results of `wirebench load`: a folder with its JSON, which may be compressed, the machine and a page, or the
//! JSON alone.

use anyhow::Context as _;
use serde::de::IgnoredAny;
use std::{
    fs,
    path::{Path, PathBuf},
};
use wirebench_experiment::{experiment::write_environment, journal};
use wirebench_report::{
    Report as _,
    compare::LoadSide,
    gates::Gate,
    load::{LOAD_FILE, Load},
};
use wirebench_schema::{
    environment::Environment,
    load::{LoadConfig, LoadResult},
    printable::printable,
    secrets,
};

use crate::{
    args::format::redacted,
    exit::usage,
    out,
    results::stored::{self, HTML_FILE},
};

/// A load, and the machine of its generator if that is known.
#[derive(Debug)]
pub(crate) struct StoredLoad {
    pub(crate) result: LoadResult,
    pub(crate) environment: Option<Environment>,
    machine: Option<String>,
}

impl StoredLoad {
    pub(crate) fn side<'a>(&'a self, name: &'a str) -> LoadSide<'a> {
        LoadSide { name, result: &self.result, environment: self.environment.as_ref() }
    }

    /// The load with the result of conditions.
    pub(crate) fn load<'a>(&'a self, gate: Option<&'a Gate>) -> Load<'a> {
        Load { result: &self.result, machine: self.machine.as_deref(), gate }
    }
}

/// The name of a compressed load.
pub(crate) const ARCHIVE_FILE: &str = "load.json.gz";

/// Whether `folder` has a load.
pub(crate) fn is_in(folder: &Path) -> bool {
    !journal::is_in(folder) && file_in(folder).is_some()
}

fn file_in(folder: &Path) -> Option<PathBuf> {
    let files = [LOAD_FILE, ARCHIVE_FILE].map(|name| folder.join(name));
    files.into_iter().find(|file| file.is_file())
}

/// Reads the load that `path` is or has; none if that is something else.
pub(crate) fn read(path: &Path) -> anyhow::Result<Option<StoredLoad>> {
    let Ok((_, result)) = found(path)? else { return Ok(None) };
    let environment = journal::environment(stored::folder(path)).map_err(usage)?;
    let machine = environment.as_ref().and_then(stored::cpu);
    Ok(Some(StoredLoad { result, environment, machine }))
}

/// The JSON of the load that `path` is or has.
pub(crate) fn text(path: &Path) -> anyhow::Result<Option<String>> {
    Ok(found(path)?.ok().map(|(text, _)| text))
}

/// The load whose result `path` is or has.
pub(crate) fn config(path: &Path) -> anyhow::Result<LoadConfig> {
    match found(path)? {
        Ok((_, result)) => Ok(result.report.config),
        Err(why) => Err(usage(format!(
            "--config {}: {why}; give a result of `wirebench load --output`, or its {LOAD_FILE}",
            path.display()
        ))),
    }
}

/// The JSON and the load, or why there is none. A file with the name of a load that is none is damaged.
fn found(path: &Path) -> anyhow::Result<Result<(String, LoadResult), String>> {
    let file = file_in(path).filter(|_| !journal::is_in(path)).unwrap_or_else(|| path.into());
    let bytes = match journal::regular(&file) {
        Ok(bytes) => bytes,
        Err(_) if path.is_dir() => return Ok(Err(format!("it has no {LOAD_FILE}"))),
        Err(error) => return Ok(Err(error.to_string())),
    };
    let damaged = |reason: &str| usage(format!("{}: {reason}", file.display()));
    let no_load = |why: String| match file.ends_with(LOAD_FILE) || file.ends_with(ARCHIVE_FILE) {
        true => Err(damaged(&format!("the load is damaged: {why}"))),
        false => Ok(Err(format!("it is not the JSON of a load: {why}"))),
    };
    let text = match journal::unpacked(bytes) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return no_load(error.to_string()),
    };
    let text = out::hide(text, |it| secrets::hidden_json(&it));
    match LoadResult::parse(&text) {
        Some(parsed) => Ok(Ok((text, parsed.map_err(|reason| damaged(&reason))?))),
        None => no_load(match serde_json::from_str::<IgnoredAny>(&text) {
            Err(error) => error.to_string(),
            Ok(_) => "it is the JSON of something else".to_owned(),
        }),
    }
}

/// A folder that a load is written to when it is over.
#[derive(Debug)]
pub(crate) struct LoadFolder {
    pub(crate) path: PathBuf,
    environment: Option<Environment>,
}

impl LoadFolder {
    /// Makes a new folder in `parent`. Of a load from other hosts this machine is not the generator's.
    pub(crate) fn create(parent: &Path, is_here: bool) -> anyhow::Result<Self> {
        let parent = std::path::absolute(parent)?;
        let path = journal::new_run_folder(&parent, "load")?;
        let environment = is_here.then(wirebench_host::environment::here);
        Ok(Self { path, environment })
    }

    /// Takes it away again, because there is no result.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_dir(&self.path);
    }

    pub(crate) fn write(&self, result: &LoadResult, gate: Option<&Gate>) -> anyhow::Result<()> {
        if let Some(environment) = &self.environment {
            write_environment(environment, &self.path)?;
        }
        let machine = self.environment.as_ref().and_then(stored::cpu);
        let load = Load { result, machine: machine.as_deref(), gate };
        let page = redacted(&printable(&load.html()));
        for (name, text) in [(LOAD_FILE, load.json()), (HTML_FILE, page)] {
            let path = self.path.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}
