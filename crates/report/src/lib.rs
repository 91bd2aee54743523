//! Everything that people read, and what programs read of a run: a journal or a load's report goes
//! in; text, Markdown and JSON come out.
//!
//! This crate reads no clock, no file and no socket, so everything that it shows can be shown
//! again.
#![forbid(unsafe_code)]

pub mod ab;
pub mod analysis;
pub mod commands;
pub mod compare;
pub mod distribution;
pub mod hgrm;
pub mod json;
pub mod load_csv;
pub mod load_text;
pub mod load_words;
#[cfg(test)]
mod made_up;
mod notes;
mod order;
mod remarks;
pub mod screen;
pub mod table;
pub mod table_units;
pub mod tune;
mod wrap;
pub mod wrk_units;
