//! For serde: a [`Duration`] as a text such as `250ms`, or nothing.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::time::Duration;

/// Writes the text.
pub fn serialize<S: Serializer>(
    value: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.map(super::write_duration).serialize(serializer)
}

/// Reads the text.
pub fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| super::parse_duration(&text).map_err(D::Error::custom)).transpose()
}
