//! The forms in which every result can be printed for documents and for other programs. One row of a
//! table for each; `--format` takes its name.

pub mod csv;
pub(crate) mod openmetrics;
mod trackers;

use crate::{Report, analysis::Metric, view::ResultView};

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

wirebench_schema::names! {
    Format: Markdown = "markdown", Html = "html", Csv = "csv", Json = "json", Bencher = "bencher",
    GithubActionBenchmark = "github-action-benchmark", Openmetrics = "openmetrics",
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
    /// A result in this form; forms of rows and figures are limited to `metric`, if there is one.
    #[must_use]
    pub fn write(self, report: &dyn Report, metric: Option<Metric>) -> Written {
        let view = || report.view().only(metric);
        let whole = |text| Written { text, skipped: 0, remarks: Vec::new() };
        // Without figures that are not valid, because the form has no mark for them.
        let valid = |write: fn(&ResultView<'_>) -> String| {
            let view = view();
            Written { text: write(&view), skipped: view.not_valid(), remarks: view.remarks() }
        };
        match self {
            Self::Markdown => whole(report.markdown()),
            Self::Html => whole(report.html()),
            Self::Csv => {
                let view = view();
                Written { remarks: view.absent(), ..whole(csv::text(&view)) }
            }
            Self::Json => whole(report.json()),
            Self::Bencher => valid(trackers::bencher),
            Self::GithubActionBenchmark => valid(trackers::github_action_benchmark),
            Self::Openmetrics => valid(openmetrics::text),
        }
    }
}

#[cfg(test)]
mod tests;
