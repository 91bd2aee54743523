//! What the runs of a journal say together: a journal goes in, typed figures come out. Tables, files
//! and the rule by which a run stops are all made of it. It renders nothing and reads nothing.
//!
//! [`Analysis::of`] sorts the runs into the rows of each workload, which is cheap. It is made once of a
//! result and passed on. [`WorkloadRows::compare`] compares all rows of a workload with its baseline by one
//! [`Metric`]: each row has one value in each cohort (block), rows and cohorts are fitted together,
//! and what may be [claimed](Claim) of a row depends on its intervals, on a [margin](Margins) that is
//! fixed before the run and on the [check](BaselineCheck) of the baseline's two instances.
//! [`Analysis::widest_interval`] says how precise all of it is.

mod check;
mod claim;
mod comparison;
mod levels;
mod looks;
mod margins;
pub(crate) mod metric;
mod pair;
mod precision;
mod ratio;
mod rows;
mod sides;
mod sort;
mod states;
mod visits;
mod waking;

pub use check::{BaselineCheck, CheckState};
pub use claim::{Claim, Reads};
pub use comparison::{Comparison, Inconclusive};
pub(crate) use comparison::{Values, estimate};
pub(crate) use levels::Levels;
pub use margins::Margins;
pub use metric::{LimitSide, Metric, MetricFacts};
pub(crate) use pair::{PairSide, compare_series, logs};
pub use ratio::JudgedRatio;
pub use rows::{Role, Row, WorkloadRows};
pub(crate) use rows::{are_builds, asked_for, conditions};
pub(crate) use sides::judge_both;
pub use sort::Sort;
use states::Machine;
pub use states::{MachineStates, StateShare, complete_cohorts};

use std::{array, cell::OnceCell};
use wirebench_schema::journal::Journal;

/// A journal with the rows of its workloads. What is asked of it is computed once.
#[derive(Debug)]
pub struct Analysis<'a> {
    pub journal: &'a Journal,
    /// In the order of the journal's head.
    pub workloads: Vec<WorkloadRows<'a>>,
    pub(crate) machine: Machine<'a>,
}

impl<'a> Analysis<'a> {
    #[must_use]
    pub fn of(journal: &'a Journal) -> Self {
        let machine = Machine::of(journal);
        let workloads = journal.start.workloads.iter();
        let workloads = workloads.map(|it| rows::of_workload(&machine, it)).collect();
        Self { journal, workloads, machine }
    }

    /// The same with the rows of each workload in another order.
    #[must_use]
    pub fn sorted(mut self, sort: Option<Sort>) -> Self {
        self.workloads.iter_mut().for_each(|rows| rows.sort = sort);
        self
    }

    /// The first row of each workload that has one as rows of one workload, to compare workloads with each other.
    pub(crate) fn across_loads(&self) -> Option<WorkloadRows<'a>> {
        let first = self.workloads.iter().find(|it| !it.rows.is_empty())?;
        let rows = self.workloads.iter().filter_map(|it| it.rows.first().cloned()).collect();
        let (baseline, comparisons) = (None, array::from_fn(|_| OnceCell::new()));
        Some(WorkloadRows { rows, baseline, comparisons, ..first.clone() })
    }

    /// The rows of a workload, with visits of another state of the machine, if it has enough of them.
    pub(crate) fn in_state(
        &self,
        rows: &WorkloadRows<'a>,
        state: usize,
    ) -> Option<WorkloadRows<'a>> {
        let machine = self.machine.choosing(state);
        machine.filter(&rows.workload.name)?;
        let is_it = |it: &&wirebench_schema::suite::Workload| it.name == rows.workload.name;
        let workload = self.journal.start.workloads.iter().find(is_it)?;
        Some(rows::of_workload(&machine, workload))
    }
}

/// The rows of every workload of `journal`, in the order of its head.
pub(crate) fn rows(journal: &Journal) -> Vec<WorkloadRows<'_>> {
    Analysis::of(journal).workloads
}

#[cfg(test)]
mod tests;
