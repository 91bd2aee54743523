//! What the machine is and what others do on it: its environment, which CPUs belong together, where
//! two sides can run apart, and what took CPU time from them.
//!
//! It reads and never changes anything. It does not know what an entry is.
#![forbid(unsafe_code)]

pub mod distance;
pub mod environment;
pub mod neighbours;
pub mod place;
pub mod topology;
