//! Finds all that can be measured, and picks from it by name.

use std::path::Path;
use walkdir::WalkDir;
use wirebench_schema::{entry::Entry, suggest};

use crate::{
    project::Project,
    subject::{Origin, Subject},
};

/// The name of an entry's description in its folder.
const ENTRY_FILE: &str = "entry.toml";
/// No description and no lock file is larger.
const FILE_LIMIT_BYTES: u64 = 16 << 20;

/// Why the entries cannot be used. Each message names the file or the name at fault.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// An `entry.toml` is wrong.
    #[error("{file}: {reason}")]
    Entry {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A name that no entry has.
    #[error("{0} (`wirebench list` shows all)")]
    Unknown(String),
    /// A built-in entry or a command line cannot be used.
    #[error("{0}")]
    Subject(String),
}

/// All subjects: the built-in null servers first, then the entries by name.
pub fn subjects(project: &Project, program: &Path) -> Result<Vec<Subject>, DiscoverError> {
    let mut subjects = Subject::builtins(program, project).map_err(DiscoverError::Subject)?;
    let Some(root) = &project.root else { return Ok(subjects) };
    let entries = root.join("entries");
    let files = WalkDir::new(&entries).min_depth(3).max_depth(3).sort_by_file_name();
    for file in files {
        let file = file.map_err(|error| DiscoverError::Entry {
            file: error.path().unwrap_or(&entries).display().to_string(),
            reason: error.to_string(),
        })?;
        if file.file_name() == ENTRY_FILE {
            subjects.extend(read_entry(project, &entries, file.path())?);
        }
    }
    Ok(subjects)
}

fn read_entry(
    project: &Project,
    entries: &Path,
    file: &Path,
) -> Result<Vec<Subject>, DiscoverError> {
    let error = |reason: String| DiscoverError::Entry { file: file.display().to_string(), reason };
    let folder = file.parent().ok_or_else(|| error("it has no folder".to_owned()))?;
    let id = folder.strip_prefix(entries).map_err(|e| error(e.to_string()))?;
    let text = read_small(file).map_err(error)?;
    let entry = Entry::parse(&id.to_string_lossy(), &text).map_err(|e| error(e.to_string()))?;
    let subjects = entry.variants.into_iter().map(|variant| Subject {
        title: entry.title.clone(),
        description: entry.description.clone(),
        url: entry.url.clone(),
        source: folder.to_owned(),
        build: project.build_folder(&variant.id),
        origin: Origin::Entry { versions: entry.versions.clone() },
        variant,
    });
    Ok(subjects.collect())
}

/// The text of a regular file of moderate size; a pipe or an endless device would never be read.
pub(crate) fn read_small(file: &Path) -> Result<String, String> {
    let metadata = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if !metadata.is_file() || metadata.len() > FILE_LIMIT_BYTES {
        return Err(format!("it is no regular file of at most {FILE_LIMIT_BYTES} bytes"));
    }
    std::fs::read_to_string(file).map_err(|error| error.to_string())
}

/// The subjects that `names` mean, in the order of `subjects`; all of them when there are no names.
///
/// A name is an entry's, such as `cpp/boost-asio`, a variant's, such as `cpp/boost-asio:prefork`,
/// or a language's with a slash, such as `go/`.
pub fn select(subjects: &[Subject], names: &[String]) -> Result<Vec<Subject>, DiscoverError> {
    let means = |name: &str, subject: &Subject| {
        let id = &subject.variant.id;
        id.matches(name) || (name.ends_with('/') && id.entry().starts_with(name))
    };
    for name in names {
        if !subjects.iter().any(|subject| means(name, subject)) {
            let mut known: Vec<String> = Vec::new();
            for subject in subjects {
                known.extend([
                    subject.variant.id.entry().to_owned(),
                    subject.variant.id.to_string(),
                ]);
            }
            known.sort();
            known.dedup();
            let known = known.iter().map(String::as_str);
            return Err(DiscoverError::Unknown(suggest::unknown("entry", name, known)));
        }
    }
    let chosen =
        |subject: &&Subject| names.is_empty() || names.iter().any(|name| means(name, subject));
    Ok(subjects.iter().filter(chosen).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const ENTRY: &str = r#"
title = "A"
description = "An example."
class = "raw"
model = "event-loop"
mechanism = "epoll"
sharing = "prefork"
scenarios = ["hello"]
skips = []
[[version]]
name = "cc"
command = ["cc", "--version"]
pattern = '(\d+)'
[run]
command = ["{build}/server"]
ready = "line"
"#;

    fn checkout(entries: &[(&str, String)]) -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("suites")).unwrap();
        fs::create_dir(folder.path().join("entries")).unwrap();
        for (id, text) in entries {
            let entry = folder.path().join("entries").join(id);
            fs::create_dir_all(&entry).unwrap();
            fs::write(entry.join(ENTRY_FILE), text).unwrap();
        }
        let project = Project::find(folder.path()).unwrap();
        (folder, project)
    }

    fn names(subjects: &[Subject]) -> Vec<String> {
        subjects.iter().map(|subject| subject.variant.id.to_string()).collect()
    }

    #[test]
    fn entries_are_found_by_their_folders_behind_the_builtin_ones() {
        let variants = "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n";
        let (_folder, project) =
            checkout(&[("go/net", ENTRY.into()), ("c/epoll", format!("{ENTRY}{variants}"))]);
        let all = subjects(&project, Path::new("wirebench")).unwrap();
        let expected = ["builtin/epoll", "builtin/io_uring", "c/epoll:a", "c/epoll:b", "go/net"];
        assert_eq!(names(&all), expected);
        let pick = |names_: &[&str]| {
            select(&all, &names_.iter().map(|&n| n.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(names(&pick(&["c/epoll"]).unwrap()), ["c/epoll:a", "c/epoll:b"]);
        assert_eq!(names(&pick(&["go/", "c/epoll:b"]).unwrap()), ["c/epoll:b", "go/net"]);
        let message = pick(&["c/epol"]).unwrap_err().to_string();
        assert!(message.contains("did you mean `c/epoll`?"), "{message}");
    }

    #[test]
    fn a_wrong_entry_is_named_by_its_file() {
        let (_folder, project) = checkout(&[("c/x", ENTRY.replace("skips", "skipz"))]);
        let message = subjects(&project, Path::new("wirebench")).unwrap_err().to_string();
        assert!(message.contains("c/x/entry.toml") && message.contains("`skipz`"), "{message}");
    }
}
