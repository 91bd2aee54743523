//! The names of suites in journals that other verbs than `run` write.

/// The suite of `wirebench ab`, and what both sides' names begin with.
pub const AB: &str = "ab";

/// The suite of `wirebench tune`.
pub const TUNE: &str = "tune";
