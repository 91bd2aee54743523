//! The statistics of wirebench: numbers in, numbers out.
//!
//! The unit is the cohort (or block): one value of each row in each cohort. A request is never a
//! sample here, because requests of one run depend on each other, and neither is a visit. This crate
//! reads no clock, no file and no socket, and draws nothing at random.
//!
//! Where to begin:
//!
//! | question | function |
//! |---|---|
//! | what do rows and cohorts add up to? | [`TwoWay::fit`] |
//! | which rows differ from the baseline, and which are the same? | [`judge_against`] |
//! | do two programs differ? | [`judge_sides`] |
//! | is the answer known before the budget has passed? | [`bounds`], [`Bounds`] |
//! | which differences does a plan find? | [`PlannedLoad`], [`Bounds::detectable`] |
//! | may the baseline be trusted? | [`check_baseline`] |
//! | which rows differ from each other? | [`rank_levels`] |
//! | how does any row compare with any other one? | [`pair_levels`] |
//! | what do the visits of an instance say together? | [`instance_values`] |
//! | what changed between two results made at different times? | [`Contrast::since`], [`judge_changes`] |
//! | how do two programs compare, with several instances of each? | [`judge_sides`] |
//! | in which states was the machine, and which of them is compared? | [`states::States`] |
//! | is this row different from that one? | [`judge_pairs`] |
//! | is this run strange? | [`outliers`] |
//! | up to which rate does this server meet its objective? | [`Threshold::of`] |
//!
//! How often the rules err and what they find is measured with simulated noise by
//! `cargo run --release -p wirebench-stats --example coverage`; `docs/methodology.md` has the tables.
#![forbid(unsafe_code)]

mod change;
mod estimate;
mod judgement;
mod mean;
mod moderation;
mod outlier;
mod pairs;
mod ranks;
mod sequential;
mod series;
mod simultaneous;
pub mod states;
mod summary;
mod threshold;
mod two_way;
mod visits;

pub use change::judge_changes;
pub use estimate::{CONFIDENCE, Estimate, Interval};
pub use judgement::{
    AaCheck, Judged, MIN_COHORTS, Outcome, check_baseline, judge_against, judge_sides,
};
pub use mean::geometric_mean_interval;
pub use outlier::outliers;
pub use pairs::{PairLevel, judge_pairs, pair_levels};
pub use ranks::{Better, Rank, rank_levels};
pub use sequential::{Bounds, PlannedLoad, PlannedLook, bounds};
pub use series::judge_series;
pub use summary::{median, median_deviation, range, ratios_by_block};
pub use threshold::{Threshold, Trial};
pub use two_way::{Contrast, TwoWay};
pub use visits::{FEWEST_TRIMMED, InstanceValue, Trend, instance_values};
