//! The first screen of a result with what only its folder and this terminal know: the machine, the
//! time that it took, colours, and where the details are.

use jiff::Timestamp;
use std::{fs, path::Path, time::Duration};
use wirebench_experiment::experiment::ENVIRONMENT_FILE;
use wirebench_report::{
    screen::{Facts, live_page, page},
    tune::Look,
};
use wirebench_schema::{environment::Environment, journal::Journal};

use crate::out;

/// The file with all details.
pub(crate) const DETAILS_FILE: &str = "report.txt";

/// The first screen of the journal that is in `folder`.
pub(crate) fn of(journal: &Journal, folder: &Path) -> String {
    let machine = machine(folder);
    let elapsed = elapsed(journal);
    page(journal, &Facts { machine: machine.as_deref(), elapsed, look: out::look() })
}

/// The table of a run that goes on, for standard error.
pub(crate) fn live(journal: &Journal) -> String {
    let look = if out::colours() { Look::Colours } else { Look::Plain };
    live_page(journal, &Facts { machine: None, elapsed: None, look })
}

/// Where the details of a result are.
pub(crate) fn place(folder: &Path) -> String {
    let file = folder.join(DETAILS_FILE);
    let here = std::env::current_dir().ok();
    let shown = here.and_then(|here| file.strip_prefix(here).ok());
    format!("Report: {}", shown.unwrap_or(&file).display())
}

/// The folder of a result that may be named by its journal.
pub(crate) fn folder(result: &Path) -> &Path {
    let folder = if result.is_dir() { Some(result) } else { result.parent() };
    folder.unwrap_or(result)
}

fn machine(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(ENVIRONMENT_FILE)).ok()?;
    let environment: Environment = serde_json::from_str(&text).ok()?;
    Some(short(&environment.cpu_model?))
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
