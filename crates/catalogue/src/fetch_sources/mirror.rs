//! A folder of repositories from which sources are fetched instead of their own addresses.

use std::path::{Path, PathBuf};
use wirebench_schema::entry::source::Repository;

/// The folder. It has `OWNER/NAME.git`, `OWNER/NAME`, `NAME.git` or `NAME` for each repository.
#[derive(Clone, Debug)]
pub struct Mirror(PathBuf);

impl Mirror {
    /// The mirror in `folder`, or the error that there is no such folder.
    pub fn new(folder: &Path) -> Result<Self, String> {
        match folder.canonicalize() {
            Ok(folder) if folder.is_dir() => Ok(Self(folder)),
            _ => Err(format!(
                "there is no folder {}: --mirror takes a folder of bare git repositories, each as \
                 OWNER/NAME.git or NAME.git",
                folder.display()
            )),
        }
    }

    /// The folder of `repository`, or the error that it is not in the mirror.
    pub(super) fn find(&self, repository: &Repository) -> Result<PathBuf, String> {
        let (owner, name) = (repository.owner(), repository.name());
        let places = [
            format!("{owner}/{name}.git"),
            format!("{owner}/{name}"),
            format!("{name}.git"),
            name.to_owned(),
        ];
        let found = places.iter().map(|place| self.0.join(place)).find(|it| is_repository(it));
        found.ok_or_else(|| {
            let place = self.0.join(&places[0]);
            format!(
                "the mirror {} does not have {repository}: make it with `git clone --mirror \
                 {repository} {}`, or omit --mirror",
                self.0.display(),
                place.display()
            )
        })
    }
}

/// Whether `folder` is a repository of git, bare or with a working tree.
fn is_repository(folder: &Path) -> bool {
    folder.join("HEAD").is_file() || folder.join(".git").exists()
}
