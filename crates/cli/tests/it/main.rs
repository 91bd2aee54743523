//! The program as its users meet it: arguments in, text, files and exit codes out. The built-in servers make these tests
//! work with nothing but Rust.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

/// What people get wrong, and the sentence that they get for it.
mod bad_input;
/// `load` against real servers.
mod load;
/// `run`: tables, journals, refusals.
mod run;
/// Signals and sudden deaths: nothing may survive, nothing may be lost.
mod survive;
/// The small verbs.
mod verbs;

mod world;
