//! Every type of wirebench that crosses a file or a process, with the checks that make it valid.
//!
//! Text goes in, typed values or an error with the next step come out. What is read from people
//! (`entry.toml`, suites, the command line) rejects unknown keys; what is written for machines (the
//! journal, the load report) carries a version.
//!
//! This crate reads no file, no clock and no socket.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod agent;
pub mod argv;
mod duration_text;
pub mod entry;
pub mod environment;
pub mod gate;
pub mod id;
pub mod journal;
pub mod labels;
pub mod load;
pub mod metric;
#[cfg(test)]
mod mistakes;
mod names;
pub mod objective;
mod one_or_many;
pub mod placeholder;
pub mod printable;
mod refuse;
pub mod scenario;
pub mod secrets;
pub mod server_url;
pub mod suggest;
pub mod suite;
pub mod target;
mod toml_error;
pub mod units;
pub mod verification;

/// For serde: whether a field can be absent.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
