//! For serde: a [`Duration`] as a text such as `250ms`.

use serde::{Deserialize, Deserializer, Serializer, de::Error};
use std::time::Duration;

/// Writes the text.
pub fn serialize<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&super::write_duration(*value))
}

/// Reads the text.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    super::parse_duration(&text).map_err(D::Error::custom)
}
