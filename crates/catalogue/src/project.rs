//! Where the entries and suites are, and where wirebench keeps what it makes.

mod owner;

use std::{
    io,
    path::{Path, PathBuf},
};

use owner::Trusted;

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

/// Why there is no project to work with.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// A folder of it belongs to another user.
    #[error(
        "{folder} belongs to uid {owner}, and wirebench runs as uid {effective}: commands of its \
         entries would run with your rights. If you trust the project, name it: --project {root}, \
         or the variable WIREBENCH_PROJECT",
        folder = .folder.display(), root = .root.display()
    )]
    Foreign {
        /// Which.
        folder: PathBuf,
        /// The number of its owner.
        owner: u32,
        /// The number of the user with whose rights commands would run.
        effective: u32,
        /// The folder of the whole project.
        root: PathBuf,
    },
    /// A folder that was named is not a project.
    #[error(
        "{root} has no entries/ and suites/: name a checkout of wirebench with --project or \
         WIREBENCH_PROJECT",
        root = .0.display()
    )]
    Absent(PathBuf),
    /// A folder cannot be read.
    #[error("the folder of the project cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Whether `folder` holds a project.
fn is_root(folder: &Path) -> bool {
    folder.join("entries").is_dir() && folder.join("suites").is_dir()
}

impl Project {
    /// A project without entries, which keeps everything below `state`.
    #[must_use]
    pub fn without_entries(state: &Path) -> Self {
        Self { root: None, state: state.to_owned(), results: state.to_owned() }
    }

    /// The project in the folder `root`, without a check of its owner.
    pub fn named(root: &Path) -> Result<Self, ProjectError> {
        let root = std::path::absolute(root)?;
        if !is_root(&root) {
            return Err(ProjectError::Absent(root));
        }
        let state = state_below(&root);
        Ok(Self { root: Some(root), results: state.clone(), state })
    }

    /// Finds the project that `start` lies in: the nearest folder above with both `entries/` and
    /// `suites/`. One that another user owns is refused.
    pub fn find(start: &Path) -> Result<Self, ProjectError> {
        let start = std::path::absolute(start)?;
        let Some(root) = start.ancestors().find(|folder| is_root(folder)) else {
            return Ok(Self::without_entries(&state_below(&start)));
        };
        let project = Self::named(root)?;
        let parts = ["entries", "suites", "target"].map(|part| root.join(part));
        let folders = [root, &project.state].into_iter().chain(parts.iter().map(PathBuf::as_path));
        let trusted = Trusted::of_this_process();
        match trusted.first_foreign(folders)? {
            None => Ok(project),
            Some((folder, owner)) => Err(ProjectError::Foreign {
                folder,
                owner,
                effective: trusted.effective,
                root: root.to_owned(),
            }),
        }
    }

    /// The folder for what the build of one variant makes.
    #[must_use]
    pub fn build_folder(&self, variant: &wirebench_schema::id::VariantId) -> PathBuf {
        // Each part is a folder of its own, so that no two names meet: `c/x-y` and `c-x/y` do not.
        let variant_folder = variant.variant().unwrap_or("default");
        self.state.join("build").join(variant.entry()).join(variant_folder)
    }
}

/// Where wirebench keeps what it makes, when it works in `folder`.
fn state_below(folder: &Path) -> PathBuf {
    folder.join("target").join("wirebench")
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
