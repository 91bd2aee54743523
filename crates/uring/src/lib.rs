//! Rings of io_uring and the buffers that they are provided with, behind safe functions.
//!
//! [`Exchange`] is all that a client of many sockets needs, and no use of it is unsafe: what the
//! kernel is to read is borrowed until the kernel has read it. [`Ring`] and [`BufferRing`] are what
//! it is made of, for those who need other requests and vouch for their memory themselves.
//!
//! Deliberately not here: sockets and what is spoken on them, a runtime, registered files (measured
//! on loopback: no gain), zero-copy sends. The crate depends on no other crate of the workspace.

mod buffer_ring;
mod exchange;
mod probe;
mod ring;

pub use buffer_ring::{BufferRing, GROUP, Lent, Shape};
pub use exchange::{Arrival, Exchange, LONGEST_SEND_BYTES, Request};
pub use probe::probe;
pub use ring::{Ring, SILENT, SILENT_SEND_FLAGS, Wait};
