//! Sources of entries: public git repositories at fixed commits, from which a build starts.

use serde::Deserialize;
use std::{collections::BTreeSet, path::Component, path::Path, str::FromStr};

use crate::refuse::refuse_if;

/// Digits of the name of a commit.
const COMMIT_DIGITS: usize = 40;
/// Digits of a commit that are shown to a reader.
const SHOWN_DIGITS: usize = 12;

/// A repository at one commit, with changes of ours.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The name of its folder below `{checkouts}`; in files, that of the repository if there is none.
    #[serde(default)]
    pub name: String,
    /// Its address.
    pub repository: Repository,
    /// The commit's full name.
    pub commit: String,
    /// Whether the build needs its submodules.
    #[serde(default)]
    pub submodules: bool,
    /// Changes of ours, in the order in which they are applied.
    #[serde(default)]
    pub patches: Vec<Patch>,
}

/// A file of the entry's folder that changes a source.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// The file, relative to the entry's folder.
    pub file: String,
    /// The change in words, which every row of figures shows.
    pub reason: String,
}

/// The address of a public repository: `https://HOST/OWNER/NAME`, with or without `.git`.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
pub struct Repository(String);

impl Source {
    /// Repository and commit for a reader.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{} at {}", self.repository, self.short_commit())
    }

    /// The first digits of the commit.
    #[must_use]
    pub fn short_commit(&self) -> &str {
        self.commit.get(..SHOWN_DIGITS).unwrap_or(&self.commit)
    }
}

impl Repository {
    /// The last part of its path, without `.git`.
    #[must_use]
    pub fn name(&self) -> &str {
        let last = self.0.rsplit('/').next().unwrap_or_default();
        last.strip_suffix(".git").unwrap_or(last)
    }

    /// The part of its path before the name.
    #[must_use]
    pub fn owner(&self) -> &str {
        self.0.rsplit('/').nth(1).unwrap_or_default()
    }

    /// The repository at `address`, which may be relative to this one, as those of submodules are.
    pub fn join(&self, address: &str) -> Result<Self, String> {
        if !address.starts_with("./") && !address.starts_with("../") {
            return address.parse();
        }
        let mut parts: Vec<&str> = self.0.split('/').collect();
        for part in address.split('/') {
            match part {
                "." | "" => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        parts.join("/").parse()
    }
}

crate::names::shown_as_text!(Repository);

impl FromStr for Repository {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let address = text.strip_prefix("https://").map(|rest| rest.trim_end_matches('/'));
        let is_address = |rest: &&str| {
            let mut parts = rest.split('/');
            let host = parts.next().is_some_and(|host| !host.is_empty() && !host.starts_with('-'));
            let path: Vec<&str> = parts.collect();
            host && path.len() >= 2 && path.iter().all(|part| is_plain_name(part))
        };
        let good = |c: char| c.is_ascii_alphanumeric() || "._-~/:+".contains(c);
        match address.filter(is_address).filter(|rest| rest.chars().all(good)) {
            Some(rest) => Ok(Self(format!("https://{rest}"))),
            None => Err(format!(
                "`{text}` is not the address of a public repository: write https://HOST/OWNER/NAME"
            )),
        }
    }
}

/// Whether `name` is a name of a folder, which neither leads elsewhere nor looks like an option.
fn is_plain_name(name: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || "._-~+".contains(c);
    !name.is_empty() && !name.starts_with(['-', '.']) && name.chars().all(good)
}

/// All sources of an entry, checked, each with a name.
pub(super) fn checked(mut sources: Vec<Source>) -> Result<Vec<Source>, String> {
    let mut names = BTreeSet::new();
    for Source { name, repository, commit, patches, .. } in &mut sources {
        *repository = repository.0.parse()?;
        let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        refuse_if!(
            commit.len() != COMMIT_DIGITS || !commit.chars().all(is_digit),
            "`{commit}` is not the full name of a commit, which has {COMMIT_DIGITS} digits of 0-9 and a-f: \
             `git rev-parse REVISION` prints it"
        );
        if name.is_empty() {
            repository.name().clone_into(name);
        }
        refuse_if!(
            !is_plain_name(name),
            "the source name `{name}` is not the name of a folder: use letters, digits, `.`, `_` and `-`"
        );
        for Patch { file, reason } in patches {
            let inside = Path::new(file).components().all(|it| matches!(it, Component::Normal(_)));
            refuse_if!(
                file.is_empty() || !inside,
                "the patch `{file}` is not a file of the entry's folder"
            );
            let is_silent = reason.trim().is_empty();
            refuse_if!(is_silent, "the patch `{file}` has no `reason`: say what it changes");
        }
        let is_new = names.insert(name.clone());
        refuse_if!(!is_new, "two sources are named `{name}`: give one of them another `name`");
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_an_owner_and_a_name() {
        for text in ["https://example.org/a/b", "https://example.org/a/b.git/"] {
            let repository: Repository = text.parse().unwrap();
            assert_eq!((repository.owner(), repository.name()), ("a", "b"));
        }
    }

    #[test]
    fn addresses_of_submodules_are_relative_to_their_repository() {
        let base: Repository = "https://example.org/a/b.git".parse().unwrap();
        let joined = |address| base.join(address).map(|it| it.to_string());
        assert_eq!(joined("../c.git").unwrap(), "https://example.org/a/c.git");
        assert_eq!(joined("../../d/e").unwrap(), "https://example.org/d/e");
        assert_eq!(joined("https://example.org/x/y").unwrap(), "https://example.org/x/y");
        for wrong in ["../../../../../x", "ssh://git@example.org/x/y", "ext::sh", "/x/y"] {
            assert!(joined(wrong).is_err(), "{wrong}");
        }
    }
}
