//! Where the entries and suites are, and where wirebench keeps what it makes.

use std::{
    io,
    path::{Path, PathBuf},
};

/// The folders that wirebench works with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Project {
    /// The folder with `entries/` and `suites/`; absent outside a checkout, where only the
    /// built-in entries exist.
    pub root: Option<PathBuf>,
    /// Builds and their logs: `target/wirebench` below the root, or below the current folder
    /// without one.
    pub state: PathBuf,
    /// Where each run makes the folder of its results; the same as `state` unless a user says
    /// otherwise.
    pub results: PathBuf,
}

impl Project {
    /// A project without entries, which keeps everything below `state`.
    #[must_use]
    pub fn without_entries(state: &Path) -> Self {
        Self { root: None, state: state.to_owned(), results: state.to_owned() }
    }

    /// Finds the project that `start` lies in: the nearest folder above with both `entries/` and
    /// `suites/`.
    pub fn find(start: &Path) -> io::Result<Self> {
        let start = std::path::absolute(start)?;
        let root = start
            .ancestors()
            .find(|folder| folder.join("entries").is_dir() && folder.join("suites").is_dir())
            .map(Path::to_owned);
        let state = root.as_ref().unwrap_or(&start).join("target").join("wirebench");
        Ok(Self { root, results: state.clone(), state })
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

    #[test]
    fn the_nearest_folder_with_entries_and_suites_is_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("entries/c/epoll");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir(folder.path().join("suites")).unwrap();
        let project = Project::find(&inner).unwrap();
        assert_eq!(project.root.as_deref(), Some(folder.path()));
        assert_eq!(project.state, folder.path().join("target/wirebench"));
    }

    #[test]
    fn outside_a_checkout_there_is_no_root() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Project::find(folder.path()).unwrap().root, None);
    }
}
