//! Runs git in one folder, independently of the repository in which wirebench was started.

use std::{collections::BTreeMap, path::Path, sync::atomic::AtomicBool, time::Duration};
use wirebench_server::command::{CommandError, Job};

use crate::{build::excerpt::last_line, setup::FetchError};

/// How long one command may take.
const TIMEOUT: Duration = Duration::from_secs(1200);
/// Settings of a user that would change files, run programs or start other work.
const SETTINGS: [&str; 6] = [
    "core.hooksPath=/dev/null",
    "core.autocrlf=false",
    "advice.detachedHead=false",
    "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
];

/// git with its working tree in `folder`.
pub(super) struct Git<'a> {
    pub(super) folder: &'a Path,
    pub(super) stop: &'a AtomicBool,
}

impl Git<'_> {
    /// Runs `git WORDS` and returns its output. The error is the last line that it printed.
    pub(super) fn run(&self, words: &[&str]) -> Result<String, FetchError> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let words = ["git"].into_iter().chain(settings).chain(words.iter().copied());
        let argv: Vec<String> = words.map(str::to_owned).collect();
        let job = Job { argv: &argv, folder: self.folder, env: &self.env(), timeout: TIMEOUT };
        match job.output(self.stop) {
            Ok(output) if output.status.success() => Ok(output.text),
            Ok(output) => Err(FetchError::Failed(
                last_line(&output.text).unwrap_or_else(|| format!("git: {}", output.status)),
            )),
            Err(CommandError::Interrupted) => Err(FetchError::Interrupted),
            Err(error) => Err(FetchError::Failed(error.to_string())),
        }
    }

    /// A git that runs wirebench, as in a hook, says in variables where its repository is. No command
    /// asks for a password: a repository that needs one is not public.
    fn env(&self) -> BTreeMap<String, String> {
        let git = self.folder.join(".git");
        [
            ("GIT_DIR", git.display().to_string()),
            ("GIT_WORK_TREE", self.folder.display().to_string()),
            ("GIT_INDEX_FILE", git.join("index").display().to_string()),
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
            ("GIT_ASKPASS", "true".to_owned()),
            ("LC_ALL", "C".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}
