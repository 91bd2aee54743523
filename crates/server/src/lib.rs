//! Starts servers and other commands behind guards, ends them with every process that they have
//! started, and reads what those processes use: CPU time, waiting and memory.
//!
//! It does not know what an entry is, loads no server and judges nothing.
#![forbid(unsafe_code)]

pub mod command;
pub mod cost;
pub mod digest;
pub mod executable;
pub mod fence;
pub mod guard;
pub mod launch;
pub mod mapped;
pub mod memory;
pub mod parallel;
pub mod perf;
pub mod pipe;
pub mod process_clocks;
mod provenance;
pub mod threads;
pub mod tree;
pub mod visit;
