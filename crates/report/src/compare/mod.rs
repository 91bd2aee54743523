//! Two results compared cell by cell: what changed, and whether that is significant.
//!
//! Both results are fitted by the model of [`analysis`](crate::analysis). Where the baseline is the same
//! program in both, a change is that of the ratio to it, so that a machine that has become slower as a
//! whole is no change. A change is claimed when its interval excludes "no change" and is not inside the
//! margin, which was fixed before either run.
//!
//! Each result is one session, so a claim is limited to these two results: how far two sessions of the
//! same program differ is not in any interval.
//!
//! Not here: a figure over all cells. Whether 5 % in one cell are worth 5 % in another is for the
//! reader to say.

mod cells;
mod comparison;
mod document;
mod grounds;
mod judge;
mod loads;
mod names;
mod view;
pub(crate) mod words;
mod yardstick;

use comparison::Summary;
pub use comparison::{Change, Comparison, Movement, Side};
pub use document::Rows;
pub(crate) use grounds::ProgramIdentity;
pub use loads::{LoadSide, compare_loads};

use wirebench_schema::gate::Condition;

use crate::{
    analysis::{Metric, MetricFacts, rows},
    gates::{self, Evidence},
    view::{CellId, ComparisonFacts, Difference, LeftOut, Lost, Presence, Verb, Yardstick},
};

/// What is wanted of a comparison.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// What is compared; the usual figures of each phase when it is empty.
    pub metrics: Vec<Metric>,
    /// Compares figures, with the machine's drift, even where ratios to the baseline could be compared: where it is the
    /// same program in both results.
    pub absolute: bool,
    /// Compares even results that differ in what must be equal, and says so.
    pub force: bool,
    /// When the comparison fails. The figures that they name are compared too.
    pub conditions: Vec<Condition>,
}

/// Why two results were not compared.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NotComparable {
    /// They are not of the same experiment.
    Differ(Vec<Difference>),
    /// No cell has comparable figures in both; each sentence says of one why.
    NothingInCommon(Vec<String>),
}

/// Holds `new` against `old`.
pub fn compare(
    old: &Side<'_>,
    new: &Side<'_>,
    options: &CompareOptions,
) -> Result<Comparison, NotComparable> {
    let names = names::exchanged(old.journal, new.journal);
    let renamed = (!names.is_empty()).then(|| names::renamed(new.journal, &names));
    let new = &Side { journal: renamed.as_ref().unwrap_or(new.journal), ..*new };
    let exchanged = names.iter().map(|(now, before)| {
        format!(
            "{now} of {} is compared with {before} of {}: their programs decide",
            new.name, old.name
        )
    });
    let results = [old, new].map(|side| rows(side.journal));
    let cells::Cells { pairs, mut left_out } = cells::pair(old, new, &results);
    let (mut differences, rates) = grounds::differences(old, new, &pairs);
    if !differences.is_empty() && !options.force {
        return Err(NotComparable::Differ(differences));
    }
    let pairs = if options.force {
        differences.extend(rates.into_values());
        pairs
    } else {
        let (kept, apart) = grounds::take_apart(&rates, pairs);
        left_out.extend(apart);
        kept
    };
    if pairs.is_empty() {
        let why = left_out.iter().map(ToString::to_string).collect();
        return Err(NotComparable::NothingInCommon(why));
    }
    let judged = judge::judge(old, new, &results, &pairs, options);
    // One program may read other files, which only its figures show.
    let is_far = |it: &Change| {
        [Metric::Cpu, Metric::Throughput].contains(&it.metric)
            && yardstick::is_far(it.ratio.judged.estimate.value)
    };
    let nothing_differs = !options.force
        && left_out.is_empty()
        && grounds::nothing_differs(old, new, &pairs)
        && !judged.changes.iter().any(is_far);
    let judged = if nothing_differs { judge::Judged::default() } else { judged };
    let judge::Judged { changes, yardsticks, warnings, lost } = judged;
    let cells = view::cells(new.journal, &results[1], &changes);
    let lost = lost_figures(&left_out, &lost, &options.conditions);
    let evidence = Evidence { verb: Verb::Compare, cells: &cells, lost, nothing_differs };
    Ok(Comparison {
        verb: Verb::Compare,
        results: [old, new].map(Summary::of),
        gate: gates::judge(&options.conditions, evidence),
        facts: ComparisonFacts {
            forced: differences,
            warnings: exchanged.chain(grounds::warnings(old, new)).chain(warnings).collect(),
            versions: grounds::versions(old, new),
            nothing_differs,
            baseline_drift: yardsticks,
            left_out,
        },
        changes,
        cells,
    })
}

/// Cells that broke, and those of which a figure that a condition names is in the older result alone.
fn lost_figures(
    left_out: &[LeftOut],
    figures: &[(CellId, Metric)],
    conditions: &[Condition],
) -> Vec<Lost> {
    let broke = left_out.iter().filter(|it| it.presence == Presence::Lost);
    let broke = broke.map(|it| Lost { cell: it.cell.clone(), reason: it.reason.clone() });
    let is_named = |(cell, metric): &&(CellId, Metric)| {
        let mut named = conditions.iter().filter(|it| it.change().is_some());
        named.any(|it| it.figure.changes_in(cell.phase) == Some(*metric))
    };
    let figures = figures.iter().filter(is_named).map(|(cell, metric)| Lost {
        cell: cell.clone(),
        reason: format!("{} is missing in the newer result", metric.title()),
    });
    broke.chain(figures).collect()
}

#[cfg(test)]
mod tests;
