//! A comparison for terminals: what changed first, and what else a reader must know below it.
//!
//! Not here: Markdown, which is made for another place and says the same.

use super::{Change, Comparison, Gate, GateVerdict, Summary, words};
use crate::{
    analysis::Inconclusive,
    notes::{Notes, references},
    table::{Style, count, filled_table, page::Page},
};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rows {
    /// Those that count; the others are counted.
    ThatCount,
    All,
}

pub(super) const READING_AID: [&str; 4] = [
    "old, new: medians over the cohorts; change: new over old with its 95 % interval, simultaneous for all \
     changes of the metric in the workload",
    "a change is significant if this interval excludes 0 and is not inside the margin; same if its 90 % \
     interval is inside; otherwise inconclusive",
    "!: a run failed or is invalid, see the note",
    "<= (>=, ~): the load generator was saturated in the runs of the older (newer, both) result",
];

/// What a gate says that neither fails nor passes.
const NOT_PASSED: &str = "NOT PASSED: a condition is violated only if the whole interval is beyond it; \
                          --fail-if-inconclusive makes this a failure";

/// Everything that `comparison` says, as text.
#[must_use]
pub fn text(comparison: &Comparison, shown: Rows) -> String {
    let mut page = Page::new(Style::Text);
    setting(comparison, Style::Text).iter().for_each(|line| page.line(line));
    page.line("");
    page.line(&words::summary(comparison));
    if !comparison.changes.is_empty() {
        page.line(words::SCOPE);
    }
    page.line("");
    let rows = rows(comparison, shown);
    if !rows.is_empty() {
        add_table(&mut page, &rows);
    }
    let hidden = comparison.changes.len() - rows.len();
    if hidden > 0 {
        page.paragraph(&format!("{hidden} without a significant change: --all shows them"));
    }
    if let Some(gate) = &comparison.gate {
        page.paragraph(&gate_lines(gate).join("\n"));
    }
    add_lists(&mut page, comparison);
    if !rows.is_empty() {
        page.list("legend", &READING_AID.map(str::to_owned));
    }
    format!("{}\n", page.text().trim_end())
}

/// Both results, and of what the changes are changes.
pub(super) fn setting(comparison: &Comparison, style: Style) -> [String; 3] {
    let plain = |side: &Summary| style.plain(&heading(side)).into_owned();
    let [old, new] = [&comparison.old, &comparison.new].map(plain);
    [format!("old: {old}"), format!("new: {new}"), words::basis(comparison)]
}

fn heading(side: &Summary) -> String {
    let Summary { name, suite, started, blocks, end } = side;
    format!("{name}, suite {suite}, {started}, {}, {end}", count(blocks, "cohort"))
}

pub(super) fn rows(comparison: &Comparison, shown: Rows) -> Vec<&Change> {
    let all = comparison.changes.iter();
    all.filter(|change| shown == Rows::All || change.movement().is_some()).collect()
}

/// Adds the table of `changes`, with its notes below.
pub(super) fn add_table(page: &mut Page, changes: &[&Change]) {
    let head = ["workload", "entry", "metric", "old", "new", "change", "verdict"];
    let mut notes = Notes::default();
    let rows: Vec<_> = changes.iter().map(|change| cells(change, &mut notes)).collect();
    let table = filled_table(page.style, &head, &rows, 3..6);
    page.table(&table, notes.texts());
}

fn cells(change: &Change, notes: &mut Notes) -> Vec<String> {
    let mut marks = std::collections::BTreeSet::new();
    for doubt in &change.old.doubts {
        marks.insert(notes.add(&format!("in the older result: {doubt}")));
    }
    for doubt in &change.new.doubts {
        marks.insert(notes.add(&format!("in the newer result: {doubt}")));
    }
    let doubtful = if marks.is_empty() { "" } else { "! " };
    if change.movement().is_some() && change.same_program == Some(true) {
        marks.insert(notes.add("same program in both results: something else changed"));
    }
    let marks = match references(marks) {
        none if none.is_empty() => none,
        marks => format!(" [{marks}]"),
    };
    let metric = change.metric;
    vec![
        change.cell.workload.clone(),
        format!("{doubtful}{}{marks}", change.cell.entry()),
        words::title(metric).to_owned(),
        words::figure(metric, change.old.median),
        words::figure(metric, change.new.median),
        words::estimate(change.reads, &change.estimate),
        verdict(change),
    ]
}

fn verdict(change: &Change) -> String {
    let words = change.claim.words(change.metric);
    match change.inconclusive {
        None | Some(Inconclusive::WideInterval) => words,
        Some(reason) => format!("{words}: {}", reason.words()),
    }
}

/// What became of the conditions, a line for each thing to say.
pub(crate) fn gate_lines(gate: &Gate) -> Vec<String> {
    let mut lines = Vec::new();
    for it in &gate.conditions {
        let condition = it.condition;
        for hit in &it.failed {
            lines.push(format!("FAILED '{condition}': {}: {}", hit.cell, hit.why));
        }
        for hit in &it.inconclusive {
            lines.push(format!("inconclusive '{condition}': {}: {}", hit.cell, hit.why));
        }
        if !it.passed.is_empty() {
            lines.push(format!("passed '{condition}' in {}", count(it.passed.len(), "cell")));
        }
    }
    let lost = gate.lost.iter();
    lines.extend(lost.map(|(cell, why)| format!("FAILED: {cell} has no figures: {why}")));
    lines.extend(gate.warnings.iter().map(|warning| format!("WARNING: {warning}")));
    if gate.verdict() == GateVerdict::Inconclusive {
        lines.push(NOT_PASSED.to_owned());
    }
    lines
}

/// Adds what else there is to say, under its titles.
pub(super) fn add_lists(page: &mut Page, comparison: &Comparison) {
    let forced = comparison.forced.iter().map(ToString::to_string).collect();
    let left_out = comparison.left_out.iter().map(ToString::to_string).collect();
    let lists: [(&str, Vec<String>); 4] = [
        ("compared with --force despite these differences", forced),
        ("warnings", comparison.warnings.clone()),
        ("versions that differ", comparison.versions.clone()),
        ("not compared", left_out),
    ];
    lists.iter().for_each(|(title, items)| add_list(page, title, items));
}

/// Adds a list, unless there is nothing in it. In Markdown it is no section of its own.
pub(super) fn add_list(page: &mut Page, title: &str, items: &[String]) {
    match page.style {
        Style::Markdown if !items.is_empty() => {
            page.paragraph(&format!("{title}:"));
            page.points(items);
        }
        _ => page.list(title, items),
    }
}
