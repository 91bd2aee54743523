//! The few system calls that need unsafe code or that no crate offers, behind safe functions, and what
//! this process may have of the machine.
//!
//! It knows nothing of servers, loads or entries.

pub mod affinity;
pub mod awake;
pub mod child;
pub mod cpu_clock;
pub mod files;
pub mod limits;
pub mod memory;
pub mod priority;
pub mod stdout;
pub mod terminal;
pub mod usage;
