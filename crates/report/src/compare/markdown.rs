//! A comparison for the comments of a pull request: one line that says it all, what changed below
//! it, and everything else folded away.
//!
//! Not here: what is said, which is as in the text for terminals.

use std::fmt::Write;

use super::{
    Comparison, GateVerdict,
    text::{READING_AID, Rows, gate_lines, heading, lists, rows, table},
    words,
};
use crate::table::Style;

/// Everything that `comparison` says, as Markdown.
#[must_use]
pub fn markdown(comparison: &Comparison) -> String {
    let mut text =
        format!("**wirebench**: {}{}\n", words::summary(comparison), gate_word(comparison));
    let counting = rows(comparison, Rows::ThatCount);
    if !counting.is_empty() {
        let _ = write!(text, "\n{}", table(Style::Markdown, &counting));
        let _ = writeln!(text, "\n{}", words::SCOPE);
    }
    if let Some(gate) = &comparison.gate {
        text.push('\n');
        for line in gate_lines(gate) {
            let _ = writeln!(text, "- {}", Style::Markdown.plain(&line));
        }
    }
    let _ = writeln!(text, "\n<details><summary>All figures, and what was compared</summary>\n");
    for (label, side) in [("old", &comparison.old), ("new", &comparison.new)] {
        let _ = writeln!(text, "- {label}: {}", Style::Markdown.plain(&heading(side)));
    }
    let _ = writeln!(text, "- {}\n", words::basis(comparison));
    let _ = write!(text, "{}", table(Style::Markdown, &rows(comparison, Rows::All)));
    for (title, items) in lists(comparison) {
        let _ = writeln!(text, "\n{title}:\n");
        for item in items {
            let _ = writeln!(text, "- {}", Style::Markdown.plain(&item));
        }
    }
    let _ = writeln!(text, "\nlegend:\n");
    for line in READING_AID {
        let _ = writeln!(text, "- {}", Style::Markdown.plain(line));
    }
    let _ = writeln!(text, "\n</details>");
    text
}

fn gate_word(comparison: &Comparison) -> &'static str {
    let Some(gate) = &comparison.gate else { return "" };
    match gate.verdict() {
        GateVerdict::Failed => "; **FAILED**",
        GateVerdict::Inconclusive => "; **inconclusive**",
        GateVerdict::Passed if gate.warnings.is_empty() => "; **passed**",
        GateVerdict::Passed => "; **passed, but some conditions could not fail: see the warnings**",
    }
}
