//! Stored results of `wirebench load`: a folder with its JSON, the machine and a page, or the JSON alone.

use anyhow::Context as _;
use std::{
    fs,
    path::{Path, PathBuf},
};
use wirebench_experiment::{experiment::write_environment, journal};
use wirebench_report::{
    Report as _,
    load::{LOAD_FILE, Load},
    load_json,
};
use wirebench_schema::{environment::Environment, load::LoadResult, printable::printable};

use crate::{
    exit::usage,
    format::redacted,
    results::{self, HTML_FILE},
};

/// A load, and the machine of its generator if that is known.
#[derive(Debug)]
pub(crate) struct StoredLoad {
    pub(crate) result: LoadResult,
    pub(crate) environment: Option<Environment>,
    machine: Option<String>,
}

impl StoredLoad {
    fn new(result: LoadResult, environment: Option<Environment>) -> Self {
        let machine = environment.as_ref().and_then(results::cpu);
        Self { result, environment, machine }
    }

    pub(crate) fn load(&self) -> Load<'_> {
        Load { result: &self.result, machine: self.machine.as_deref() }
    }
}

/// Whether `folder` has a load.
pub(crate) fn is_in(folder: &Path) -> bool {
    !journal::is_in(folder) && folder.join(LOAD_FILE).is_file()
}

/// Reads the load that `path` is or has; none if that is something else.
pub(crate) fn read(path: &Path) -> anyhow::Result<Option<StoredLoad>> {
    let file = if is_in(path) { path.join(LOAD_FILE) } else { path.to_owned() };
    // The reader of journals says what is wrong with other files.
    let Ok(bytes) = journal::regular(&file) else { return Ok(None) };
    let Some(parsed) = LoadResult::parse(&String::from_utf8_lossy(&bytes)) else { return Ok(None) };
    let result = parsed.map_err(|reason| usage(format!("{}: {reason}", file.display())))?;
    let environment = journal::environment(results::folder(&file)).map_err(usage)?;
    Ok(Some(StoredLoad::new(result, environment)))
}

/// A folder that a load is written to when it is over.
#[derive(Debug)]
pub(crate) struct LoadFolder {
    path: PathBuf,
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

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes it away again, because there is no result.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_dir(&self.path);
    }

    pub(crate) fn write(&self, result: &LoadResult) -> anyhow::Result<()> {
        if let Some(environment) = &self.environment {
            write_environment(environment, &self.path)?;
        }
        let stored = StoredLoad::new(result.clone(), self.environment.clone());
        let page = redacted(&printable(&stored.load().html()));
        for (name, text) in [(LOAD_FILE, load_json::text(result)), (HTML_FILE, page)] {
            let path = self.path.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}
