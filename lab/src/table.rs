//! Tables of the benches: one line names the columns, and an absent figure is a dash.

use wirebench_report::table::{Style, listing};
use wirebench_stats::median;

/// A table in text. Columns from `figures` on are aligned to the right.
pub(crate) fn text(head: &str, figures: usize, rows: Vec<Vec<String>>) -> String {
    listing(Style::Text, &head.split(" | ").collect::<Vec<_>>(), figures, rows)
}

/// A table in Markdown, all columns of which are figures.
pub(crate) fn markdown(head: &str, rows: Vec<Vec<String>>) -> String {
    listing(Style::Markdown, &head.split(" | ").collect::<Vec<_>>(), 0, rows)
}

pub(crate) fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |it| format!("{it:.digits$}"))
}

/// The median of those that have the figure.
pub(crate) fn middle<T>(all: &[T], digits: usize, of: impl Fn(&T) -> Option<f64>) -> String {
    figure(median(&all.iter().filter_map(of).collect::<Vec<_>>()), digits)
}
