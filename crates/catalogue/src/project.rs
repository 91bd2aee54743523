//! Where the entries and suites are, and where wirebench keeps what it makes.

use std::{
    io,
    path::{Path, PathBuf},
};

use wirebench_server::digest;

use crate::trust::{self, Untrusted};

/// The suite that tells a checkout from a folder with a user's own entries.
const DEFAULT_SUITE: &str = "suites/quick.toml";

/// The folders that wirebench works with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Project {
    /// The user's folder: a checkout, or one with entries and suites in addition to the embedded ones.
    pub root: Option<PathBuf>,
    /// The unpacked entries and suites of the program; absent in a checkout, which has its own.
    pub embedded: Option<PathBuf>,
    /// Builds and their logs: `target/wirebench` below a checkout.
    pub state: PathBuf,
    /// Where each run makes the folder of its results; the same as `state` in a checkout unless a
    /// user says otherwise.
    pub results: PathBuf,
    /// Whether files below `root` run only if other users cannot write them.
    pub trust: Trust,
}

/// Which files of a user's folder may run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trust {
    /// Those that no other user can write: the folder was found.
    Checked,
    /// All: the user has named the folder.
    Named,
}

/// What a folder, or one above it, holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Found {
    Checkout(PathBuf),
    /// A user's own `entries/`, `suites/`, or both.
    Own(PathBuf),
    Nothing,
}

/// Why there is no project to work with.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// Another user can write to a part of it.
    #[error(
        "{untrusted}: commands of its entries would run with your rights. If you trust the project, name it: \
         --project {root}, or the variable WIREBENCH_PROJECT",
        root = .root.display()
    )]
    Untrusted {
        untrusted: Untrusted,
        /// The folder of the whole project.
        root: PathBuf,
    },
    /// A folder that was named is not a project.
    #[error(
        "{root} has no entries/ and no suites/: name a checkout of wirebench, or a folder with your own \
         entries, with --project or WIREBENCH_PROJECT",
        root = .0.display()
    )]
    Absent(PathBuf),
    #[error("the folder of the project cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Whether `folder` has all entries and suites.
fn is_checkout(folder: &Path) -> bool {
    folder.join("entries").is_dir() && folder.join(DEFAULT_SUITE).is_file()
}

/// Whether `folder` has entries or suites.
fn is_own(folder: &Path) -> bool {
    ["entries", "suites"].iter().any(|part| folder.join(part).is_dir())
}

/// What the folder `root` holds, without a check of its owner.
pub fn named(root: &Path) -> Result<Found, ProjectError> {
    let root = std::path::absolute(root)?;
    if is_checkout(&root) {
        Ok(Found::Checkout(root))
    } else if is_own(&root) {
        Ok(Found::Own(root))
    } else {
        Err(ProjectError::Absent(root))
    }
}

/// What `start` lies in: the nearest checkout at or above it, or else the nearest folder with entries or suites. One
/// that another user owns or can write is refused.
pub fn find(start: &Path) -> Result<Found, ProjectError> {
    let start = std::path::absolute(start)?;
    let nearest = |holds: fn(&Path) -> bool| start.ancestors().find(|folder| holds(folder));
    let Some(root) = nearest(is_checkout).or_else(|| nearest(is_own)) else {
        return Ok(Found::Nothing);
    };
    let parts = ["entries", "suites", "target", "target/wirebench"].map(|part| root.join(part));
    let folders = std::iter::once(root).chain(parts.iter().map(PathBuf::as_path));
    trust::check(folders)
        .map_err(|untrusted| ProjectError::Untrusted { untrusted, root: root.to_owned() })?;
    named(root)
}

impl Project {
    /// A project without entries, which keeps everything below `state`.
    #[must_use]
    pub fn without_entries(state: &Path) -> Self {
        let (state, results) = (state.to_owned(), state.to_owned());
        Self { root: None, embedded: None, state, results, trust: Trust::Checked }
    }

    /// The checkout in the folder `root`.
    #[must_use]
    pub fn checkout(root: PathBuf, trust: Trust) -> Self {
        let state = root.join("target").join("wirebench");
        Self { root: Some(root), embedded: None, results: state.clone(), state, trust }
    }

    /// Whether files in `folder` run only if other users cannot write them.
    #[must_use]
    pub fn is_checked(&self, folder: &Path) -> bool {
        let is_own = self.root.as_deref().is_some_and(|root| folder.starts_with(root));
        !(is_own && self.trust == Trust::Named)
    }

    /// The folders with `entries/` or `suites/`. An entry or suite of an earlier one hides that of a
    /// later one with the same name.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.root.as_deref().into_iter().chain(self.embedded.as_deref())
    }

    /// The same for the entries in `root`, one of the roots. Next to embedded entries, a user's own
    /// ones of different folders may have the same name, and their builds must not meet.
    #[must_use]
    pub fn layer(&self, root: &Path) -> Self {
        let mut layer = self.clone();
        if self.embedded.as_deref().is_some_and(|embedded| embedded != root) {
            layer.state = self.state.join("own").join(digest::of_text(&root.display().to_string()));
        }
        layer
    }

    /// The folder for what the build of one variant makes.
    #[must_use]
    pub fn build_folder(&self, variant: &wirebench_schema::id::VariantId) -> PathBuf {
        // Each part is a folder of its own, so that no two names meet: `c/x-y` and `c-x/y` do not.
        let variant_folder = variant.variant().unwrap_or("default");
        self.state.join("build").join(variant.entry()).join(variant_folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folder(parts: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for part in parts {
            fs::create_dir_all(folder.path().join(part)).unwrap();
        }
        folder
    }

    #[test]
    fn the_nearest_checkout_is_found_before_a_folder_with_own_entries() {
        let folder = folder(&["entries/c/epoll", "suites", "inner/entries"]);
        let root = folder.path().to_owned();
        let inner = root.join("inner");
        assert_eq!(find(&inner).unwrap(), Found::Own(inner.clone()));
        assert_eq!(find(&root.join("entries/c")).unwrap(), Found::Own(root.clone()));
        fs::write(root.join(DEFAULT_SUITE), "").unwrap();
        assert_eq!(find(&inner).unwrap(), Found::Checkout(root.clone()));
        assert_eq!(named(&inner).unwrap(), Found::Own(inner));
        assert!(matches!(named(&root.join("entries")), Err(ProjectError::Absent(_))));
        let checkout = Project::checkout(root.clone(), Trust::Checked);
        assert_eq!(checkout.state, root.join("target/wirebench"));
    }

    #[test]
    fn own_entries_next_to_embedded_ones_have_builds_of_their_own() {
        let [own, embedded, state] = ["/own", "/embedded", "/state"].map(PathBuf::from);
        let mut project = Project::without_entries(&state);
        (project.root, project.embedded) = (Some(own.clone()), Some(embedded.clone()));
        assert_eq!(project.roots().collect::<Vec<_>>(), [own.as_path(), &embedded]);
        assert_eq!(project.layer(&embedded).state, state);
        assert!(project.layer(&own).state.starts_with("/state/own"));
        let checkout = Project::checkout(own.clone(), Trust::Checked);
        assert_eq!(checkout.layer(&own).state, own.join("target/wirebench"));
    }

    #[test]
    fn a_folder_without_entries_and_suites_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find(folder.path()).unwrap(), Found::Nothing);
    }
}
