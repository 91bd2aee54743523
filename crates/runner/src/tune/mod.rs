//! What a server can do with other shapes of load: a sweep over workers and connections, and the
//! search for the highest rate that keeps objectives.
//!
//! A sweep is an experiment like any other, whose workloads [`grid()`] makes; what they say
//! together is told by the report. The search decides after each run what the next one is:
//! [`Search`] decides and knows no clock and no server, [`seek()`] carries out and decides nothing.

mod grid;
mod search;
mod seek;

pub use grid::{Grid, grid};
pub use search::{Plan, Saw, Search};
pub use seek::{Quest, Watcher, seek, workloads};
