//! Other hosts: how they are reached ([`Carrier`]) and get the program, and the [`Fleet`] of those that generate
//! load. Nothing of wirebench listens on a network.

mod carrier;
mod fleet;
mod install;

pub use carrier::Carrier;
pub use fleet::Fleet;
pub(crate) use fleet::{HEARTBEAT_EVERY, PATIENCE};
pub use install::Program;
