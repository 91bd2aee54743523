//! Which side of a run was at its limit. The measuring crate decides it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which side was at its limit.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The server's CPUs were busy: the rate is the server's.
    Server,
    /// The generator's CPUs were busy and replies waited for it: the server may be able to do more.
    Generator,
    /// Neither was busy all the time: waiting, on each other or on a timer, sets the rate.
    Neither,
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Server => "server",
            Self::Generator => "generator",
            Self::Neither => "neither",
        })
    }
}
