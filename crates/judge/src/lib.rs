//! Judges measurements: which side set the rate, whether a run is valid, what a reader must know
//! before trusting its figures, and whether it kept its objectives.
//!
//! It reads no clock, file or socket and starts no process. Records go in, reasons come out.
#![forbid(unsafe_code)]

pub mod balance;
#[cfg(test)]
mod fixtures;
pub mod generators;
pub mod idle;
pub mod instance;
pub mod load;
pub mod neighbours;
pub mod objectives;
pub mod rest;
pub mod settle;
pub mod standing;
pub mod thresholds;
pub mod uneven;
pub mod validity;
pub mod visits;
