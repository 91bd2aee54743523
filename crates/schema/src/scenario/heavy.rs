//! Connections of a load that request something else than the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The connections that request another path. Their requests are load and are counted; latencies are those of the
/// other connections.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HeavyConnections {
    /// One connection in this many.
    pub every: usize,
    /// The path, as long as the path of the target, so that all requests have one length.
    pub path: String,
}

impl HeavyConnections {
    /// Whether the connection with this number is one of them.
    #[must_use]
    pub const fn has(&self, number: usize) -> bool {
        number % self.every == self.every - 1
    }
}

impl fmt::Display for HeavyConnections {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.every, self.path)
    }
}

impl FromStr for HeavyConnections {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once(':').and_then(|(every, path)| Some((every.parse().ok()?, path)));
        match parts {
            Some((every @ 2.., path)) => Ok(Self { every, path: path.to_owned() }),
            _ => Err("write N:PATH with N at least 2, such as 8:/100".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_connections_read_back_from_their_text() {
        let heavy: HeavyConnections = "8:/100".parse().unwrap();
        assert_eq!((heavy.every, heavy.to_string().as_str()), (8, "8:/100"));
        assert_eq!((0..20).filter(|it| heavy.has(*it)).collect::<Vec<_>>(), [7, 15]);
        for text in ["1:/", "/100", "x:/", ":"] {
            assert!(text.parse::<HeavyConnections>().is_err(), "{text}");
        }
    }
}
