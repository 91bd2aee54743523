//! What the runs of a journal say together: a journal goes in, typed figures come out. Tables, files
//! and the rule by which a run stops are all made of it. It renders nothing and reads nothing.
//!
//! [`rows()`] sorts the runs into the rows of each workload, which is cheap.
//! [`WorkloadRows::compare`] puts all rows of a workload in relation to its baseline by one
//! [`Metric`]: the unit is the run, ratios are made within blocks, and what may be [claimed](Claim)
//! of a row depends on its interval, on how many rows there are and on how far apart two runs of the
//! same thing appear. [`widest_interval`] says how precise all of it is.

mod claim;
mod comparison;
mod metric;
mod precision;
mod rows;

pub use claim::{Claim, Limited, Reads};
pub use comparison::{Compared, Comparison, Noise, RatioToBaseline};
pub use metric::{Direction, Metric};
pub(crate) use metric::{absent, unknown};
pub use precision::widest_interval;
pub use rows::{Role, Row, WorkloadRows, rows};

#[cfg(test)]
mod tests;
