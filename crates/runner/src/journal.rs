//! Writes the journal of a run: each record is one line and is in the file before the next thing
//! happens.

use jiff::Timestamp;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};
use wirebench_schema::journal::{Journal, Record};

/// The journal's name in the folder of a run.
pub const JOURNAL_FILE: &str = "runs.jsonl";

/// The time now as RFC 3339 in UTC, to the second.
#[must_use]
pub fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Makes a new folder below `parent` that is named after the time and the suite. An error names the
/// folder.
pub fn new_run_folder(parent: &Path, suite: &str) -> io::Result<PathBuf> {
    let name = format!("{}-{suite}", Timestamp::now().strftime("%Y-%m-%d-%H%M%S"));
    fs::create_dir_all(parent).map_err(|error| at(parent, &error))?;
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let folder = parent.join(format!("{name}{suffix}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(at(&folder, &error)),
        }
    }
}

/// An error with the file that it is about.
pub(crate) fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// An open journal.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
}

impl Writer {
    /// Opens the journal in `folder` for appending.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let path = folder.join(JOURNAL_FILE);
        let file = OpenOptions::new().create_new(true).append(true).open(&path)?;
        Ok(Self { file, path })
    }

    /// Appends one record with a single write. The error names the file and what is safe.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.file.write_all(&line).and_then(|()| self.file.sync_data()).map_err(|error| {
            let error = at(&self.path, &error);
            io::Error::new(
                error.kind(),
                format!("{error}; all runs before this one are kept there"),
            )
        })
    }
}

/// Reads the journal in `folder`, or the journal that `folder` itself is.
pub fn read(folder: &Path) -> Result<Journal, String> {
    let path = if folder.is_dir() { folder.join(JOURNAL_FILE) } else { folder.to_owned() };
    let text = fs::read_to_string(&path).map_err(|error| {
        format!("{}: {error}; give the folder that `wirebench run` named", path.display())
    })?;
    Journal::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::journal::{End, EndReason};

    #[test]
    fn a_record_is_in_the_file_as_soon_as_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(folder.path()).unwrap();
        let record = Record::End(End { ended: now(), reason: EndReason::Complete });
        writer.write(&record).unwrap();
        writer.write(&record).unwrap();
        let text = fs::read_to_string(folder.path().join(JOURNAL_FILE)).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert_eq!(serde_json::from_str::<Record>(text.lines().next().unwrap()).unwrap(), record);
        assert!(Writer::create(folder.path()).is_err(), "an existing journal is never touched");
    }

    #[test]
    fn a_full_disk_is_an_error_that_says_what_is_safe() {
        let file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let mut writer = Writer { file, path: PathBuf::from("runs.jsonl") };
        let record = Record::End(End { ended: now(), reason: EndReason::Complete });
        let message = writer.write(&record).unwrap_err().to_string();
        assert!(message.contains("No space left") && message.contains("are kept"), "{message}");
    }

    #[test]
    fn two_runs_in_one_second_get_two_folders() {
        let parent = tempfile::tempdir().unwrap();
        let first = new_run_folder(parent.path(), "quick").unwrap();
        let second = new_run_folder(parent.path(), "quick").unwrap();
        assert_ne!(first, second);
    }

    #[test]
    fn a_folder_without_a_journal_is_answered_with_what_to_give() {
        let folder = tempfile::tempdir().unwrap();
        let message = read(folder.path()).unwrap_err();
        assert!(message.contains("runs.jsonl") && message.contains("wirebench run"), "{message}");
    }
}
