//! Which cells are in both results, and what became of the others.
//!
//! Not here: whether what is in both may be compared.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};
use wirebench_judge::standing::voids;
use wirebench_schema::journal::Journal;

use super::{LeftOut, Presence, Side};
use crate::{
    analysis::{Metric, Role, Row, WorkloadRows},
    not_measured::not_measured,
    notes::{Notes, Remark},
    view::CellId,
};

#[derive(Clone, Debug)]
pub(super) struct Pair<'a> {
    pub(super) cell: CellId,
    pub(super) old: Half<'a>,
    pub(super) new: Half<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Half<'a> {
    pub(super) rows: &'a WorkloadRows<'a>,
    pub(super) row: &'a Row<'a>,
}

/// The rows of the older and of the newer result.
pub(super) type Results<'a> = [Vec<WorkloadRows<'a>>; 2];

pub(super) struct Cells<'a> {
    pub(super) pairs: Vec<Pair<'a>>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Finds the cells that have figures in both results, and those that have them in one.
pub(super) fn pair<'a>(old: &Side<'_>, new: &Side<'_>, results: &'a Results<'a>) -> Cells<'a> {
    let [mut olds, mut news] =
        [(old, &results[0]), (new, &results[1])].map(|(side, rows)| halves(side.journal, rows));
    let all: BTreeSet<CellId> = olds.keys().chain(news.keys()).cloned().collect();
    let mut cells = Cells { pairs: Vec::new(), left_out: Vec::new() };
    for cell in all {
        let (presence, reason) = match (olds.remove(&cell), news.remove(&cell)) {
            (Some(old), Some(new)) => {
                cells.pairs.push(Pair { cell, old, new });
                continue;
            }
            (Some(_), None) => match what_broke(new.journal, &cell) {
                Some(reason) => (Presence::Lost, reason),
                None => (Presence::OldOnly, "not measured in the newer result".to_owned()),
            },
            (None, _) => {
                let absent = || "not measured in the older result".to_owned();
                let reason = what_broke(old.journal, &cell).unwrap_or_else(absent);
                (Presence::NewOnly, reason)
            }
        };
        cells.left_out.push(LeftOut { cell, presence, reason });
    }
    cells
}

/// The cells of one result that have figures. The second run of a baseline is no cell: it tells the
/// noise.
fn halves<'a>(journal: &Journal, result: &'a [WorkloadRows<'a>]) -> BTreeMap<CellId, Half<'a>> {
    let mut halves = BTreeMap::new();
    for rows in result {
        let measured = rows.rows.iter().filter(|row| {
            // Without its first run a baseline's second one still is no cell.
            let is_second = row.role == Role::SecondOfBaseline || row.copy >= journal.start.copies;
            !is_second && row.measured() > 0
        });
        for row in measured {
            let cell = CellId::of(&rows.workload, row.variant, row.copy);
            halves.insert(cell, Half { rows, row });
        }
    }
    halves
}

/// Why a cell that should have figures has none; none for a cell that was not requested.
fn what_broke(journal: &Journal, cell: &CellId) -> Option<String> {
    let is_part = journal.start.workloads.iter().any(|it| it.name == cell.load);
    not_measured(journal, &cell.variant()?, Some(&cell.load)).filter(|_| is_part)
}

/// Why `metric` of the runs of a row is not what it claims to be, each sentence once.
pub(super) fn doubts(row: &Row<'_>, metric: Metric) -> Vec<Remark> {
    let failed = row.runs.iter().filter_map(|run| run.outcome.failure());
    let failed = failed.map(|reason| Remark::from(format!("failed: {reason}")));
    let invalid = row.reasons().filter(|reason| voids(reason, metric.is_tail(), &[]));
    Notes::of(failed.chain(invalid.map(Remark::from))).into_remarks()
}

impl fmt::Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.presence {
            Presence::Lost | Presence::OldOnly => "only in the older result: ",
            Presence::NewOnly => "only in the newer result: ",
            Presence::Both => "",
        };
        write!(formatter, "{}: {place}{}", self.cell, self.reason)
    }
}
