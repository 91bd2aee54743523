//! What can be measured: finds entries and commands, says what they need, installs and builds it, and
//! tells versions and whether a server is still the same program.
//!
//! It measures nothing and knows no machine but by what is missing on it.
#![forbid(unsafe_code)]

pub mod attempts;
pub mod build;
pub mod checkouts;
pub mod discover;
pub mod fetch_sources;
pub mod fingerprint;
pub mod named;
pub mod project;
pub mod requirement;
pub mod setup;
mod small_file;
pub mod subject;
pub mod template;
pub mod tracked;
pub mod trust;
pub mod version;
