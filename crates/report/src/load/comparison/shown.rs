//! Two loads as a document and as rows.

use wirebench_schema::load::LoadResult;
use wirebench_stats::Estimate;

use super::{LoadChange, LoadComparison, LoadSummary};
use crate::{
    Report,
    analysis::{Metric, MetricFacts, Reads},
    compare::conditions_block,
    document::{Block, Cell, Column, Document, Paint, Table},
    flat::{Flat, FlatRatio},
    interval,
    load::flat::flat as flat_load,
};

/// What two loads do not say.
const SCOPE: &str = "One load each: no interval is known, so there is no verdict. Use `wirebench ab` or `run` for one.";
const BOUNDS: &str = ">=, <=, ~: a figure is only a bound, because the load generator was the limit or no reply \
                      took as long";

impl Report for LoadComparison {
    fn document(&self) -> Document {
        let origins = [("old", &self.old), ("new", &self.new)];
        let origins = origins.map(|(side, it)| it.origin.titled(side, &it.name)).to_vec();
        let [old, new] = [&self.old, &self.new].map(heading);
        let setting = vec![format!("old: {old}"), format!("new: {new}")];
        let forced = self.forced.iter().map(ToString::to_string).collect();
        let has_bounds = self.figures.iter().any(|it| it.reads != Reads::Exactly);
        let blocks = vec![
            Block::Origin(origins),
            Block::Lines(setting),
            Block::Headline(self.sentence(), None),
            Block::line(SCOPE),
            Block::Table(self.table()),
            conditions_block(self.gate.as_ref()),
            Block::Lines(has_bounds.then(|| BOUNDS.to_owned()).into_iter().collect()),
            Block::list("compared with --force despite these differences", forced),
            Block::list("warnings", self.warnings.clone()),
        ];
        Document { title: "wirebench compare".to_owned(), blocks }
    }

    fn json(&self) -> String {
        crate::json::pretty(self)
    }

    fn flat(&self) -> Flat {
        self.flat.clone()
    }
}

impl LoadComparison {
    /// What a terminal shows.
    #[must_use]
    pub fn text(&self) -> String {
        self.document().text(Paint::FILE)
    }

    /// `requests/s -5.0 %, p50 +1.0 %, p99 +12 %`
    fn sentence(&self) -> String {
        let shown = [Metric::Throughput, Metric::P50, Metric::P99];
        let is_shown = |it: &&LoadChange| it.request.is_none() && shown.contains(&it.metric);
        let parts = self.figures.iter().filter(is_shown);
        let parts = parts.map(|it| format!("{} {}", it.metric.title(), it.change()));
        parts.collect::<Vec<_>>().join(", ")
    }

    fn table(&self) -> Table {
        let named = self.figures.iter().any(|it| it.request.is_some());
        let request = named.then(|| Column::left("request"));
        let figures = ["old", "new", "new/old", "change"].map(Column::right);
        let columns = request.into_iter().chain([Column::left("figure")]).chain(figures);
        let row = |it: &LoadChange| -> Vec<Cell> {
            let request = it.request.as_ref().map_or("all", |it| it.as_str());
            let shown =
                |value: Option<f64>| value.map_or("-".to_owned(), |it_| it.metric.show(it_));
            let ratio = it.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}"));
            let cells =
                [it.metric.title().to_owned(), shown(it.old), shown(it.new), ratio, it.change()];
            let request = named.then(|| request.to_owned());
            request.into_iter().chain(cells).map(Into::into).collect()
        };
        Table::new(columns.collect(), self.figures.iter().map(row))
    }
}

fn heading(side: &LoadSummary) -> String {
    let LoadSummary { name, target, started, .. } = side;
    let started = if started.is_empty() { String::new() } else { format!(", {started}") };
    format!("{name}, {target}{started}")
}

impl LoadChange {
    fn change(&self) -> String {
        let change = |ratio| format!("{}{}", self.reads.sign(), interval::change(ratio, None));
        self.ratio.map_or("-".to_owned(), change)
    }
}

/// The rows of the newer load, with ratios to the older one.
pub(super) fn flat(new: &LoadResult, changes: &[LoadChange]) -> Flat {
    let mut flat = flat_load(new);
    let names = [None].into_iter().chain(new.report.by_name.iter().map(|it| Some(&it.name)));
    for (row, name) in flat.rows.iter_mut().zip(names) {
        for figure in &mut row.figures {
            let is_it =
                |it: &&LoadChange| it.request.as_ref() == name && it.metric == figure.metric;
            let change = changes.iter().find(is_it);
            figure.ratio = change.and_then(|it| {
                let estimate = Estimate { value: it.ratio?, interval: None, samples: 1 };
                Some(FlatRatio { estimate, valid: figure.valid, reads: it.reads, claim: None })
            });
        }
    }
    flat
}
