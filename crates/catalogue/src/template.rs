//! Fresh entries: files that build, pass `verify` for `hello` and wait to be changed. They are part
//! of the program, so that an entry can be begun wherever there is a checkout.

use std::{
    fs, io,
    path::{Path, PathBuf},
};
use wirebench_schema::id::VariantId;

/// A file of a template: its name in the entry's folder, and its text.
type File = (&'static str, &'static str);

macro_rules! template {
    ($language:literal: $($file:tt),+) => { ($language, &[$(($file, text!($language, $file))),+]) };
}

macro_rules! text {
    // Cargo excludes a folder with a manifest from the package of this crate.
    ($language:literal, "Cargo.toml") => {
        text!($language, "Cargo.toml.in")
    };
    ($language:literal, $file:literal) => {
        include_str!(concat!("../templates/", $language, "/", $file))
    };
}

/// The languages for which there is a server already.
const TEMPLATES: [(&str, &[File]); 7] = [
    template!("c": "entry.toml", "README.md", "main.c"),
    template!("cpp": "entry.toml", "README.md", "main.cpp"),
    template!("rust": "entry.toml", "README.md", "Cargo.toml", "Cargo.lock", "src/main.rs"),
    template!("go": "entry.toml", "README.md", "go.mod", "main.go"),
    template!("python": "entry.toml", "README.md", "server.py"),
    template!("node": "entry.toml", "README.md", "server.js"),
    template!("java": "entry.toml", "README.md", "Server.java"),
];

/// For all other languages: a description that explains itself, and no server.
const OTHER: &[File] = template!("other": "entry.toml", "README.md").1;

/// An entry that has just been made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewEntry {
    pub folder: PathBuf,
    pub files: Vec<&'static str>,
    /// Whether a server is among them.
    pub state: State,
}

/// How far a fresh entry is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// It builds and serves `hello`.
    Serves,
    /// The server is still to be written.
    Describes,
}

/// Why no entry was made. Each message is a sentence with the next step.
#[derive(Debug, thiserror::Error)]
pub enum NewError {
    #[error("{0}")]
    Name(String),
    #[error("{0} exists already: choose another name, or remove it first")]
    Exists(String),
    #[error("{path}: {error}", path = .path.display())]
    Io { path: PathBuf, error: io::Error },
}

/// The languages for which there is a server already.
pub fn languages() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().map(|(language, _)| *language)
}

/// Makes the entry `name`, such as `c/mine`, below the folder `entries`.
pub fn create(entries: &Path, name: &str) -> Result<NewEntry, NewError> {
    let id = VariantId::new(name, None).map_err(|_| {
        NewError::Name(format!(
            "`{name}` is not an entry's name: write LANGUAGE/NAME, such as rust/mine, in letters, \
             digits, `.`, `_` and `-`"
        ))
    })?;
    let (language, own) = id.entry().split_once('/').unwrap_or_default();
    if language.starts_with('-') {
        return Err(NewError::Name(format!(
            "`{name}` begins with `-` and would be taken for an option: begin with a letter"
        )));
    }
    if wirebench_schema::entry::RESERVED.contains(&language) {
        let reason = format!("`{language}/` is reserved: use the name of another language");
        return Err(NewError::Name(reason));
    }
    if own == wirebench_schema::entry::SHARED {
        let reason = format!("`{own}` is the folder of what entries share: choose another name");
        return Err(NewError::Name(reason));
    }
    let folder = entries.join(language).join(own);
    if folder.symlink_metadata().is_ok() {
        return Err(NewError::Exists(format!("entries/{}", id.entry())));
    }
    let known = TEMPLATES.iter().find(|(known, _)| *known == language);
    let (files, state) = match known {
        Some((_, files)) => (*files, State::Serves),
        None => (OTHER, State::Describes),
    };
    let fill = |text: &str| {
        text.replace("@NAME@", own).replace("@LANGUAGE@", language).replace("@ID@", id.entry())
    };
    let filled: Vec<(&str, String)> =
        files.iter().map(|(file, text)| (*file, fill(text))).collect();
    write_all(&folder, &filled)?;
    Ok(NewEntry { folder, files: files.iter().map(|(file, _)| *file).collect(), state })
}

/// Writes all files of a new folder, or leaves none: a part of an entry would be in the way of the
/// next attempt.
fn write_all(folder: &Path, files: &[(&str, String)]) -> Result<(), NewError> {
    let written = files.iter().try_for_each(|(file, text)| write(&folder.join(file), text));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_dir_all(folder);
        // The folder of the language stays when there is something else in it.
        let _ = folder.parent().map(fs::remove_dir);
    }
    written
}

fn write(path: &Path, text: &str) -> Result<(), NewError> {
    let result = path.parent().map_or(Ok(()), fs::create_dir_all);
    result
        .and_then(|()| fs::write(path, text))
        .map_err(|error| NewError::Io { path: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;
    use wirebench_schema::entry::Entry;

    #[test]
    fn every_template_has_a_valid_description_and_leaves_no_mark_behind() {
        let folder = tempfile::tempdir().unwrap();
        for language in languages().chain(["zig"]) {
            let name = format!("{language}/mine.2");
            let fresh = create(folder.path(), &name).unwrap();
            assert_eq!(fresh.state == State::Describes, language == "zig");
            for file in &fresh.files {
                let text = fs::read_to_string(fresh.folder.join(file)).unwrap();
                for mark in ["@NAME@", "@LANGUAGE@", "@ID@"] {
                    assert!(!text.contains(mark), "{language}/{file}");
                }
                assert!(text.lines().all(|line| line.len() <= 120), "{language}/{file}");
            }
            let text = fs::read_to_string(fresh.folder.join("entry.toml")).unwrap();
            let entry = Entry::parse(&name, &text).unwrap();
            assert_eq!((entry.variants.len(), entry.title.as_str()), (1, "mine.2"));
        }
    }

    #[test]
    fn names_that_cannot_be_used_or_are_taken_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("c/taken")).unwrap();
        let names = ["c", "c/a:b", "../x/y", "c/..", "builtin/mine", "c/shared", "-a/b", "c/taken"];
        let messages = names
            .map(|name| format!("{name}\n  {}\n", create(folder.path(), name).unwrap_err()))
            .concat()
            .replace(folder.path().to_str().unwrap(), "FOLDER");
        expect_file!["golden/template.txt"].assert_eq(&messages);
    }

    #[test]
    fn an_entry_that_cannot_be_written_leaves_nothing_in_the_way_of_the_next_attempt() {
        let folder = tempfile::tempdir().unwrap();
        // Below a file there is no place for another one.
        let files = [("main.c", String::new()), ("main.c/part.c", String::new())];
        let write = || write_all(&folder.path().join("c/mine"), &files);
        assert!(matches!(write(), Err(NewError::Io { .. })));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        create(folder.path(), "c/other").unwrap();
        assert!(write().is_err());
        let left: Vec<_> = fs::read_dir(folder.path().join("c")).unwrap().flatten().collect();
        assert_eq!(left.len(), 1);
        assert!(folder.path().join("c/other/main.c").exists());
    }
}
