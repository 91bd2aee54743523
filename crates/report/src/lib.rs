//! Everything that people read: a journal or a load's report goes in, text and Markdown come out.
//!
//! This crate reads no clock, no file and no socket, so everything that it shows can be shown
//! again.
#![forbid(unsafe_code)]

pub mod format;
pub mod load_text;
pub mod number;
pub mod summary;
pub mod table;
