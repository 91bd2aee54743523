//! A comparison as a document: the changes first, and warnings and settings below them.

use super::{Change, Comparison, Summary, words};
use crate::{
    Report,
    analysis::{Inconclusive, Reads},
    chart::{Chart, ChartKind, ratio::LEGEND},
    document::{Block, Cell, Column, Document, Paint, Row, Table},
    figure_text::{self, or_absent, title, value},
    gates::words::conditions_block,
    order::grouped,
    view::ResultView,
};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rows {
    /// Those that count; the others are counted.
    ThatCount,
    All,
}

const READING_AID: [&str; 4] = [
    "old, new: medians over the cohorts; change: new over old with its 95 % interval, simultaneous for all \
     changes of the metric in the workload",
    "a change is significant if this interval excludes 0 and is not inside the margin; same if its 90 % \
     interval is inside; otherwise inconclusive",
    "!: a run failed or is invalid, see the note",
    "<= (>=, ~): the load generator was saturated in the runs of the older (newer, both) result",
];

const BOUNDS: &str = ">=, <=, ~: a figure is only a bound, because the load generator was the limit or no reply \
                      took as long";

impl Report for Comparison {
    fn document(&self) -> Document {
        self.shown(Rows::ThatCount)
    }

    fn view(&self) -> ResultView<'_> {
        super::view::view(self)
    }
}

impl Comparison {
    /// What a terminal shows.
    #[must_use]
    pub fn text(&self, rows: Rows) -> String {
        let mut document = self.shown(rows);
        let is_shown = |change: &Change| rows == Rows::All || change.counts();
        if !self.changes.iter().any(is_shown) {
            // Nothing of what the legend explains.
            document.blocks.pop();
        }
        document.text(Paint::FILE)
    }

    fn shown(&self, rows: Rows) -> Document {
        let scope = (!self.changes.is_empty()).then(|| words::scope(self).to_owned());
        let forced = self.facts.forced.iter().map(ToString::to_string).collect();
        let left_out = self.facts.left_out.iter().map(ToString::to_string).collect();
        let sides = || ["old", "new"].into_iter().zip(&self.results);
        let origin = |(side, it): (&str, &Summary)| {
            it.origin.titled(side, it.source.name.as_deref().unwrap_or_default())
        };
        let heading = |(side, it): (&str, &Summary)| format!("{side}: {}", it.heading);
        let mut setting: Vec<String> = sides().map(heading).collect();
        let has_basis = !self.is_of_loads() && !self.facts.nothing_differs;
        setting.extend(has_basis.then(|| words::basis(self)));
        let more = vec![
            Block::list("warnings", self.facts.warnings.clone()),
            Block::list("versions that differ", self.facts.versions.clone()),
            Block::list("not compared", left_out),
        ];
        let mut blocks = vec![
            Block::Origin(sides().map(origin).collect()),
            Block::Details(vec![Block::Lines(setting)]),
            Block::Headline(words::summary(self), None),
            Block::Lines(scope.into_iter().collect()),
            Block::list("compared with --force despite these differences", forced),
            Block::Table(self.table(rows)),
            self.ratios(),
            conditions_block(self.gate.as_ref()),
        ];
        // Rows of loads have no marks, so that only warnings speak against one.
        let more = if self.is_of_loads() { more } else { vec![Block::Details(more)] };
        blocks.extend(more);
        blocks.push(self.legend());
        Document { title: "wirebench compare".to_owned(), blocks }
    }

    fn legend(&self) -> Block {
        let mut bounds = self.changes.iter().filter(|it| it.ratio.judged.reads != Reads::Exactly);
        match self.is_of_loads() {
            true => Block::Lines(bounds.next().map(|_| BOUNDS.to_owned()).into_iter().collect()),
            false => {
                Block::Details(vec![Block::list("legend", READING_AID.map(Into::into).into())])
            }
        }
    }

    fn table(&self, rows: Rows) -> Table {
        let (words, verdict, cells): (&[&str], _, fn(&Change) -> _) = match self.is_of_loads() {
            true => (&["request", "metric"], None, cells_of_load),
            false => (&["workload", "entry", "metric"], Some(Column::left("verdict")), cells),
        };
        let figures = ["old", "new", "change"].map(Column::right);
        let columns =
            words.iter().copied().map(Column::left).chain(figures).chain(verdict).collect();
        let is_folded = |it: &Change| rows == Rows::ThatCount && !it.counts();
        let row = |it: &Change| Row { cells: cells(it), is_folded: is_folded(it) };
        let rows = self.changes.iter().map(row).collect();
        let folded = "without a significant change: --all shows them";
        Table { columns, rows, folded, ..Table::default() }
    }

    /// Each metric on an axis of its own: the tail of latency moves by factors where CPU time moves by a few percent.
    fn ratios(&self) -> Block {
        let name = |it: &Change| it.cell.to_string();
        let ratio = |it: &Change| (title(it.metric), (name(it), it.ratio.judged.clone()));
        let chart =
            |(metric, ratios)| Chart::new(format!("{metric}, new/old"), ChartKind::Forest(ratios));
        let judged = self.changes.iter().filter(|it| it.ratio.judged.claim.is_some());
        let metrics = grouped(judged.map(ratio));
        let legend = metrics.first().map(|_| LEGEND.to_owned()).into_iter().collect();
        let charts = metrics.into_iter().map(chart).collect();
        Block::Page(vec![Block::Lines(legend), Block::Charts(charts)])
    }
}

/// The metric, both values and the change.
fn figures(Change { metric, value: new, ratio, .. }: &Change) -> [Cell; 4] {
    let old = or_absent(ratio.reference.map(|old| value(*metric, old)));
    let change = figure_text::change(&ratio.judged);
    [title(*metric).to_owned(), old, value(*metric, *new), change].map(Into::into)
}

fn cells_of_load(change: &Change) -> Vec<Cell> {
    let request = change.cell.request.as_deref().unwrap_or("all");
    [request.into()].into_iter().chain(figures(change)).collect()
}

fn cells(change: &Change) -> Vec<Cell> {
    let mut notes = change.doubts.concat();
    let doubtful = if notes.is_empty() { "" } else { "! " };
    if change.movement().is_some() && change.same_program == Some(true) {
        notes.push("same program in both results: something else changed".into());
    }
    let entry = format!("{doubtful}{}", change.cell.entry());
    let names = [change.cell.load.clone().into(), Cell { notes, ..entry.into() }];
    names.into_iter().chain(figures(change)).chain([verdict(change).into()]).collect()
}

fn verdict(change: &Change) -> String {
    let words = change.claim().words(change.metric);
    match change.ratio.judged.inconclusive {
        None | Some(Inconclusive::WideInterval) => words,
        Some(reason) => format!("{words}: {}", reason.name()),
    }
}
