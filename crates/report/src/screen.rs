//! The first screen of a result: sentences, one table, what its marks mean, and the next step.
//! Everything else is in the details ([`crate::table`]) and in JSON.
//!
//! `adapter` turns a journal into a `model`, and the other files turn that into text. So a change
//! of the analysis is a change of one file.

mod adapter;
mod causes;
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

use self::{
    figures::{BOUND, BOUND_MEANING, HIDDEN, WAKING_MEANING},
    model::{Model, Value},
};
use crate::{
    analysis::Analysis,
    document::{Block, Document, Look, Paint},
    gates::words::gate_lines,
    table::of_document,
    view::Gate,
    wrap::{WIDTH, shorten, wrap},
};

/// No page is laid out for fewer columns than this.
const NARROWEST: usize = 40;
/// Lines of all causes; the details have the others.
const ALL_CAUSE_LINES: usize = 7;
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

/// The first screen of a result.
#[must_use]
pub fn page(analysis: &Analysis<'_>, facts: &Facts<'_>) -> String {
    text(&adapter::model(analysis), of_document(analysis), facts)
}

/// The page; the suite's document is in front of everything else that was measured.
fn text(model: &Model<'_>, document: Option<(String, Vec<Block>)>, facts: &Facts<'_>) -> String {
    let width = facts.width();
    let mut lines = wrap(&headline::setting(model, facts), width, "");
    if let Some((introduction, blocks)) = document {
        lines.extend(wrap(&introduction, width, ""));
        let document = Document { blocks, ..Document::default() };
        lines.extend([String::new(), document.text(Paint(facts.look, width))]);
        lines.extend(model.published.iter().flat_map(|line| wrap(line, width, INDENT)));
        lines.push(String::new());
    }
    lines.extend(wrap(&headline::result(model), width, ""));
    lines.extend(table(model, Paint(facts.look, width)));
    let hint = headline::hint(model).map_or_else(Vec::new, |hint| wrap(&hint, width, ""));
    let notes = [marks(model, facts), causes(model, width), hint].concat();
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes);
    }
    lines.extend(whys(model, width));
    if let Some(gate) = facts.gate {
        lines.push(String::new());
        lines.extend(gate_lines(gate));
    }
    lines.join("\n") + "\n"
}

/// The result in words.
pub(crate) fn sentence(analysis: &Analysis<'_>) -> String {
    headline::result(&adapter::model(analysis))
}

/// The table of a run that goes on, with its head.
#[must_use]
pub fn live_page(journal: &Journal, facts: &Facts<'_>) -> String {
    // It has no end yet.
    let model = Model { ended: None, ..adapter::model(&Analysis::of(journal)) };
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
    let width = facts.width();
    let mut lines = Vec::new();
    let mut add = |mark: &str, meaning: &str| {
        let wrapped = wrap(&format!("{INDENT}{meaning}"), width, INDENT);
        lines.push(format!("{mark:<4}{}", wrapped[0].trim_start()));
        lines.extend_from_slice(&wrapped[1..]);
    };
    if model.count(|value| matches!(value, Value::Bound(_))) > 0 {
        add(BOUND, BOUND_MEANING);
    }
    if model.has_waking() {
        add("", WAKING_MEANING);
    }
    if model.count(Value::is_hidden) > 0 {
        let folder = facts.folder.unwrap_or("RUN");
        add(HIDDEN, &format!("not valid; reasons: wirebench report {folder} --explain"));
    }
    lines
}

fn causes(model: &Model<'_>, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, cause) in model.causes.iter().enumerate() {
        let wrapped = shorten(&format!("{INDENT}{cause}"), CAUSE_LINES, width, "      ");
        let is_last = place + 1 == model.causes.len();
        // A line stays for how many more there are.
        if lines.len() + wrapped.len() + usize::from(!is_last) > ALL_CAUSE_LINES {
            lines.push(format!("{INDENT}and {} more: --explain", model.causes.len() - place));
            break;
        }
        lines.extend(wrapped);
    }
    lines
}

/// The first sentences on the profiles; the details have the others.
fn whys(model: &Model<'_>, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if !model.whys.is_empty() {
        lines.extend([String::new(), "why, from profiles that count in no figure:".to_owned()]);
        let shown = model.whys.iter().take(WHYS);
        lines.extend(shown.flat_map(|it| wrap(&format!("{INDENT}{it}"), width, INDENT)));
        let more = model.whys.len().saturating_sub(WHYS);
        lines.extend((more > 0).then(|| format!("{INDENT}and {more} more: --explain")));
    }
    lines
}

#[cfg(test)]
mod tests;
