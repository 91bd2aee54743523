//! The files that a load writes beside its result. They are opened before the load begins, so that
//! a wrong path is known before anything is measured.
//!
//! A file that cannot be written any more, as on a full disk, is told of when the load is over, and
//! takes nothing else along.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};
use wirebench_report::{hgrm, load_csv};
use wirebench_schema::load::{Interval, LoadReport};

use super::options::OutputOptions;
use crate::exit::usage;

/// One file, until it cannot be written any more.
#[derive(Debug)]
struct Sink {
    option: &'static str,
    path: PathBuf,
    file: File,
    failure: Option<io::Error>,
}

impl Sink {
    /// Writes at once; after a failure nothing more.
    fn write(&mut self, text: &str) {
        if self.failure.is_none() {
            let written = self.file.write_all(text.as_bytes());
            self.failure = written.and_then(|()| self.file.flush()).err();
        }
    }

    fn complaint(&self) -> Option<String> {
        let (path, failure) = (self.path.display(), self.failure.as_ref()?);
        Some(format!(
            "`{path}` could not be written ({failure}): make room there, or give {} another file",
            self.option
        ))
    }
}

/// The files of one load.
#[derive(Debug)]
pub(crate) struct Files {
    csv: Option<Sink>,
    hgrm: Option<Sink>,
    intervals: Option<Sink>,
}

impl Files {
    /// Opens all that were asked for, and writes what is known already.
    pub(crate) fn open(options: &OutputOptions) -> anyhow::Result<Self> {
        let given = [
            ("--csv", &options.csv),
            ("--hgrm", &options.hgrm),
            ("--intervals", &options.intervals),
        ];
        for (place, (option, path)) in given.iter().enumerate() {
            let twin = given[..place].iter().find(|(_, other)| path.is_some() && other == path);
            if let (Some((twin, _)), Some(path)) = (twin, path) {
                let path = path.display();
                return Err(usage(format!(
                    "{twin} and {option} both name `{path}`: give each a file of its own"
                )));
            }
        }
        let csv = options.csv.as_deref().map(|path| open_csv("--csv", path)).transpose()?;
        let mut hgrm = options.hgrm.as_deref().map(|path| create("--hgrm", path)).transpose()?;
        if let Some(sink) = &mut hgrm {
            sink.write(hgrm::HEADING);
        }
        let intervals = options.intervals.as_deref();
        let intervals = intervals.map(|path| create("--intervals", path)).transpose()?;
        let files = Self { csv, hgrm, intervals };
        match files.complaints().first() {
            Some(complaint) => Err(anyhow::anyhow!(complaint.clone())),
            None => Ok(files),
        }
    }

    /// An interval has passed.
    pub(crate) fn interval(&mut self, interval: &Interval) {
        // An interval is plain data; it can always be written as JSON.
        if let (Some(sink), Ok(line)) = (&mut self.intervals, serde_json::to_string(interval)) {
            sink.write(&format!("{line}\n"));
        }
    }

    /// The load, which began then, is over.
    pub(crate) fn report(&mut self, report: &LoadReport, started: &str) {
        if let Some(sink) = &mut self.csv {
            sink.write(&load_csv::row(report, started));
        }
        if let Some(sink) = &mut self.hgrm {
            sink.write(&hgrm::table(report.latency.as_ref()));
        }
    }

    /// One sentence for each file that could not be written.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let sinks = [&self.csv, &self.hgrm, &self.intervals];
        sinks.into_iter().flatten().filter_map(Sink::complaint).collect()
    }
}

fn cannot_open(option: &str, path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("{option} `{}` cannot be opened ({error}): give another file", path.display())
}

fn create(option: &'static str, path: &Path) -> anyhow::Result<Sink> {
    let file = File::create(path).map_err(|error| cannot_open(option, path, &error))?;
    Ok(Sink { option, path: path.to_owned(), file, failure: None })
}

/// A table to which a row will be added. A new one gets its first line now.
fn open_csv(option: &'static str, path: &Path) -> anyhow::Result<Sink> {
    let cannot = |error: io::Error| cannot_open(option, path, &error);
    let file = OpenOptions::new().append(true).create(true).open(path).map_err(cannot)?;
    let header = load_csv::header();
    let mut before = String::new();
    // What is no file, such as /dev/stdout, cannot be read and has no lines from earlier.
    if file.metadata().map_err(cannot)?.is_file() {
        File::open(path).and_then(|mut file| file.read_to_string(&mut before)).map_err(cannot)?;
    }
    let mut sink = Sink { option, path: path.to_owned(), file, failure: None };
    if before.is_empty() {
        sink.write(&header);
    } else if !before.starts_with(&header) || !before.ends_with('\n') {
        return Err(usage(format!(
            "`{}` is not a table of loads with these columns: give {option} a new file",
            path.display()
        )));
    }
    Ok(sink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use wirebench_schema::load::{EngineChoice, LoadConfig};

    fn report() -> LoadReport {
        let config = LoadConfig::new("tcp://127.0.0.1:80".parse().unwrap());
        LoadReport::new("0".into(), config, EngineChoice::Epoll)
    }

    fn csv(path: &Path) -> anyhow::Result<Files> {
        let csv = Some(open_csv("--csv", path)?);
        Ok(Files { csv, hgrm: None, intervals: None })
    }

    #[test]
    fn a_table_gets_one_header_and_a_row_for_each_load() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loads.csv");
        for _ in 0..3 {
            csv(&path).unwrap().report(&report(), "2026-01-02T03:04:05Z");
        }
        let text = fs::read_to_string(path).unwrap();
        assert_eq!(text.lines().count(), 4);
        assert_eq!(text.matches("started").count(), 1);
        assert_eq!(text.matches("2026-01-02T03:04:05Z,").count(), 3);
    }

    #[test]
    fn a_table_with_other_columns_or_half_a_row_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loads.csv");
        for before in ["a,b\n1,2\n".to_owned(), load_csv::header() + "half a row"] {
            fs::write(&path, &before).unwrap();
            let message = csv(&path).unwrap_err().to_string();
            assert!(message.contains("give --csv a new file"), "{message}");
            assert_eq!(fs::read_to_string(&path).unwrap(), before);
        }
    }

    #[test]
    fn a_full_disk_is_known_at_the_first_line() {
        let files = csv(Path::new("/dev/full")).unwrap();
        let complaint = &files.complaints()[0];
        assert!(complaint.contains("`/dev/full` could not be written (No space"), "{complaint}");
    }

    #[test]
    fn after_a_failure_nothing_more_is_written_and_the_first_reason_stays() {
        let mut sink = create("--hgrm", Path::new("/dev/full")).unwrap();
        sink.write("a");
        let folder = tempfile::tempdir().unwrap();
        sink.file = File::create(folder.path().join("x")).unwrap();
        sink.write("b");
        assert!(sink.complaint().unwrap().contains("No space"));
        assert_eq!(fs::read_to_string(folder.path().join("x")).unwrap(), "");
    }
}
