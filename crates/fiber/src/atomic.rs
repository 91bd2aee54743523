//! The atomics of everything that loom checks, which replaces them.

#[cfg(feature = "loom")]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
#[cfg(not(feature = "loom"))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
