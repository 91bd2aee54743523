//! The figures of a run on their own, as a history of many runs needs them.

use serde::{Deserialize, Serialize};

use super::{
    adapter, figures, headline,
    model::{Column, Value},
};
use crate::{
    analysis::{Analysis, JudgedRatio},
    figure_text::{self, ABSENT},
    origin::describe_versions,
};

/// The figures of a server under a load.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
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
    let model = adapter::model(analysis);
    let mut points = Vec::new();
    for (block, group) in
        model.blocks.iter().flat_map(|it| it.groups.iter().map(move |group| (it, group)))
    {
        for (row, server) in block.rows.iter().enumerate() {
            let Some(cells) = &group.cells[row] else { continue };
            let find = |is_meant: fn(&Column) -> bool| {
                let place = group.columns.iter().position(is_meant)?;
                Some(match (group.columns[place], cells[place]) {
                    (Column::Figure(metric), Value::Exact(value)) => {
                        figure_text::value(metric, value)
                    }
                    (column, value) => figures::cell(column, value),
                })
            };
            let [figure, outcome] =
                [find(|it| matches!(it, Column::Figure(_))), find(|it| *it == Column::Outcome)]
                    .map(|it| it.unwrap_or_else(|| ABSENT.to_owned()));
            let described =
                analysis.journal.start.variants.iter().find(|it| it.variant.to_string() == *server);
            points.push(Point {
                server: server.clone(),
                program: described.filter(|it| it.class.is_none()).map(|it| it.title.clone()),
                versions: described.map(describe_versions).unwrap_or_default().join(", "),
                load: format!("{}, {}", block.title, group.title),
                figure,
                ratio: group.ratios[row].as_ref().map(|JudgedRatio { estimate: it, .. }| {
                    (it.value, it.interval.map(|it| (it.low, it.high)))
                }),
                outcome,
            });
        }
    }
    (headline::result(&model), points)
}
