//! The atomics of everything that loom checks, which replaces them.

#[cfg(all(test, feature = "loom"))]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
#[cfg(not(all(test, feature = "loom")))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
