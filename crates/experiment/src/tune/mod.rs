//! What a server can do with other shapes of load: a sweep over workers and connections, and the
//! search for the highest rate that keeps objectives.
//!
//! [`grid()`] makes the workloads of a sweep and [`sweep()`] measures them; what they say together is
//! found by the report. The search decides after each run what the next one is:
//! [`Search`] decides and knows no clock and no server, [`seek()`] runs the loads and decides nothing.

mod grid;
mod search;
mod seek;
mod sweep;

pub use grid::grid;
pub use search::{Plan, ProbeResult, Search};
pub use seek::{SearchGoal, Watcher, seek, workloads};
pub use sweep::sweep;
