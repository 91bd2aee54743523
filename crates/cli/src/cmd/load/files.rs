//! The files that a load writes in addition to its result. They are opened before the load begins, so that
//! a wrong path is known before anything is measured; what they held before is lost only when there
//! is something to take its place.
//!
//! A file that can no longer be written, for example on a full disk, is reported after the load and
//! does not stop it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};
use wirebench_report::{
    Report as _,
    format::{Format, csv},
    hgrm,
    load::{Load, LoadMetrics},
};
use wirebench_schema::load::{Interval, LoadConfig, LoadResult};

use super::options::OutputOptions;
use crate::exit::usage;

/// One file, until it cannot be written any more.
#[derive(Debug)]
struct Sink {
    option: &'static str,
    path: PathBuf,
    file: File,
    /// True if it holds something from before, as of an earlier load.
    is_old: bool,
    failure: Option<io::Error>,
}

impl Sink {
    /// Opens it without losing what it holds.
    fn open(option: &'static str, path: &Path, how: &mut OpenOptions) -> anyhow::Result<Self> {
        let cannot = |error: io::Error| cannot_open(option, path, &error);
        if path == Path::new("-") {
            return Err(usage(format!(
                "{option} `-` is no file, and standard output has the result: give a path, or ./- for that name"
            )));
        }
        if let Some(kind) = unwritable(path) {
            return Err(usage(format!(
                "{option} `{}` is a {kind}: give a file, or a device such as /dev/null",
                path.display()
            )));
        }
        let file = how.create(true).open(path).map_err(cannot)?;
        let metadata = file.metadata().map_err(cannot)?;
        let is_old = metadata.is_file() && metadata.len() > 0;
        Ok(Self { option, path: path.to_owned(), file, is_old, failure: None })
    }

    fn anew(option: &'static str, path: &Path) -> anyhow::Result<Self> {
        Self::open(option, path, OpenOptions::new().write(true).truncate(false))
    }

    fn clear(&mut self) {
        if self.is_old && self.failure.is_none() {
            self.failure = self.file.set_len(0).err();
            self.is_old = false;
        }
    }

