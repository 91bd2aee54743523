//! The few system calls that need unsafe code or that no crate offers, behind safe functions.
//!
//! It knows nothing of servers, loads or entries.

pub mod affinity;
pub mod child;
pub mod cpu_clock;
pub mod limits;
pub mod stdout;
pub mod terminal;
pub mod usage;
