//! Two loads compared. Each is one load, so no interval is known and nothing is claimed.

use std::borrow::Cow;
use wirebench_schema::{
    environment::Environment,
    load::{
        LatencyFigure::{P75, P95},
        LoadResult,
    },
};
use wirebench_stats::Estimate;

use super::{
    Change, CompareOptions, Comparison, NotComparable, Summary,
    grounds::loads::{differences, warnings},
};
use crate::{
    analysis::{JudgedRatio, Metric, Reads},
    load::{cells, gate},
    origin::Origin,
    view::{Cell, ComparisonFacts, Ratio, Reference, Source, Verb},
};

#[derive(Clone, Copy, Debug)]
pub struct LoadSide<'a> {
    /// What it is called, usually its folder.
    pub name: &'a str,
    pub result: &'a LoadResult,
    /// The machine of the generator, where it is known.
    pub environment: Option<&'a Environment>,
}

/// Compares two loads, with `force` and the conditions of `options`; its other fields are for runs. Loads of
/// different experiments are refused, or compared anyway.
pub fn compare_loads(
    old: &LoadSide<'_>,
    new: &LoadSide<'_>,
    options: &CompareOptions,
) -> Result<Comparison, NotComparable> {
    let forced = differences(old, new);
    if !forced.is_empty() && !options.force {
        return Err(NotComparable::Differ(forced));
    }
    let [before, after] = [old, new].map(|side| &side.result.report);
    let olds: Vec<Cell> = cells(before).collect();
    let with_same_name = |cell: Cell| {
        let old = olds.iter().find(|it| it.id.request == cell.id.request)?;
        Some(against(cell, old))
    };
    let (cells, changes): (Vec<Cell>, Vec<_>) = cells(after).filter_map(with_same_name).unzip();
    Ok(Comparison {
        verb: Verb::CompareLoads,
        results: [old, new].map(summary),
        gate: gate(after, &options.conditions),
        facts: ComparisonFacts {
            forced,
            warnings: warnings(old, new),
            ..ComparisonFacts::default()
        },
        changes: changes.concat(),
        cells,
    })
}

/// A cell with the ratios of its figures to older ones, and the changes that tables show. A ratio to 0 is unknown.
fn against(mut cell: Cell, old: &Cell) -> (Cell, Vec<Change>) {
    let (id, mut changes) = (cell.id.clone(), Vec::new());
    for figure in &mut cell.figures {
        let before = old.figure(figure.metric);
        // Two that are 0, such as errors, are the same.
        let is_same = before.is_some_and(|it| figure.value.total_cmp(&it.value).is_eq());
        let value = before.map_or(f64::NAN, |it| figure.value / it.value);
        let value = if is_same { 1.0 } else { value };
        let reads = before.map_or(Reads::Exactly, |it| figure.reads.with(it.reads.inverse()));
        let estimate = Estimate { value, interval: None, samples: 1 };
        let is_valid = figure.valid && before.is_some_and(|it| it.valid) && value.is_finite();
        let ratio = Ratio {
            reference: before.map(|it| it.value),
            ..Ratio::of(Reference::Older, JudgedRatio::unjudged(estimate, reads), is_valid)
        };
        figure.ratios.extend(before.map(|_| ratio.clone()));
        let is_shown = match figure.metric {
            Metric::Throughput | Metric::Errors => true,
            Metric::Latency(it) => ![P75, P95].contains(&it),
            _ => false,
        };
        changes.extend(is_shown.then(|| Change {
            cell: id.clone(),
            metric: figure.metric,
            value: figure.value,
            ratio,
            doubts: Default::default(),
            relative_to: None,
            same_program: None,
        }));
    }
    (cell, changes)
}

fn summary(side: &LoadSide<'_>) -> Summary {
    let (target, started) = (&side.result.report.config.target, &side.result.started);
    let started = if started.is_empty() { String::new() } else { format!(", {started}") };
    Summary {
        source: Source {
            name: Some(side.name.to_owned()),
            load: Some(Cow::Owned(side.result.clone())),
            ..Source::default()
        },
        origin: Origin::of_load(side.result, None),
        heading: format!("{}, {target}{started}", side.name),
    }
}
