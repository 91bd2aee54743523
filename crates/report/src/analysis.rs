//! What the runs of a journal say together: a journal goes in, typed figures come out. Tables, files
//! and the rule by which a run stops are all made of it. It renders nothing and reads nothing.
//!
//! [`rows()`] sorts the runs into the rows of each workload, which is cheap.
//! [`WorkloadRows::compare`] compares all rows of a workload with its baseline by one
//! [`Metric`]: each row has one value in each cohort (block), rows and cohorts are fitted together,
//! and what may be [claimed](Claim) of a row depends on its intervals, on a [margin](Margins) that is
//! fixed before the run and on the [check](BaselineCheck) of the baseline's two instances.
//! [`widest_interval`] says how precise all of it is.

mod check;
mod claim;
mod comparison;
mod levels;
mod margins;
mod metric;
mod precision;
mod rows;
mod sides;
mod slices;
mod states;

pub use check::{BaselineCheck, CheckState};
pub use claim::{Claim, Limited, Reads};
pub use comparison::{Compared, Comparison, Inconclusive, RatioToBaseline};
pub(crate) use comparison::{Values, claim, estimate};
pub(crate) use levels::Levels;
pub use margins::Margins;
pub use metric::{Direction, Metric};
pub(crate) use metric::{absent, unknown};
pub use precision::widest_interval;
pub use rows::{Role, Row, WorkloadRows, rows};
pub(crate) use rows::{asked_for, conditions, rows_in};
pub use sides::SideRatio;
pub(crate) use states::Machine;
pub use states::{MachineStates, StateShare, complete_cohorts};

#[cfg(test)]
mod tests;
