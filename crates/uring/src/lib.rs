//! Rings of io_uring and their provided buffers, behind safe functions.
//!
//! [`Exchange`] serves clients of many sockets without unsafe code: data for the kernel is borrowed
//! until the kernel has read it. [`Ring`] and [`BufferRing`] are its parts, for callers that need
//! other requests and guarantee the lifetime of their memory themselves.
//!
//! Deliberately absent: sockets and protocols, a runtime, registered files (measured on loopback:
//! no gain), zero-copy sends. The crate depends on no other crate of the workspace.

mod buffer_ring;
mod exchange;
mod probe;
mod ring;

pub use buffer_ring::{BufferRing, GROUP, Lent, Shape};
pub use exchange::{Arrival, Exchange, LONGEST_SEND_BYTES, Request};
pub use probe::probe;
pub use ring::{Ring, SILENT, SILENT_SEND_FLAGS, Wait};
