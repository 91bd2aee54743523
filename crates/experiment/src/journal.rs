//! Writes the journal of a run: each record is one line and is in the file before the next thing
//! happens. It knows nothing of what the records mean.

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use jiff::Timestamp;
use rustix::fs::OFlags;
use std::{
    fmt,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};
use wirebench_schema::{
    argv,
    environment::Environment,
    journal::{Journal, Record, Start},
    secrets,
};

/// The journal's name in the folder of a run.
pub const JOURNAL_FILE: &str = "runs.jsonl";

/// The name of a compressed journal.
pub const ARCHIVE_FILE: &str = "runs.jsonl.gz";

/// The name of the file with the machine.
pub const ENVIRONMENT_FILE: &str = "environment.json";

/// The most that is read of a file, packed or not.
const MOST_BYTES: u64 = 1 << 30;

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Where the last line of a journal is kept that was cut off while it was written.
pub const TORN_FILE: &str = "runs.jsonl.torn";

/// The time now as RFC 3339 in UTC, to the second.
#[must_use]
pub fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The time in UTC at the beginning of the name of a run's folder.
pub const FOLDER_TIME: &str = "%Y-%m-%d-%H%M%S";

/// Makes a new folder below `parent` that is named after the time and the suite. An error names the
/// folder.
pub fn new_run_folder(parent: &Path, suite: &str) -> io::Result<PathBuf> {
    let name = format!("{}-{suite}", Timestamp::now().strftime(FOLDER_TIME));
    fs::create_dir_all(parent).map_err(|error| not_created(parent, &error))?;
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let folder = parent.join(format!("{name}{suffix}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(not_created(&folder, &error)),
        }
    }
}

/// An error with the folder, and with what to do if this user may not write there, as in a project that
/// is installed for all users.
fn not_created(folder: &Path, error: &io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => io::Error::new(
            error.kind(),
            format!("{}: {error}; choose another folder with --output", folder.display()),
        ),
        _ => at(folder, error),
    }
}

/// An error with the file that it is about.
pub(crate) fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The command that makes a run in `folder` go on.
#[must_use]
pub fn resume_command(folder: &Path) -> String {
    let words = ["wirebench", "run", "--resume", &folder.display().to_string()];
    argv::display(&words.map(str::to_owned))
}

/// A journal on disk and in memory, kept alike. The file is locked by the kernel: no other process can open it for
/// writing while this lives, and the lock of a writer that was killed is gone.
#[derive(Debug)]
pub struct OpenJournal {
    file: File,
    pub(crate) folder: PathBuf,
    journal: Journal,
}

impl OpenJournal {
    /// Begins a journal in `folder`, which has none yet. Its head and `further` records are written at once, so that a
    /// journal that has one has the others.
    pub fn begin(folder: &Path, start: Start, further: Vec<Record>) -> io::Result<Self> {
        let path = folder.join(JOURNAL_FILE);
        let file = OpenOptions::new().create_new(true).append(true).open(&path);
        let file = locked(file.map_err(|error| at(&path, &error))?, &path)?;
        let start = if start.keeps_secrets() { start } else { secrets::hidden(start)? };
        let journal = Journal::new(start.clone());
        let mut begun = Self { file, folder: folder.to_owned(), journal };
        begun.write_all([vec![Record::Start(start)], further].concat())?;
        Ok(begun)
    }

    /// Opens the journal in `folder` to go on with it. It stays as it is until the first record.
    pub fn reopen(folder: &Path) -> io::Result<Self> {
        let path = folder.join(JOURNAL_FILE);
        let file = appending().read(true).open(&path);
        let file = file.map_err(|error| io::Error::new(error.kind(), not_there(&path, &error)))?;
        let file = locked(file, &path)?;
        let journal = read(folder).map_err(io::Error::other)?;
        Ok(Self { file, folder: folder.to_owned(), journal })
    }

    /// Everything that has been written down.
    #[must_use]
    pub const fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The folder, and everything that has been written down.
    #[must_use]
    pub fn close(self) -> (PathBuf, Journal) {
        (self.folder, self.journal)
    }

    /// Takes a last line without its line end away, which was cut off while it was written, and
    /// keeps it next to the journal. The answer is its length in bytes.
    pub fn cut_torn_line(&mut self) -> io::Result<usize> {
        let path = self.folder.join(JOURNAL_FILE);
        let bytes = fs::read(&path).map_err(|error| at(&path, &error))?;
        let whole = whole_lines(&bytes);
        if whole < bytes.len() {
            let torn = self.folder.join(TORN_FILE);
            let kept = appending().create(true).open(&torn);
            kept.and_then(|mut file| append_whole(&mut file, &[&bytes[whole..], b"\n"].concat()))
                .map_err(|error| self.goes_on_later(&at(&torn, &error)))?;
            self.file.set_len(whole as u64).map_err(|error| at(&path, &error))?;
        }
        Ok(bytes.len() - whole)
    }

