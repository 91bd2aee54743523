//! Two loads as a document and as rows.

use super::{super::view::SHOWN, LoadComparison, LoadSide};
use crate::{
    Report,
    analysis::{Metric, MetricFacts, Reads},
    document::{Block, Document, Paint, Table},
    figure_text::{self, or_absent},
    gates::words::conditions_block,
    origin::Origin,
    view::{Cell, FORMAT, Figure, ResultView, Source, Verb},
};

/// What two loads do not say.
const SCOPE: &str = "One load each: no interval is known, so there is no verdict. Use `wirebench ab` or `run` for one.";
const BOUNDS: &str = ">=, <=, ~: a figure is only a bound, because the load generator was the limit or no reply \
                      took as long";

impl Report for LoadComparison<'_> {
    fn document(&self) -> Document {
        let names = ["old", "new"].into_iter().zip(&self.sides);
        let origin = |(which, side): (&str, &LoadSide<'_>)| {
            Origin::of_load(side.result, None).titled(which, side.name)
        };
        let origins = names.map(origin).collect();
        let [old, new] = self.sides.each_ref().map(heading);
        let setting = vec![format!("old: {old}"), format!("new: {new}")];
        let forced = self.facts.forced.iter().map(ToString::to_string).collect();
        let mut ratios = self.figures().filter_map(|(_, figure)| figure.ratio());
        let has_bounds = ratios.any(|it| it.judged.reads != Reads::Exactly);
        let blocks = vec![
            Block::Origin(origins),
            Block::Lines(setting),
            Block::Headline(self.sentence(), None),
            Block::line(SCOPE),
            Block::Table(self.table()),
            conditions_block(self.gate.as_ref()),
            Block::Lines(has_bounds.then(|| BOUNDS.to_owned()).into_iter().collect()),
            Block::list("compared with --force despite these differences", forced),
            Block::list("warnings", self.facts.warnings.clone()),
        ];
        Document { title: "wirebench compare".to_owned(), blocks }
    }

    fn view(&self) -> ResultView<'_> {
        ResultView {
            sentence: self.sentence(),
            format: FORMAT,
            verb: Verb::CompareLoads,
            results: self
                .sides
                .iter()
                .map(|it| Source::of_load(it.result, Some(it.name.to_owned())))
                .collect(),
            cells: self.cells.clone(),
            comparison: Some(&self.facts),
            gate: self.gate.as_ref(),
            ..ResultView::default()
        }
    }
}

impl LoadComparison<'_> {
    /// What a terminal shows.
    #[must_use]
    pub fn text(&self) -> String {
        self.document().text(Paint::FILE)
    }

    /// The figures that are shown, with the requests that they are of.
    fn figures(&self) -> impl Iterator<Item = (&Cell, &Figure)> {
        self.cells
            .iter()
            .flat_map(|cell| SHOWN.into_iter().filter_map(move |it| Some((cell, cell.figure(it)?))))
    }

    /// `requests/s -5.0 %, p50 +1.0 %, p99 +12 %`
    fn sentence(&self) -> String {
        let shown = [Metric::Throughput, Metric::P50, Metric::P99];
        let figures = self
            .figures()
            .filter(|(cell, it)| cell.id.request.is_none() && shown.contains(&it.metric));
        let parts = figures.map(|(_, it)| format!("{} {}", it.metric.title(), change(it)));
        parts.collect::<Vec<_>>().join(", ")
    }

    fn table(&self) -> Table {
        let named = self.cells.iter().any(|it| it.id.request.is_some());
        let words = named.then_some("request").into_iter().chain(["figure"]);
        let row = |(cell, it): (&Cell, &Figure)| -> Vec<String> {
            let request = cell.id.request.as_ref().map_or("all", |it| it.as_str());
            let ratio = it.ratio();
            let old = ratio.and_then(|it| it.reference);
            let old = or_absent(old.map(|old| it.metric.show(old)));
            let quotient = ratio.map(|it| format!("{:.3}", it.judged.estimate.value));
            let (title, new) = (it.metric.title().to_owned(), it.metric.show(it.value));
            let request = named.then(|| request.to_owned());
            let cells = [title, old, new, or_absent(quotient), change(it)];
            request.into_iter().chain(cells).collect()
        };
        Table::of(words, ["old", "new", "new/old", "change"], self.figures().map(row))
    }
}

fn heading(side: &LoadSide<'_>) -> String {
    let LoadSide { name, result, .. } = side;
    let (target, started) = (&result.report.config.target, &result.started);
    let started = if started.is_empty() { String::new() } else { format!(", {started}") };
    format!("{name}, {target}{started}")
}

fn change(figure: &Figure) -> String {
    or_absent(figure.ratio().map(|it| figure_text::change(&it.judged)))
}
