//! The figures of a run on their own, as a history of many runs needs them.

use serde::{Deserialize, Serialize};

use super::{cells::Column, headline, model::Model};
use crate::{
    analysis::Analysis,
    figure_text::{self, or_absent},
    origin::describe_versions,
};

/// The figures of a server under a load.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Point {
    pub server: String,
    /// The command or URL of a user's own server, whose name says less.
    pub program: Option<String>,
    pub versions: String,
    /// The load, such as `hello, saturated`.
    pub load: String,
    /// CPU per request, or memory per connection, with its unit.
    pub figure: String,
    /// The ratio to the baseline with its interval, where the two may be compared.
    pub ratio: Option<(f64, Option<(f64, f64)>)>,
    /// The outcome of the comparison, as on the page of the run.
    pub outcome: String,
}

/// The result in a sentence or two, and the figures of each server under each load.
pub(crate) fn summary(analysis: &Analysis<'_>) -> (String, Vec<Point>) {
    let model = Model::of(analysis);
    let mut points = Vec::new();
    for (block, group) in
        model.blocks.iter().flat_map(|it| it.groups.iter().map(move |of| (it, of)))
    {
        let rows = block.rows.iter().enumerate().filter(|(row, _)| group.row(*row).is_some());
        for (row, server) in rows {
            let described =
                analysis.journal.start.variants.iter().find(|it| it.variant.to_string() == *server);
            let figure = group.columns.iter().find_map(|column| match column {
                Column::Figure(metric) => Some((*metric, group.cell(row, *column))),
                _ => None,
            });
            let figure = figure.map(|(metric, cell)| match cell.figure {
                Some(value) if !cell.text.starts_with(['<', '>']) => {
                    figure_text::value(metric, value)
                }
                _ => cell.text,
            });
            let has_outcomes = group.columns.contains(&Column::Outcome);
            let outcome = has_outcomes.then(|| group.cell(row, Column::Outcome).text);
            points.push(Point {
                server: server.clone(),
                program: described.filter(|it| it.class.is_none()).map(|it| it.title.clone()),
                versions: described.map(describe_versions).unwrap_or_default().join(", "),
                load: format!("{}, {}", block.title, group.title),
                figure: or_absent(figure),
                ratio: group.ratio(row).map(|it| {
                    (it.estimate.value, it.estimate.interval.map(|it| (it.low, it.high)))
                }),
                outcome: or_absent(outcome),
            });
        }
    }
    (headline::result(&model), points)
}
