//! What `wirebench setup` has tried in vain, kept in a file of the state folder, so that `list` can
//! say why something is missing. It decides nothing: a later setup tries everything again.

use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use crate::small_file::read_small;

/// The name of the file below the state folder.
const FILE: &str = "setup.json";

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Attempt {
    /// When, as year, month and day.
    pub date: String,
    /// The last line that the command printed, or how it ended when it printed nothing.
    pub said: String,
}

impl Attempt {
    #[must_use]
    pub fn today(said: &str) -> Self {
        Self { date: jiff::Zoned::now().date().to_string(), said: said.to_owned() }
    }
}

/// The attempts that failed, by what was tried: a command, or a Debian package.
#[derive(Debug, Default)]
pub struct Attempts {
    path: PathBuf,
    failed: BTreeMap<String, Attempt>,
}

/// The key of a Debian package. A command cannot begin like this.
#[must_use]
pub fn package_key(package: &str) -> String {
    format!("'package' {package}")
}

impl Attempts {
    /// Reads what is known. A file that is not there or cannot be read says nothing.
    #[must_use]
    pub fn read(state: &Path) -> Self {
        let path = state.join(FILE);
        let text = read_small(&path).unwrap_or_default();
        Self { failed: serde_json::from_str(&text).unwrap_or_default(), path }
    }

    /// The failure of `key`, if it failed when it was last tried.
    #[must_use]
    pub fn failure(&self, key: &str) -> Option<&Attempt> {
        self.failed.get(key)
    }

    /// Writes down how an attempt ended; none stands for success.
    pub fn record(&mut self, key: &str, failure: Option<Attempt>) -> io::Result<()> {
        let changed = match failure {
            Some(failure) => self.failed.insert(key.to_owned(), failure.clone()) != Some(failure),
            None => self.failed.remove(key).is_some(),
        };
        if !changed {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        // Two steps, so that no reader ever sees half of it.
        let new = self.path.with_extension("json.new");
        fs::write(&new, serde_json::to_vec_pretty(&self.failed)?)?;
        fs::rename(&new, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_remembered_until_the_same_thing_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let mut attempts = Attempts::read(&state);
        assert_eq!(attempts.failure("dub fetch x"), None);
        let failure = Attempt::today("no route");
        attempts.record("dub fetch x", Some(failure.clone())).unwrap();
        let mut again = Attempts::read(&state);
        assert_eq!(again.failure("dub fetch x"), Some(&failure));
        again.record("dub fetch x", None).unwrap();
        assert_eq!(Attempts::read(&state).failure("dub fetch x"), None);
        std::fs::write(state.join(FILE), "half of a fi").unwrap();
        assert_eq!(Attempts::read(&state).failure("dub fetch x"), None);
    }
}
