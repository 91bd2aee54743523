//! Small text files below a root folder. What cannot be read is absent.

use std::{
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

/// The files below a root folder.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a>(pub &'a Path);

impl Files<'_> {
    /// The place of `path`, absolute or not, below the root.
    #[must_use]
    pub fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    #[must_use]
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        fs::read_to_string(self.at(path)).ok()
    }

    /// The file as one value: without space around it, with spaces for tabs. Nothing when it is
    /// empty.
    #[must_use]
    pub fn line(&self, path: impl AsRef<Path>) -> Option<String> {
        let text = self.text(path)?;
        let line = text.trim().replace('\t', " ");
        (!line.is_empty()).then_some(line)
    }

    #[must_use]
    pub fn number<T: FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.line(path)?.parse().ok()
    }

    /// The rest of the first line that begins with `key`.
    #[must_use]
    pub fn value(&self, path: impl AsRef<Path>, key: &str) -> Option<String> {
        let text = self.text(path)?;
        let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
        Some(rest.trim().to_owned())
    }

    /// The text after the colon of the first line that is named `key`.
    #[must_use]
    pub fn field(&self, path: impl AsRef<Path>, key: &str) -> Option<String> {
        let text = self.text(path)?;
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = fields.find(|(name, _)| name.trim() == key)?;
        Some(value.trim().to_owned())
    }

    /// The names in a folder, in order.
    #[must_use]
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let folder = fs::read_dir(self.at(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            folder.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
