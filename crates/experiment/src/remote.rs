//! Other hosts: how they are reached ([`Carrier`]) and get the program, and the [`Fleet`] of those that generate
//! load. Nothing of wirebench listens on a network. Where the servers are on another host, a whole verb is carried
//! out there ([`Away`]).

mod away;
mod carrier;
mod carry;
mod fleet;
mod folder;
mod hosted;
mod install;

pub use away::Away;
pub use carrier::Carrier;
pub use carry::carry;
pub use fleet::Fleet;
pub(crate) use fleet::{HEARTBEAT_EVERY, PATIENCE};
pub use folder::Folder;
pub use hosted::host;
pub use install::Program;
