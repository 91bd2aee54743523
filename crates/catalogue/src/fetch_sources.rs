//! Fetches the sources of an entry: exactly the pinned commits, verified, with the patches applied.

mod git;
mod mirror;

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::atomic::AtomicBool,
};
use wirebench_schema::entry::source::{Repository, Source};

use crate::{
    build::{BuildError, wait_for_lock},
    checkouts::Checkouts,
    setup::FetchError,
};
use git::Git;
pub use mirror::Mirror;

/// Fetches all sources of `checkouts` unless they are there. They appear as a whole or not at all.
pub fn fetch(
    checkouts: &Checkouts,
    mirror: Option<&Mirror>,
    stop: &AtomicBool,
) -> Result<(), FetchError> {
    let home = checkouts.folder.parent().unwrap_or(&checkouts.folder);
    fs::create_dir_all(home).map_err(FetchError::at(home))?;
    let lock_path = home.join("lock");
    let lock = File::create(&lock_path).map_err(FetchError::at(&lock_path))?;
    wait_for_lock(&lock, &lock_path, stop).map_err(of_lock)?;
    if checkouts.are_there() {
        return Ok(());
    }
    // The lock makes this process the only one that uses the folder. A killed one may have left it.
    let begun = home.join("begun");
    remove(&begun).map_err(FetchError::at(&begun))?;
    let fetcher = Fetcher { mirror, stop };
    let made = checkouts
        .sources
        .iter()
        .try_for_each(|source| fetcher.fetch(source, &begun.join(&source.name), &checkouts.patches))
        .and_then(|()| fs::rename(&begun, &checkouts.folder).map_err(FetchError::at(&begun)));
    if made.is_err() {
        let _ = remove(&begun);
    }
    made
}

fn of_lock(error: BuildError) -> FetchError {
    match error {
        BuildError::Command(_) => FetchError::Interrupted,
        other => FetchError::Failed(other.to_string()),
    }
}

/// Removes a folder, if it is there.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn failed(message: String) -> FetchError {
    FetchError::Failed(message)
}

/// Adds `context` to what git said.
fn explain(error: FetchError, context: impl FnOnce(String) -> String) -> FetchError {
    match error {
        FetchError::Failed(said) => failed(context(said)),
        other => other,
    }
}

struct Fetcher<'a> {
    mirror: Option<&'a Mirror>,
    stop: &'a AtomicBool,
}

impl Fetcher<'_> {
    fn git<'a>(&'a self, folder: &'a Path) -> Git<'a> {
        Git { folder, stop: self.stop }
    }

    fn fetch(&self, source: &Source, folder: &Path, patches: &Path) -> Result<(), FetchError> {
        self.check_out(&source.repository, &source.commit, folder)?;
        if source.submodules {
            self.submodules(&source.repository, folder)?;
        }
        for patch in &source.patches {
            let file = patches.join(&patch.file).display().to_string();
            self.git(folder).run(&["apply", "--whitespace=nowarn", "--", &file]).map_err(|error| {
                explain(error, |said| {
                    format!(
                        "the patch {} does not apply to {}: {said}; make it again with `git diff` \
                         in a checkout of that commit",
                        patch.file,
                        source.shown()
                    )
                })
            })?;
        }
        Ok(())
    }

    /// Makes `folder` a working tree of `repository` at `commit`.
    fn check_out(
        &self,
        repository: &Repository,
        commit: &str,
        folder: &Path,
    ) -> Result<(), FetchError> {
        let place = match self.mirror {
            Some(mirror) => mirror.find(repository).map_err(failed)?.display().to_string(),
            None => repository.to_string(),
        };
        fs::create_dir_all(folder).map_err(FetchError::at(folder))?;
        let git = self.git(folder);
        git.run(&["init", "--quiet", "--template="])?;
        fetch_commit(&git, &place, commit)?;
        git.run(&["checkout", "--quiet", "--detach", "--force", commit, "--"])?;
        let head = git.run(&["rev-parse", "--verify", "HEAD"])?;
        if head.trim() != commit {
            return Err(failed(format!(
                "{place}: HEAD is {} and not {commit}: `commit` must name a commit, not a tag",
                head.trim()
            )));
        }
        Ok(())
    }

    /// Checks out the submodules of the tree in `folder`, and theirs, at the commits that it records.
    fn submodules(&self, repository: &Repository, folder: &Path) -> Result<(), FetchError> {
        let git = self.git(folder);
        let described = fs::read_to_string(folder.join(".gitmodules")).unwrap_or_default();
        if !described.contains("[submodule") {
            return Ok(());
        }
        let from_file = ["config", "--file", ".gitmodules"];
        let list = ["--null", "--get-regexp", r"^submodule\..*\.path$"];
        let listed = git.run(&[&from_file[..], &list].concat())?;
        for (key, path) in listed.split('\0').filter_map(|line| line.split_once('\n')) {
            let Some(commit) = recorded(&git, path)? else { continue };
            let key = key.strip_suffix("path").unwrap_or(key).to_owned() + "url";
            let address = git.run(&[&from_file[..], &["--get", &key]].concat());
            let inner = address.and_then(|it| repository.join(it.trim()).map_err(failed));
            let inner = inner.map_err(|error| {
                explain(error, |said| format!("the submodule {path} of {repository}: {said}"))
            })?;
            let place = folder.join(path);
            self.check_out(&inner, &commit, &place)?;
            self.submodules(&inner, &place)?;
        }
        Ok(())
    }
}

/// The commit that the tree records for the submodule at `path`. A description without a submodule is
/// left from an earlier commit.
fn recorded(git: &Git<'_>, path: &str) -> Result<Option<String>, FetchError> {
    let listed = git.run(&["ls-tree", "HEAD", "--", path])?;
    let entry = listed.lines().find_map(|line| line.strip_prefix("160000 commit "));
    Ok(entry.and_then(|rest| rest.split_whitespace().next()).map(str::to_owned))
}

/// Fetches `commit` alone, and everything where the server does not give single commits.
fn fetch_commit(git: &Git<'_>, place: &str, commit: &str) -> Result<(), FetchError> {
    let fetch = ["fetch", "--quiet", "--no-tags"];
    match git.run(&[&fetch[..], &["--depth=1", "--", place, commit]].concat()) {
        Err(FetchError::Failed(_)) => {}
        other => return other.map(drop),
    }
    let all = ["--", place, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
    git.run(&[&fetch[..], &["--update-head-ok"], &all].concat())
        .map_err(|error| explain(error, |said| format!("cannot fetch {place}: {said}")))?;
    let wanted = format!("{commit}^{{commit}}");
    git.run(&["cat-file", "-e", &wanted]).map(drop).map_err(|error| {
        explain(error, |_| {
            format!("{place} has no commit {commit}: correct `commit` in entry.toml, or update the mirror")
        })
    })
}

#[cfg(test)]
mod tests;
