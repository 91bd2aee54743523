//! Load generators on other hosts. A [`Carrier`] starts an agent on each host and carries its lines; nothing of
//! wirebench listens on a network. A [`SharedLoad`] is a whole load that several of them make, and cohorts have
//! slices of that kind. Where the servers are on another host, a whole verb is carried out there ([`Away`]).

mod away;
mod carrier;
mod carry;
mod clock;
mod crew;
mod folder;
mod hosted;
mod install;
mod parts;
mod shared_load;
mod shared_slices;

pub use away::Away;
pub use carrier::Carrier;
pub use carry::carry;
pub use crew::Fleet;
pub(crate) use crew::PATIENCE;
pub use folder::Folder;
pub use hosted::host;
pub use install::Program;
pub use shared_load::{SharedLoad, together};
pub(crate) use shared_slices::SharedSlices;
