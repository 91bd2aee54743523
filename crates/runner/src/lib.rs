//! Discovers, builds, places, starts, verifies and measures servers, and writes down what came of
//! it.
//!
//! It prints nothing and asks nobody: progress goes to an [`experiment::Observer`], results go to
//! the journal.
#![forbid(unsafe_code)]

mod agent;
pub mod cohort;
pub mod experiment;
pub mod generate;
pub mod journal;
pub mod measure;
pub mod plan;
pub mod tool;
pub mod tune;
