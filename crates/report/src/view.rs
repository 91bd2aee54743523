//! The facts of a result, the same for every verb: where it comes from, its loads, and a cell for each server under
//! each load, with figures and their ratios. All forms for programs are made of it, and JSON is it.
//!
//! All types of this JSON are in this module. Those that make them, such as `build`, `gates` and `compare`, use it; it
//! uses none of them and computes no figure.

mod cell;
mod comparison;
mod figure;
mod gate;
mod published;
mod result_view;
mod tuning;
mod why;

pub use cell::{Cell, CellId, Reasons, Runs};
pub use comparison::{ComparisonFacts, Difference, LeftOut, Presence, Yardstick};
pub use figure::{Figure, Ratio, Reference, Sample};
pub use gate::{ConditionResult, Gate, GateVerdict, Hit, Lost};
pub use published::{
    Answer, ClaimedWorkload, ComparedRatio, ConclusionReport, PairReport, PublishedReport,
    PublishedRowReport,
};
pub(crate) use published::{ComparedCell, ComparedColumn, ComparedRow, ComparedTable};
pub(crate) use result_view::{BOUND, pretty};
pub use result_view::{FORMAT, LoadFacts, ResultView, Source, Verb};
pub use tuning::{CellRank, ProbedRate, SearchFacts};
pub use why::{CpuCause, Frame, Why};

#[cfg(test)]
pub(crate) mod tests;
