//! The negotiated TLS parameters of a load's connections. The accepted ones are in the
//! configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The TLS of a load.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct TlsSummary {
    /// The version on the first connection, such as `TLS 1.3`.
    pub version: String,
    /// The cipher suite on the first connection, by its name in the registry of IANA.
    pub cipher_suite: String,
    /// Handshakes that succeeded, over the whole load.
    pub handshakes: u64,
    /// Number of those that resumed an earlier session.
    pub resumed: u64,
}
