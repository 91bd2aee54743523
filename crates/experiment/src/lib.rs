//! Plans and runs measurements: blocks, cohorts, single runs, pilots and searches, and
//! writes every result to the journal.
//!
//! It prints nothing: progress goes to an [`experiment::Observer`]. Servers, checks and the machine are
//! known to the crates below it.
#![forbid(unsafe_code)]

pub mod agents;
pub mod cohort;
pub mod cut;
pub mod evidence;
pub mod experiment;
#[cfg(test)]
mod fixtures;
pub mod journal;
pub mod measure;
pub mod plan;
pub mod remote;
pub mod tool;
pub mod tune;
mod wake_up;
mod why;
