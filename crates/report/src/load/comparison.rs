//! Two loads side by side. Each is one load, so no interval is known and nothing is claimed.

mod grounds;
mod shown;

pub use grounds::LoadSide;

use wirebench_schema::load::NamedRequests;
use wirebench_stats::Estimate;

use super::view::cell;
use crate::{
    analysis::JudgedRatio,
    by_name::requests,
    compare::{Differences, NotComparable},
    view::{Cell, ComparisonFacts, Gate, Ratio, Reference},
};

/// Two loads compared.
#[derive(Debug)]
pub struct LoadComparison<'a> {
    /// The older load and the newer one.
    sides: [LoadSide<'a>; 2],
    /// The grounds for and against the comparison.
    facts: ComparisonFacts,
    /// All requests of the newer load, and then the requests of each name that both have, with their ratios to the
    /// older one.
    cells: Vec<Cell>,
    /// The result of the conditions on the newer load; none without conditions.
    pub gate: Option<Gate>,
}

/// Compares two loads. Those of different experiments are refused, or compared anyway.
pub fn compare_loads<'a>(
    old: &LoadSide<'a>,
    new: &LoadSide<'a>,
    differences: Differences,
) -> Result<LoadComparison<'a>, NotComparable> {
    let found = grounds::differences(old, new);
    if !found.is_empty() && differences == Differences::Refuse {
        return Err(NotComparable::Differ(found));
    }
    let [before, after] = [old, new].map(|side| &side.result.report);
    let of_name = |it: NamedRequests| {
        let same = requests(after).find(|other| other.name == it.name)?;
        Some(against(cell(after, &same), &cell(before, &it)))
    };
    let warnings = grounds::warnings(old, new);
    Ok(LoadComparison {
        sides: [*old, *new],
        facts: ComparisonFacts { forced: found, warnings, ..ComparisonFacts::default() },
        cells: requests(before).filter_map(of_name).collect(),
        gate: None,
    })
}

/// The newer figures with their ratios to the older ones; those that only the older load has are gone.
fn against(mut cell: Cell, old: &Cell) -> Cell {
    for figure in &mut cell.figures {
        let Some(before) = old.figure(figure.metric) else { continue };
        // Two that are 0, such as errors, are the same.
        let is_same = figure.value.total_cmp(&before.value).is_eq();
        let value = if is_same { 1.0 } else { figure.value / before.value };
        let estimate = Estimate { value, interval: None, samples: 1 };
        let reads = figure.reads.with(before.reads.inverse());
        let ratio = JudgedRatio::unjudged(estimate, reads);
        let is_known = is_same || figure.value > 0.0 && before.value > 0.0;
        let ratio = Ratio {
            reference: Some(before.value),
            ..Ratio::of(Reference::Older, ratio, figure.valid && before.valid)
        };
        figure.ratios.extend(is_known.then_some(ratio));
    }
    cell
}

#[cfg(test)]
mod tests;
