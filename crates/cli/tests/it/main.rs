//! The program as its users meet it: arguments in, text, files and exit codes out. The built-in
//! servers make these tests work with nothing but Rust.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bad_input;
mod fresh;
mod goals;
mod load;
mod report;
mod resume;
mod run;
mod stalled;
mod suites;
mod survive;
mod tune;
mod verbs;

mod world;
