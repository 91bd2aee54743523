//! The last line of a journal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tail of a journal.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct End {
    /// Time as RFC 3339 in UTC.
    pub ended: String,
    /// The way it ended.
    pub reason: EndReason,
}

/// The end of a suite's run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// All runs were made.
    Complete,
    /// A signal ended it.
    Interrupted,
    /// Every interval is as narrow as was asked for.
    Precise,
    /// The answer was known.
    Decided,
    /// The time was up.
    Budget,
}
