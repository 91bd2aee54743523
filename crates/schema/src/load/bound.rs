//! What set the rate of a load or of a run. The measuring crate decides it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What set the rate. A load knows its own side alone, a run both.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The server, whose CPUs were busy in a run: the rate is the server's.
    Server,
    /// The generator, for which replies waited: the server may be able to do more.
    Generator,
    /// Of a run: neither was busy all the time, and waiting, on each other or on a timer, sets the rate.
    Neither,
    /// Of a load: what was requested, a rate that was kept, or pauses.
    Schedule,
    /// Of a load: unknown.
    #[default]
    Unknown,
}

crate::names! { Bound:
    Server = "server", Generator = "generator", Neither = "neither", Schedule = "schedule", Unknown = "unknown"
}
