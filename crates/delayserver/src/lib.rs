//! An HTTP/1.1 server that answers after known delays, to check measured latencies.
//!
//! One thread, one epoll instance, one ordered list of timers. Deliberately absent: optimisations,
//! and any parsing beyond the ends of request heads.
#![forbid(unsafe_code)]

mod arguments;
mod mode;
mod schedule;
mod server;

pub use arguments::{ArgumentError, Options, options_from_arguments};
pub use mode::Mode;
pub use server::{Idle, serve};
