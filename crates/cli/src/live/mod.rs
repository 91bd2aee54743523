//! Progress on standard error, and signals, while a verb runs.

pub(crate) mod interrupt;
pub(crate) mod progress;
