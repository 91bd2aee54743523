//! The summary that a site keeps of a run or a load, so that its file is read once.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use wirebench_schema::{environment::Environment, journal::Journal, labels::Labels};
use wirebench_stats::median;

use crate::{
    ab::{Ab, AbOptions},
    analysis::Analysis,
    screen::{self, Point},
    tune::Tuned,
};

/// Summaries of other formats are made anew.
pub const FORMAT: u32 = 3;

/// A run or a load in a few lines.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Summary {
    /// [`FORMAT`].
    pub format: u32,
    /// The digest of its file, which is the name of its folder.
    pub id: String,
    /// The digest of its first record: the same for all journals of a run that was resumed.
    pub origin: String,
    /// When it began, as RFC 3339 in UTC.
    pub started: String,
    #[serde(flatten)]
    pub labels: Labels,
    pub suite: String,
    /// A digest of its workloads: only runs with the same ones are compared.
    pub workloads: String,
    /// A digest of the requests of a user's own; each other scenario has its contract.
    pub requests: String,
    /// The result in a sentence or two.
    pub sentence: String,
    pub machine: Machine,
    /// Runs in its journal. Of two summaries of one run the one with more of them counts.
    pub runs: usize,
    /// The median half width of its ratios' intervals, as a share; absent without intervals.
    pub noise: Option<f64>,
    /// The share of its visits that were disturbed; absent without visits.
    pub disturbed: Option<f64>,
    pub points: Vec<Point>,
    /// Absent of runs.
    #[serde(default)]
    pub load: Option<LoadPoint>,
}

/// The part of a load that runs do not have.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct LoadPoint {
    pub requests_per_second: f64,
    /// Why it is not valid; empty if it is.
    pub doubts: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Machine {
    /// The same for all runs on it.
    pub key: String,
    /// Its CPU and how many of them.
    pub name: String,
}

/// The summary of a journal of which `id` is the digest, and `origin` that of its first record.
#[must_use]
pub fn summary(
    (id, origin): (&str, &str),
    analysis: &Analysis<'_>,
    environment: Option<&Environment>,
) -> Summary {
    let journal = analysis.journal;
    let (of_run, points) = screen::summary(analysis);
    // The sides of `ab` and the cells of `tune` are compared within their result: their names mean nothing in others.
    let (sentence, points) = match headline(journal) {
        Some(sentence) => (sentence, Vec::new()),
        None => (of_run, points),
    };
    let workloads = &journal.start.workloads;
    let ratios = points.iter().filter_map(|point| point.ratio);
    let widths =
        ratios.filter_map(|(value, ends)| ends.map(|(low, high)| (high - low) / 2.0 / value));
    Summary {
        format: FORMAT,
        id: id.to_owned(),
        origin: origin.to_owned(),
        started: journal.start.started.clone(),
        labels: journal.start.labels.clone(),
        suite: journal.start.suite.clone(),
        workloads: digest(workloads),
        requests: digest(
            workloads.iter().filter_map(|it| it.requests.as_ref()).collect::<Vec<_>>(),
        ),
        sentence,
        machine: machine(environment),
        runs: journal.runs.len(),
        noise: median(&widths.collect::<Vec<_>>()),
        disturbed: disturbed(journal),
        points,
        load: None,
    }
}

impl Summary {
    /// The path of its page.
    pub(super) fn page(&self) -> String {
        let folder = if self.load.is_some() { "loads" } else { "runs" };
        format!("{folder}/{}/index.html", self.id)
    }
}

/// The result of `ab` or `tune` in a sentence.
fn headline(journal: &Journal) -> Option<String> {
    let ab = Ab::of(journal, &AbOptions::default()).map(|ab| ab.sentence());
    ab.or_else(|| Some(Tuned::of(journal)?.sentence()))
}

pub(super) fn digest(of: impl Serialize) -> String {
    let text = serde_json::to_string(&of).unwrap_or_default();
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The machine by its number, or by what it looks like.
pub(super) fn machine(environment: Option<&Environment>) -> Machine {
    let Some(environment) = environment else {
        return Machine { key: "unknown".to_owned(), name: "unknown machine".to_owned() };
    };
    let model = environment.cpu_model.as_deref().unwrap_or("unknown CPU");
    let name = format!("{model}, {} CPUs", environment.cpus_online);
    let words = |text: &str| -> String {
        let kept = text.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' });
        kept.collect::<String>().to_lowercase()
    };
    let number = environment.machine.as_deref().unwrap_or("").chars().take(8).collect::<String>();
    Machine { key: words(&format!("{name} {number}")), name }
}

fn disturbed(journal: &Journal) -> Option<f64> {
    let measured = journal.runs.iter().filter_map(|run| run.outcome.measured());
    let (all, dropped) =
        measured.flat_map(|it| &it.visits).fold((0, 0), |(all, dropped), visit| {
            (all + 1, dropped + usize::from(visit.dropped.is_some()))
        });
    (all > 0).then(|| dropped as f64 / all as f64)
}

/// The label and the revision of what was measured.
pub(super) fn version(Labels { label, revision }: &Labels) -> String {
    let words: Vec<&str> = [label, revision].into_iter().flatten().map(String::as_str).collect();
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}
