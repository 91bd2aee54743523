//! The engines: each moves the bytes of one thread's session by one mechanism of the kernel.
//!
//! An engine decides nothing: what to send, to whom and when, and what a reply means is the
//! session's.

pub(crate) mod epoll;

use crate::{codec::Codec, error::LoadError, session::Session};

/// A mechanism that moves bytes.
pub(crate) trait Engine {
    /// One turn: tell the session the time, do what it wants, wait until it wakes or something
    /// happens, and tell it what.
    fn turn<C: Codec>(&mut self, session: &mut Session<C>) -> Result<(), LoadError>;
}
