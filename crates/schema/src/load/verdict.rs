//! What a load says of itself, as types; how it is found is not decided here.

use schemars::JsonSchema;
use serde::Serialize;

/// What set the rate.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The generator: the server may be able to do more.
    Generator,
    /// The server, or the way to it: the generator waited for replies.
    Server,
    /// What was asked for: a rate that was kept, or pauses.
    Schedule,
    /// The limit is unknown.
    Unknown,
}

crate::names! { Limit:
    Generator = "generator", Server = "server", Schedule = "schedule", Unknown = "unknown"
}

/// What a load says of itself.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Verdict {
    /// What set the rate.
    pub limit: Limit,
    /// Why, each as a sentence with figures.
    pub reasons: Vec<String>,
    /// What a reader must know before trusting the figures, each as a sentence with figures.
    pub cautions: Vec<String>,
}
