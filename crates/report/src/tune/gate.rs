//! The evidence for conditions in a result of `tune`.

use wirebench_schema::{gate::Condition, journal::Journal};

use super::{Tuned, Tuning};
use crate::{
    gates::{self, Evidence},
    view::{Cell, CellId, Gate, Lost, Verb},
};

/// The conditions on a result of `tune`: on the best combination, or on the rate that was found.
#[must_use]
pub fn gate(tuned: &Tuned<'_>, conditions: &[Condition]) -> Option<Gate> {
    let cells: Vec<Cell> = match &tuned.tuning {
        Tuning::Sweep(sweep) => {
            let best = sweep.best().map(|it| &it.id.load);
            sweep.all.iter().filter(|it| Some(&it.id.load) == best).cloned().collect()
        }
        Tuning::Search(search) if search.is_confirmed() => search.cells.clone(),
        Tuning::Search(_) => Vec::new(),
    };
    let lost = if cells.is_empty() { nothing(tuned.analysis.journal) } else { Vec::new() };
    gates::judge(
        conditions,
        Evidence { verb: Verb::Tune, cells: &cells, lost, ..Evidence::default() },
    )
}

/// That a search or a sweep has no result, unless all confirmations were disturbed, which says nothing of the server.
fn nothing(journal: &Journal) -> Vec<Lost> {
    let start = &journal.start;
    let is_disturbed = journal.found.is_some_and(|it| it.disturbed.is_some());
    let both = start.variants.first().zip(start.workloads.last()).filter(|_| !is_disturbed);
    let cell = both.map(|(it, workload)| CellId::of(workload, &it.variant, 0));
    let reason = "no combination or rate was found and confirmed".to_owned();
    cell.map(|cell| Lost { cell, reason }).into_iter().collect()
}
