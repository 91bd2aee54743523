//! The fetched sources of an entry: where they are kept, and whether they are there.
//!
//! All sources of an entry are in one folder, whose name is a digest of repositories, commits and
//! patches. It appears as a whole when everything in it is verified, so its existence is enough.

use sha2::{Digest, Sha256};
use std::{
    fs,
    path::{Path, PathBuf},
};
use wirebench_schema::entry::source::Source;
use wirebench_server::digest::hexadecimal;

use crate::project::Project;

/// The sources of one entry and their folder.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Checkouts {
    pub entry: String,
    /// At least one.
    pub sources: Vec<Source>,
    /// The folder that has a folder for each source.
    pub folder: PathBuf,
    /// The entry's folder, in which the patches are.
    pub(crate) patches: PathBuf,
}

impl Checkouts {
    /// The sources of the entry in the folder `home`; none if it has no sources. An error names the
    /// patch that cannot be read.
    pub fn of_entry(
        entry: &str,
        sources: &[Source],
        home: &Path,
        project: &Project,
    ) -> Result<Option<Self>, String> {
        if sources.is_empty() {
            return Ok(None);
        }
        let mut hash = Sha256::new();
        for source in sources {
            let Source { name, repository, commit, submodules, patches } = source;
            let words = [name, &repository.to_string(), commit, &submodules.to_string()];
            words.iter().for_each(|word| add(&mut hash, word.as_bytes()));
            for patch in patches {
                let content = fs::read(home.join(&patch.file))
                    .map_err(|error| format!("the patch `{}`: {error}", patch.file))?;
                add(&mut hash, &content);
            }
        }
        Ok(Some(Self {
            entry: entry.to_owned(),
            sources: sources.to_vec(),
            folder: project.state.join("sources").join(entry).join(hexadecimal(hash)),
            patches: home.to_owned(),
        }))
    }

    #[must_use]
    pub fn are_there(&self) -> bool {
        self.folder.is_dir()
    }

    /// The name of their attempts, which changes with every change of a source.
    #[must_use]
    pub fn key(&self) -> String {
        let digest = self.folder.file_name().unwrap_or_default().to_string_lossy();
        format!("'source' {} {digest}", self.entry)
    }

    /// Each source in a line: repository, commit, and changes of ours.
    pub fn shown(&self) -> impl Iterator<Item = String> {
        self.sources.iter().map(|source| {
            let submodules = if source.submodules { " with submodules" } else { "" };
            let patches = source.patches.iter().map(|patch| format!(", patched by {}", patch.file));
            format!("{}{submodules}{}", source.shown(), patches.collect::<String>())
        })
    }
}

/// Adds a part with its length, so that no two lists of parts look alike.
fn add(hash: &mut Sha256, part: &[u8]) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part);
}
