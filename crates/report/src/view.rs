//! The facts of a result, the same for every verb: where it comes from, its loads, and a cell for each server under
//! each load, with figures and their ratios. All forms for programs are made of it, and JSON is it.
//!
//! `build` makes it of journals and loads. Nothing here computes a figure.

mod cell;
mod figure;
mod published;
mod result_view;

pub use cell::{Cell, CellId, Reasons, Runs};
pub use figure::{Figure, Ratio, Reference, Sample};
pub(crate) use published::published;
pub use published::{PublishedReport, PublishedRowReport};
pub(crate) use result_view::{BOUND, pretty};
pub use result_view::{ComparisonFacts, FORMAT, LoadFacts, ResultView, SearchFacts, Source, Verb};

#[cfg(test)]
pub(crate) mod tests;
