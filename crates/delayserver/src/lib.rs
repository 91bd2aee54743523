//! An HTTP/1.1 server that answers after delays that are known beforehand: the truth against which
//! measured latencies are held.
//!
//! One thread, one epoll instance, one ordered list of timers. Deliberately not here: anything that
//! would make it fast, and any parsing beyond the ends of request heads.
#![forbid(unsafe_code)]

mod arguments;
mod mode;
mod schedule;
mod server;

pub use arguments::{ArgumentError, Options, options_from_arguments};
pub use mode::Mode;
pub use server::{Idle, serve};
