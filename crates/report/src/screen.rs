//! The first screen of a result: sentences, one table, what its marks mean, and the next step.
//! Everything else is in the details ([`crate::table`]) and in JSON.
//!
//! `model` has the layout and `cells` what is in it, and the other files turn that into text.

mod causes;
mod cells;
mod figures;
mod grid;
mod headline;
pub mod html;
mod model;
mod points;
mod row;

pub use points::Point;
pub(crate) use points::summary;

use std::time::Duration;
use wirebench_schema::journal::Journal;

use self::{causes::causes, model::Model};
use crate::{
    analysis::Analysis,
    document::{Document, Look, Paint},
    gates::words::gate_lines,
    published_rows,
    table::of_document,
    view::Gate,
    why,
    wrap::{WIDTH, shorten, wrap},
};

/// No page is laid out for fewer columns than this.
const NARROWEST: usize = 40;
/// Lines of all causes; the details have the others.
const ALL_CAUSE_LINES: usize = 8;
const CAUSE_LINES: usize = 3;
const WHYS: usize = 3;
/// Where texts begin whose mark stands in front of them.
const INDENT: &str = "    ";

/// What the journal does not know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    pub machine: Option<&'a str>,
    /// From the beginning to the end of the run.
    pub elapsed: Option<Duration>,
    /// Colours and bars, or plain text.
    pub look: Look,
    /// Columns of the terminal; the usual width if it is not known.
    pub columns: Option<u16>,
    /// The result's folder, as a shell reads it.
    pub folder: Option<&'a str>,
    /// The result of the conditions that the user set.
    pub gate: Option<&'a Gate>,
}

impl Facts<'_> {
    fn width(&self) -> usize {
        self.columns.map_or(WIDTH, usize::from).clamp(NARROWEST, WIDTH)
    }
}

/// The first screen of a result. The suite's document is in front of everything else that was measured.
#[must_use]
pub fn page(analysis: &Analysis<'_>, facts: &Facts<'_>) -> String {
    let (model, width) = (Model::of(analysis), facts.width());
    let (causes, disturbed) = causes(analysis);
    let mut lines = wrap(&headline::setting(&model, facts), width, "");
    if let Some((introduction, blocks)) = of_document(analysis, facts.machine) {
        lines.extend(introduction.iter().flat_map(|line| wrap(line, width, "")));
        let document = Document { blocks, ..Document::default() };
        lines.extend([String::new(), document.text(Paint(facts.look, width))]);
        let published = published_rows::summary(analysis.journal);
        lines.extend(published.iter().flat_map(|line| wrap(line, width, INDENT)));
        lines.push(String::new());
    }
    lines.extend(wrap(&headline::result(&model), width, ""));
    lines.extend(table(&model, Paint(facts.look, width)));
    let hint = headline::hint(&model, disturbed);
    let hint = hint.map_or_else(Vec::new, |hint| wrap(&hint, width, ""));
    let notes = [marks(&model, facts), cause_lines(&causes, width), hint].concat();
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes);
    }
    lines.extend(why_lines(&why::sentences(analysis.journal, &analysis.workloads), width));
    if let Some(gate) = facts.gate {
        lines.push(String::new());
        lines.extend(gate_lines(gate));
    }
    lines.join("\n") + "\n"
}

/// The result in words.
pub(crate) fn sentence(analysis: &Analysis<'_>) -> String {
    headline::result(&Model::of(analysis))
}

/// The table of a run that goes on, with its head.
#[must_use]
pub fn live_page(journal: &Journal, facts: &Facts<'_>) -> String {
    let analysis = Analysis::of(journal);
    // It has no end yet.
    let model = Model { ended: None, ..Model::of(&analysis) };
    let width = facts.width();
    let mut lines = wrap(&headline::setting(&model, facts), width, "");
    lines.extend(table(&model, Paint(facts.look, width)));
    lines.join("\n") + "\n"
}

fn table(model: &Model<'_>, paint: Paint) -> Vec<String> {
    let tables = model.blocks.iter().map(|block| grid::table(block).text(paint));
    let tables = tables.filter(|table| !table.is_empty());
    tables.flat_map(|table| [String::new(), table]).collect()
}

/// What the marks mean that are in the table.
fn marks(model: &Model<'_>, facts: &Facts<'_>) -> Vec<String> {
    let folder = facts.folder.unwrap_or("RUN");
    let hidden = format!("not valid; reasons: wirebench report {folder} --explain");
    let line = |(mark, meaning): (&str, String)| {
        let mut lines = wrap(&format!("{INDENT}{meaning}"), facts.width(), INDENT);
        lines[0] = format!("{mark:<4}{}", lines[0].trim_start());
        lines
    };
    model.marks(hidden).into_iter().flat_map(line).collect()
}

fn cause_lines(causes: &[String], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, cause) in causes.iter().enumerate() {
        let wrapped = shorten(&format!("{INDENT}{cause}"), CAUSE_LINES, width, "      ");
        let is_last = place + 1 == causes.len();
        // A line stays for how many more there are.
        if lines.len() + wrapped.len() + usize::from(!is_last) > ALL_CAUSE_LINES {
            lines.push(format!("{INDENT}and {} more: --explain", causes.len() - place));
            break;
        }
        lines.extend(wrapped);
    }
    lines
}

/// The first sentences on the profiles; the details have the others.
fn why_lines(whys: &[String], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if !whys.is_empty() {
        lines.extend([String::new(), "why, from profiles that count in no figure:".to_owned()]);
        let shown = whys.iter().take(WHYS);
        lines.extend(shown.flat_map(|it| wrap(&format!("{INDENT}{it}"), width, INDENT)));
        let more = whys.len().saturating_sub(WHYS);
        lines.extend((more > 0).then(|| format!("{INDENT}and {more} more: --explain")));
    }
    lines
}

#[cfg(test)]
mod tests;
