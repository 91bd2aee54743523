//! A comparison for the comments of a pull request: one line that says it all, what changed below
//! it, and everything else folded away.
//!
//! Not here: what is said, which is as in the text for terminals.

use super::{
    Comparison, GateVerdict,
    text::{READING_AID, Rows, add_list, add_lists, add_table, gate_lines, rows, setting},
    words,
};
use crate::table::{Style, page::Page};

/// Everything that `comparison` says, as Markdown.
#[must_use]
pub fn markdown(comparison: &Comparison) -> String {
    let mut page = Page::new(Style::Markdown);
    let (summary, gate) = (words::summary(comparison), gate_word(comparison));
    page.paragraph(&format!("**wirebench**: {summary}{gate}"));
    let counting = rows(comparison, Rows::ThatCount);
    if !counting.is_empty() {
        add_table(&mut page, &counting);
        page.paragraph(words::SCOPE);
    }
    if let Some(gate) = &comparison.gate {
        page.points(&gate_lines(gate));
    }
    page.raw("<details><summary>All figures, and what was compared</summary>");
    page.points(&setting(comparison, Style::Markdown));
    add_table(&mut page, &rows(comparison, Rows::All));
    add_lists(&mut page, comparison);
    add_list(&mut page, "legend", &READING_AID.map(str::to_owned));
    page.raw("</details>");
    format!("{}\n", page.text().trim_end())
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
