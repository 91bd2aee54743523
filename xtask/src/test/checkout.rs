//! Facts that git knows of the working tree.

use anyhow::Context;
use std::collections::BTreeMap;

use crate::step::{at_root, output};

/// The option that shortens names of commits and trees as in the ledger.
const SHORT: &str = "--abbrev=12";

/// Git's names of folders below `entries/` and `crates/`, as a commit of the whole working tree would have them.
pub(super) struct Trees(BTreeMap<String, String>);

impl Trees {
    pub(super) fn new() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let index = folder.path().join("index");
        let index = index.to_str().context("the folder's path is no text")?;
        git(&["read-tree", "HEAD"], Some(index))?;
        git(&["add", "--all", "entries", "crates"], Some(index))?;
        let tree = git(&["write-tree"], Some(index))?;
        let lines = git(&["ls-tree", "-d", "-r", SHORT, tree.trim(), "entries", "crates"], None)?;
        let parsed = lines.lines().filter_map(|line| {
            let (head, path) = line.split_once('\t')?;
            Some((path.to_owned(), head.rsplit(' ').next()?.to_owned()))
        });
        Ok(Self(parsed.collect()))
    }

    /// The ids of all entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = &str> {
        let ids = self.0.keys().filter_map(|path| path.strip_prefix("entries/"));
        ids.filter(|id| id.matches('/').count() == 1 && !id.ends_with("/shared"))
    }

    pub(super) fn has(&self, folder: &str) -> bool {
        self.0.contains_key(folder)
    }

    /// One name for the contents of these folders.
    pub(super) fn digest(&self, folders: &[&str]) -> anyhow::Result<String> {
        let name = |folder: &&str| {
            let name = self.0.get(*folder).map(String::as_str);
            name.with_context(|| format!("{folder} is missing"))
        };
        Ok(folders.iter().map(name).collect::<Result<Vec<_>, _>>()?.join("+"))
    }
}

/// The commits of the history, shortened, the newest first.
pub(super) fn history() -> anyhow::Result<Vec<String>> {
    let commits = git(&["rev-list", "--topo-order", "--abbrev-commit", SHORT, "HEAD"], None)?;
    Ok(commits.lines().map(str::to_owned).collect())
}

pub(super) fn is_shallow() -> anyhow::Result<bool> {
    Ok(git(&["rev-parse", "--is-shallow-repository"], None)?.trim() == "true")
}

fn git(arguments: &[&str], index: Option<&str>) -> anyhow::Result<String> {
    let mut git = at_root("git", arguments);
    output(git.envs(index.map(|it| ("GIT_INDEX_FILE", it))))
}
