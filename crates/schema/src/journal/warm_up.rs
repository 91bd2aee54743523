//! How a server was warmed up before it was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The load before the measured one, which goes on until the rate is steady.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct WarmUp {
    /// Its length.
    pub length_ns: u64,
    /// Whether the rate became steady.
    pub steady: bool,
    /// Correct replies per second in each 100 ms.
    pub requests_per_second: Vec<f64>,
    /// The server's CPU time per request in each 100 ms, in nanoseconds, where it was known.
    pub cpu_ns_per_request: Vec<f64>,
}
