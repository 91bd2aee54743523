//! A comparison as a document: what changed first, and what else a reader must know below it.

use super::{Change, Comparison, Summary, words};
use crate::{
    Report,
    analysis::Inconclusive,
    chart::{Chart, ChartKind, ratio::LEGEND},
    document::{Block, Cell, Column, Document, Paint, Row, Table},
    figure_text::{self, title, value},
    gates::words::conditions_block,
    notes::Remark,
    order::grouped,
    table::headline::labels,
    table_units::count,
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
        let is_shown = |change: &Change| rows == Rows::All || change.movement().is_some();
        if !self.changes.iter().any(is_shown) {
            // Nothing of what the legend explains.
            document.blocks.pop();
        }
        document.text(Paint::FILE)
    }

    fn shown(&self, rows: Rows) -> Document {
        let scope = (!self.changes.is_empty()).then(|| words::SCOPE.to_owned());
        let forced = self.facts.forced.iter().map(ToString::to_string).collect();
        let left_out = self.facts.left_out.iter().map(ToString::to_string).collect();
        let origins = [("old", &self.old), ("new", &self.new)];
        let origins = origins.map(|(side, it)| it.origin.titled(side, &it.name)).to_vec();
        let [old, new] = [&self.old, &self.new].map(heading);
        let mut setting = vec![format!("old: {old}"), format!("new: {new}")];
        setting.extend((!self.facts.nothing_differs).then(|| words::basis(self)));
        let more = vec![
            Block::list("compared with --force despite these differences", forced),
            Block::list("warnings", self.facts.warnings.clone()),
            Block::list("versions that differ", self.facts.versions.clone()),
            Block::list("not compared", left_out),
        ];
        let blocks = vec![
            Block::Origin(origins),
            Block::Details(vec![Block::Lines(setting)]),
            Block::Headline(words::summary(self), None),
            Block::Lines(scope.into_iter().collect()),
            Block::Table(self.table(rows)),
            self.ratios(),
            conditions_block(self.gate.as_ref()),
            Block::Details(more),
            Block::Details(vec![Block::list("legend", READING_AID.map(str::to_owned).to_vec())]),
        ];
        Document { title: "wirebench compare".to_owned(), blocks }
    }

    fn table(&self, rows: Rows) -> Table {
        let words = ["workload", "entry", "metric"].map(Column::left);
        let figures = ["old", "new", "change"].map(Column::right);
        let columns = words.into_iter().chain(figures).chain([Column::left("verdict")]).collect();
        let row = |change: &Change| Row {
            cells: cells(change),
            is_folded: rows == Rows::ThatCount && change.movement().is_none(),
        };
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
        let metrics = grouped(self.changes.iter().map(ratio));
        let legend = metrics.first().map(|_| LEGEND.to_owned()).into_iter().collect();
        let charts = metrics.into_iter().map(chart).collect();
        Block::Page(vec![Block::Lines(legend), Block::Charts(charts)])
    }
}

fn heading(side: &Summary) -> String {
    let Summary { name, start, blocks, end, .. } = side;
    let (suite, started, labels) = (&start.suite, &start.started, labels(&start.labels));
    format!("{name}, suite {suite}{labels}, {started}, {}, {end}", count(*blocks, "cohort"))
}

fn cells(change: &Change) -> Vec<Cell> {
    let of = |prefix: &'static str, doubts: &[Remark]| -> Vec<Remark> {
        doubts.iter().map(|doubt| doubt.clone().prefixed(prefix)).collect()
    };
    let [old, new] = &change.doubts;
    let mut notes = of("in the older result: ", old);
    notes.extend(of("in the newer result: ", new));
    let doubtful = if notes.is_empty() { "" } else { "! " };
    if change.movement().is_some() && change.same_program == Some(true) {
        notes.push("same program in both results: something else changed".into());
    }
    let metric = change.metric;
    let old = change.ratio.reference.map_or_else(String::new, |it| value(metric, it));
    let entry = format!("{doubtful}{}", change.cell.entry());
    vec![
        change.cell.load.clone().into(),
        Cell { notes, ..entry.into() },
        title(metric).into(),
        old.into(),
        value(metric, change.value).into(),
        figure_text::change(&change.ratio.judged).into(),
        verdict(change).into(),
    ]
}

fn verdict(change: &Change) -> String {
    let words = change.claim().words(change.metric);
    match change.ratio.judged.inconclusive {
        None | Some(Inconclusive::WideInterval) => words,
        Some(reason) => format!("{words}: {}", reason.words()),
    }
}
