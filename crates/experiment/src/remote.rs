//! Load generators on other hosts. A [`Carrier`] starts an agent on each host and carries its lines; nothing of
//! wirebench listens on a network. [`generators`] makes one load with several of them.

mod carrier;
mod clock;
pub mod generators;
mod install;

pub use carrier::Carrier;
pub use generators::{Fleet, together};
pub use install::Program;