    /// Replaces the content by `text`. A reader finds either of them as a whole.
    fn replace(&mut self, text: &str) {
        if self.failure.is_some() || !self.file.metadata().is_ok_and(|it| it.is_file()) {
            return self.write(text);
        }
        // A link stays one.
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let new = path.with_added_extension("new");
        let replaced = fs::write(&new, text).and_then(|()| fs::rename(&new, &path));
        self.failure = replaced.inspect_err(|_| _ = fs::remove_file(&new)).err();
    }

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

#[derive(Debug)]
pub(crate) struct Files {
    csv: Option<Table>,
    hgrm: Option<Sink>,
    /// With what has been seen of the load.
    openmetrics: Option<(Sink, LoadMetrics)>,
    intervals: Option<Sink>,
}

impl Files {
    /// Opens all that were asked for. What holds nothing gets its first lines now, so that a full
    /// disk is known.
    pub(crate) fn open(options: &OutputOptions, config: &LoadConfig) -> anyhow::Result<Self> {
        let given = [
            ("--csv", &options.csv),
            ("--hgrm", &options.hgrm),
            ("--openmetrics", &options.openmetrics),
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
        let csv = options.csv.as_deref().map(|path| Table::open("--csv", path)).transpose()?;
        let anew = |option, path: &Option<PathBuf>| {
            path.as_deref().map(|path| Sink::anew(option, path)).transpose()
        };
        let mut hgrm = anew("--hgrm", &options.hgrm)?;
        if let Some(sink) = hgrm.as_mut().filter(|sink| !sink.is_old) {
            sink.write(hgrm::HEADING);
        }
        let openmetrics = anew("--openmetrics", &options.openmetrics)?;
        let openmetrics = openmetrics.map(|sink| (sink, LoadMetrics::new(config)));
        let intervals = anew("--intervals", &options.intervals)?;
        let files = Self { csv, hgrm, openmetrics, intervals };
        match files.complaints().first() {
            Some(complaint) => Err(anyhow::anyhow!(complaint.clone())),
            None => Ok(files),
        }
    }

    /// The load has begun: its intervals take the place of earlier ones.
    pub(crate) fn begin(&mut self, connections: usize) {
        if let Some((_, metrics)) = &mut self.openmetrics {
            metrics.connected(connections);
        }
        if let Some(sink) = &mut self.intervals {
            sink.clear();
        }
    }

    pub(crate) fn interval(&mut self, interval: &Interval) {
        // An interval is plain data; it can always be written as JSON.
        if let (Some(sink), Ok(line)) = (&mut self.intervals, serde_json::to_string(interval)) {
            sink.write(&format!("{line}\n"));
        }
        if let Some((sink, metrics)) = &mut self.openmetrics {
            metrics.add(interval);
            sink.replace(&metrics.text());
        }
    }

    /// The load is over.
    pub(crate) fn report(&mut self, result: &LoadResult) {
        let report = &result.report;
        let load = Load { result, machine: None, gate: None };
        if let Some(table) = &mut self.csv {
            table.add(&csv::lines(&load.view()));
        }
        if let Some(sink) = &mut self.hgrm {
            if sink.is_old {
                sink.clear();
                sink.write(hgrm::HEADING);
            }
            sink.write(&hgrm::table(report.latency.as_ref()));
        }
        if let Some((sink, _)) = &mut self.openmetrics {
            sink.replace(&Format::Openmetrics.write(&load, None).text);
        }
    }

    /// One sentence for each file that could not be written.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let csv = self.csv.as_ref().map(|table| &table.sink);
        let openmetrics = self.openmetrics.as_ref().map(|(sink, _)| sink);
        let sinks = [csv, self.hgrm.as_ref(), openmetrics, self.intervals.as_ref()].into_iter();
        sinks.flatten().filter_map(Sink::complaint).collect()
    }
}

fn cannot_open(option: &str, path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("{option} `{}` cannot be opened ({error}): give another file", path.display())
}

/// What it is, if it exists and is nothing to write a result to. It is asked before the file is
/// opened: to open a pipe is to wait for its reader.
fn unwritable(path: &Path) -> Option<&'static str> {
    let kind = fs::metadata(path).ok()?.file_type();
    match () {
        () if kind.is_file() || kind.is_char_device() => None,
        () if kind.is_dir() => Some("folder"),
        () if kind.is_fifo() => Some("pipe"),
        () if kind.is_socket() => Some("socket"),
        () => Some("block device"),
    }
}

/// A table to which lines are added.
#[derive(Debug)]
struct Table {
    sink: Sink,
    /// What its last line lacks, as after a program that was ended while it wrote.
    missing: &'static str,
}

impl Table {
    /// A new one gets its first line now.
    fn open(option: &'static str, path: &Path) -> anyhow::Result<Self> {
        let mut sink = Sink::open(option, path, OpenOptions::new().append(true))?;
        let header = csv::header();
        if !sink.is_old {
            sink.write(&header);
            return Ok(Self { sink, missing: "" });
        }
        let ends = ends(path, header.len()).map_err(|error| cannot_open(option, path, &error))?;
        // The first line may be all that there is, and lack its end too.
        let (first, last) = ends;
        if first != header.as_bytes() && first != header.trim_end().as_bytes() {
            return Err(usage(format!(
                "`{}` is not a table of loads with these columns: give {option} a new file",
                path.display()
            )));
        }
        Ok(Self { sink, missing: if last == b'\n' { "" } else { "\n" } })
    }

    fn add(&mut self, rows: &str) {
        self.sink.write(&format!("{}{rows}", self.missing));
        self.missing = "";
    }
}

/// The first bytes of a file that is not empty, and its last one.
fn ends(path: &Path, length: usize) -> io::Result<(Vec<u8>, u8)> {
    let mut file = File::open(path)?;
    let mut first = Vec::new();
    (&mut file).take(length as u64).read_to_end(&mut first)?;
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok((first, last[0]))
}

#[cfg(test)]
mod tests;
