//! The folder of a result: its report files, and the page that `run` and `report` print from its
//! journal, with the machine, the time taken and colours.

use anyhow::Context as _;
use jiff::Timestamp;
use std::{fs, io, path::Path, time::Duration};
use wirebench_experiment::{experiment::Finished, journal};
use wirebench_report::{
    Report, commands,
    compare::Side,
    document::Look,
    gates::Gate,
    screen::{Facts, live_page},
    why,
};
use wirebench_schema::{
    argv, environment::Environment, journal::Journal, printable::printable, secrets,
};

use crate::{args::format::redacted, exit::usage, out};

/// The flame graphs of `--why`.
const WHY_FOLDER: &str = "why";
const DETAILS_FILE: &str = "report.txt";
pub(crate) const HTML_FILE: &str = "report.html";

/// Writes the report files of `finished`.
pub(crate) fn write(finished: &Finished, report: &dyn Report) -> anyhow::Result<()> {
    let files = [
        (DETAILS_FILE, report.details()),
        ("report.md", redacted(&report.markdown())),
        (HTML_FILE, redacted(&report.html())),
        (report.json_file(), redacted(&report.json())),
        ("commands.txt", commands::text(&finished.journal)),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text));
    let of_why = why::files(&finished.journal);
    let of_why = of_why.into_iter().map(|(name, text)| (format!("{WHY_FOLDER}/{name}"), text));
    for (name, text) in files.into_iter().chain(of_why) {
        let path = finished.folder.join(name);
        // What cannot be made is reported with the file.
        let _ = path.parent().map(fs::create_dir_all);
        // A link in a result from elsewhere may lead to any file.
        let _ = fs::remove_file(&path);
        fs::write(&path, &*printable(&text)).with_context(|| {
            format!(
                "cannot write {}; all figures are in the journal, and `wirebench report {}` shows them",
                path.display(),
                finished.folder.display()
            )
        })?;
    }
    Ok(())
}

/// A result that is compared with another one.
pub(crate) struct Stored {
    pub(crate) journal: Journal,
    environment: Option<Environment>,
}

impl Stored {
    pub(crate) fn read(result: &Path) -> Result<Self, String> {
        let journal = self::journal(result)?;
        Ok(Self { journal, environment: journal::environment(folder(result))? })
    }

    pub(crate) fn side<'a>(&'a self, name: &'a str) -> Side<'a> {
        Side { name, journal: &self.journal, environment: self.environment.as_ref() }
    }
}

/// The journal of a result without secrets, unless they are asked for.
pub(crate) fn journal(result: &Path) -> Result<Journal, String> {
    let (path, text) = journal::text(result)?;
    Journal::parse(&out::hide(text, |it| secrets::hidden_json(&it)))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// What a page shows besides the figures of a journal.
#[derive(Debug)]
pub(crate) struct Known {
    machine: Option<String>,
    elapsed: Option<Duration>,
    folder: String,
}

impl Known {
    /// Of the journal in `folder`.
    pub(crate) fn of(journal: &Journal, folder: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            machine: machine(folder)?,
            elapsed: elapsed(journal),
            folder: argv::display(&[folder.to_string_lossy().into_owned()]),
        })
    }

    /// The same for a page that looks like this, with the result of conditions.
    pub(crate) fn facts<'a>(&'a self, look: Look, gate: Option<&'a Gate>) -> Facts<'a> {
        Facts {
            machine: self.machine.as_deref(),
            elapsed: self.elapsed,
            look,
            columns: out::columns(),
            folder: Some(&self.folder),
            gate,
        }
    }
}

/// The table of a run in progress, for standard error.
pub(crate) fn live(journal: &Journal) -> String {
    let look = if out::colours() { Look::Colours } else { Look::Plain };
    let columns = wirebench_sys::terminal::columns(&io::stderr());
    live_page(journal, &Facts { look, columns, ..Facts::default() })
}

/// Where the result is that a browser shows.
pub(crate) fn place(folder: &Path) -> String {
    let file = folder.join(HTML_FILE);
    let here = std::env::current_dir().ok();
    let shown = here.and_then(|here| file.strip_prefix(here).ok());
    format!("Report: {}", shown.unwrap_or(&file).display())
}

/// The folder of a result that may be named by its journal.
pub(crate) fn folder(result: &Path) -> &Path {
    let folder = if result.is_dir() { Some(result) } else { result.parent() };
    folder.unwrap_or(result)
}

pub(crate) fn machine(folder: &Path) -> anyhow::Result<Option<String>> {
    let environment = journal::environment(folder).map_err(usage)?;
    Ok(environment.as_ref().and_then(cpu))
}

/// The CPU in a few words.
pub(crate) fn cpu(environment: &Environment) -> Option<String> {
    environment.cpu_model.as_deref().map(short)
}

/// The model without the words that all models have.
fn short(model: &str) -> String {
    let model = model.split('@').next().unwrap_or(model).replace("(R)", "").replace("(TM)", "");
    let words = model.split_whitespace().filter(|word| !["CPU", "Processor"].contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// From the beginning to the end. A run that was resumed has a pause in it that is not known.
fn elapsed(journal: &Journal) -> Option<Duration> {
    let end = journal.end.as_ref().filter(|_| journal.resumed.is_empty())?;
    let time = |text: &str| text.parse::<Timestamp>().ok();
    time(&end.ended)?.duration_since(time(&journal.start.started)?).try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_shown_without_their_decoration() {
        let models = ["AMD EPYC 7763 64-Core Processor", "Intel(R) Xeon(R) CPU @ 2.20GHz"];
        assert_eq!(models.map(short), ["AMD EPYC 7763 64-Core", "Intel Xeon"]);
    }
}
