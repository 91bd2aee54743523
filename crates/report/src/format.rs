//! The forms in which every result can be printed for documents and for other programs. One row of a
//! table for each; the option on command lines has the form's name.

mod csv;
pub(crate) mod openmetrics;
mod trackers;

use crate::{Report, analysis::Metric, flat::Flat};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    Markdown,
    Html,
    Csv,
    Json,
    Bencher,
    GithubActionBenchmark,
    Openmetrics,
}

/// What a form is made of.
enum Writer {
    /// A form that each kind of result has of its own.
    Own(fn(&dyn Report) -> String),
    /// A form of rows and figures.
    Flat(fn(&Flat) -> String),
    /// The same without figures that are not valid, because it has no mark for them.
    Valid(fn(&Flat) -> String),
}

#[derive(Clone, Debug)]
pub struct Written {
    pub text: String,
    /// Figures that are missing because they are not valid.
    pub skipped: usize,
    /// What the form has no mark for, a sentence for each server.
    pub remarks: Vec<String>,
}

impl Format {
    pub const ALL: [Self; 7] = [
        Self::Markdown,
        Self::Html,
        Self::Csv,
        Self::Json,
        Self::Bencher,
        Self::GithubActionBenchmark,
        Self::Openmetrics,
    ];

    /// Its name, its help, and what writes it.
    const fn traits(self) -> (&'static str, &'static str, Writer) {
        match self {
            Self::Markdown => (
                "markdown",
                "Print Markdown, for a document or a pull request comment",
                Writer::Own(|report| report.markdown()),
            ),
            Self::Html => (
                "html",
                "Print one HTML file with tables and pictures",
                Writer::Own(|report| report.html()),
            ),
            Self::Csv => {
                ("csv", "Print CSV with a line per workload and server", Writer::Flat(csv::text))
            }
            Self::Json => (
                "json",
                "Print one JSON object with all figures, described in docs/formats.md",
                Writer::Own(|report| report.json()),
            ),
            Self::Bencher => (
                "bencher",
                "Print Bencher Metric Format, JSON for bencher.dev",
                Writer::Valid(trackers::bencher),
            ),
            Self::GithubActionBenchmark => (
                "github-action-benchmark",
                "Print JSON for the action github-action-benchmark",
                Writer::Valid(trackers::github_action_benchmark),
            ),
            Self::Openmetrics => (
                "openmetrics",
                "Print OpenMetrics text, for Prometheus and Grafana",
                Writer::Valid(openmetrics::text),
            ),
        }
    }

    /// The name, which is that of the option.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.traits().0
    }

    #[must_use]
    pub const fn about(self) -> &'static str {
        self.traits().1
    }

    /// A result in this form; forms of rows and figures are limited to `metric`, if there is one.
    #[must_use]
    pub fn write(self, report: &dyn Report, metric: Option<Metric>) -> Written {
        let flat = || report.flat().only(metric);
        match self.traits().2 {
            Writer::Own(write) => Written { text: write(report), skipped: 0, remarks: Vec::new() },
            Writer::Flat(write) => {
                Written { text: write(&flat()), skipped: 0, remarks: Vec::new() }
            }
            Writer::Valid(write) => {
                let flat = flat();
                let (skipped, remarks) = (flat.not_valid(), flat.remarks());
                Written { text: write(&flat), skipped, remarks }
            }
        }
    }
}

#[cfg(test)]
mod tests;