    /// Writes a record down. It is on disk afterwards.
    pub fn write(&mut self, record: Record) -> io::Result<()> {
        self.write_all(vec![record])
    }

    /// Appends records with a single write, without the secrets that a journal does not keep: all of them are on disk
    /// afterwards, or none. The error names the file, what is safe, and how the run goes on.
    pub fn write_all(&mut self, mut records: Vec<Record>) -> io::Result<()> {
        if !self.journal.start.keeps_secrets() {
            records = records.into_iter().map(secrets::hidden).collect::<Result<_, _>>()?;
        }
        let mut lines = Vec::new();
        for record in &records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        let written = self.file.write_all(&lines).and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            let error = at(&self.folder.join(JOURNAL_FILE), &error);
            let safe = "everything before this one is kept there";
            self.goes_on_later(&io::Error::new(error.kind(), format!("{error}; {safe}")))
        })?;
        records.into_iter().for_each(|record| self.journal.add(record));
        Ok(())
    }

    /// An error of writing, with what to do when there is room again.
    fn goes_on_later(&self, error: &io::Error) -> io::Error {
        let resume = resume_command(&self.folder);
        let next = "when it can be written again, continue with";
        io::Error::new(error.kind(), format!("{error}; {next}: {resume}"))
    }
}

/// The journal's file with the lock of its writer.
fn locked(file: File, path: &Path) -> io::Result<File> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let text =
                "another wirebench is writing to it: wait for its end, or end it with Ctrl-C";
            Err(at(path, &io::Error::new(io::ErrorKind::WouldBlock, text)))
        }
        // Some network file systems have no locks. Then other writers cannot be excluded.
        Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
            Err(at(path, &error))
        }
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Appends to a file, and to nothing where a link leads.
fn appending() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options
}

/// Appends all of `bytes` or, as far as the file lets itself be cut again, nothing.
fn append_whole(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let before = file.metadata()?.len();
    file.write_all(bytes).inspect_err(|_| {
        // The write error is the one to report.
        let _ = file.set_len(before);
    })
}

/// How many bytes of a journal are whole lines.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// Reads the journal in `folder`, or the journal that `folder` itself is.
pub fn read(folder: &Path) -> Result<Journal, String> {
    let (path, text) = text(folder)?;
    Journal::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The content of a regular file of moderate size: a pipe or an endless device would never be read.
pub fn regular(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    bounded(File::open(path)?)
}

/// The content of a file that may be compressed.
pub fn unpacked(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if bytes.starts_with(&GZIP) { bounded(MultiGzDecoder::new(&bytes[..])) } else { Ok(bytes) }
}

fn bounded(source: impl io::Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("more than {} MiB", MOST_BYTES >> 20)));
    }
    Ok(bytes)
}

/// The machine of the result in `folder`; none without its file. An error has the next step.
pub fn environment(folder: &Path) -> Result<Option<Environment>, String> {
    let path = folder.join(ENVIRONMENT_FILE);
    let read = match regular(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error),
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from),
    };
    read.map(Some).map_err(|error| {
        format!("{}: {error}; remove the file to go on without the machine", path.display())
    })
}

/// Whether `folder` has a journal.
#[must_use]
pub fn is_in(folder: &Path) -> bool {
    [JOURNAL_FILE, ARCHIVE_FILE].iter().any(|name| folder.join(name).is_file())
}

/// The whole lines of the journal in `folder`, or of the journal that `folder` itself is, and its file.
pub fn text(folder: &Path) -> Result<(PathBuf, String), String> {
    let names = [JOURNAL_FILE, ARCHIVE_FILE].map(|name| folder.join(name));
    let path = match folder.is_dir() {
        true => names.iter().find(|path| path.is_file()).unwrap_or(&names[0]),
        false => folder,
    };
    let damaged =
        |error: &dyn fmt::Display| format!("{}: the journal is damaged: {error}", path.display());
    let bytes = regular(path).map_err(|error| not_there(path, &error))?;
    let mut bytes = unpacked(bytes).map_err(|error| damaged(&error))?;
    // A line that was cut off may end in the middle of a character.
    bytes.truncate(whole_lines(&bytes));
    let text = String::from_utf8(bytes).map_err(|error| damaged(&error))?;
    Ok((path.to_owned(), text))
}

/// Writes a text to a new file, compressed. A journal can then be read, and not be continued.
pub fn archive(path: &Path, text: &str) -> io::Result<()> {
    let file = File::create_new(path).map_err(|error| at(path, &error))?;
    let mut encoder = GzEncoder::new(file, Compression::best());
    let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    written.map(|_| ()).map_err(|error| at(path, &error))
}

fn not_there(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}; give the folder that `wirebench run` named", path.display())
}

#[cfg(test)]
mod tests;
