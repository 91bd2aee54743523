//! Discovers, builds, places, starts, verifies and measures servers, and writes down what came of
//! it.
//!
//! It prints nothing and asks nobody: progress goes to an [`experiment::Observer`], results go to
//! the journal.
#![forbid(unsafe_code)]

mod agent;
pub mod attempts;
pub mod build;
pub mod cohort;
pub mod conformance;
pub mod discover;
pub mod doctor;
pub mod experiment;
pub mod fingerprint;
pub mod generate;
pub mod journal;
pub mod measure;
pub mod plan;
pub mod project;
pub mod requirement;
pub mod setup;
pub mod subject;
pub mod template;
pub mod tool;
pub mod tune;
pub mod version;
