//! The statistics of wirebench: numbers in, numbers out.
//!
//! The unit is the run of a block. A request is never a sample here, because requests of one run
//! depend on each other. This crate reads no clock, no file and no socket; what it draws at random
//! comes from a seed that is a parameter, so that everything it says can be said again.
//!
//! Where to begin:
//!
//! | question | function |
//! |---|---|
//! | how fast is this row, beside the baseline of the same blocks? | [`ratio_estimate`] |
//! | how large is this quantity? | [`location_estimate`], [`percentile_interval`] |
//! | what changed between two results made at different times? | [`change_estimate`] |
//! | which of these rows differ from the baseline? | [`judge`], [`judge_changes`] |
//! | which of these rows differ from each other? | [`rank_rows`] |
//! | how far apart may two equal things look here? | [`Floor::from_pairs`] |
//! | is this run strange? | [`outliers`] |
//! | is this server warm? | [`steadiness`] |
//! | up to which rate does this server meet its objective? | [`Threshold::of`] |
//!
//! How often the intervals hold and how often the verdicts are wrong is measured with simulated
//! noise by `cargo run --release -p wirebench-stats --example coverage`.
#![forbid(unsafe_code)]

mod change;
mod estimate;
mod floor;
mod location;
mod outlier;
mod percentile;
mod permutation;
mod rank_distribution;
mod ranks;
mod significance;
mod steady;
mod summary;
mod threshold;
mod verdict;

pub use change::{change_estimate, hodges_lehmann_shift};
pub use estimate::{CONFIDENCE, Estimate, Interval, MIN_BLOCKS};
pub use floor::{Floor, FloorBasis};
pub use location::{hodges_lehmann, location_estimate, ratio_estimate};
pub use outlier::{MODIFIED_Z_LIMIT, modified_z_scores, outliers};
pub use percentile::{percentile_interval, percentile_ranks};
pub use permutation::{ENUMERATED_LIMIT, permutation_p, sign_flip_p};
pub use ranks::{Better, Rank, rank_rows};
pub use significance::{SIGNIFICANCE, holm, student_p, welch_p};
pub use steady::{STEADY_WINDOW, Steadiness, steadiness};
pub use summary::{median, range, ratios_by_block};
pub use threshold::{Threshold, Trial};
pub use verdict::{Change, Judgement, Verdict, judge, judge_changes};
