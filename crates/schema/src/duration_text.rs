//! For serde: a [`Duration`] as a text such as `250ms`.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::time::Duration;

use crate::units::{parse_duration, write_duration};

// Without documentation, which would be in the schemas of its fields.
#[derive(JsonSchema)]
#[schemars(inline)]
pub(crate) struct DurationText(#[allow(dead_code, reason = "the type is that of the text")] String);

impl DurationText {
    pub(crate) fn serialize<T, S>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
    where
        T: Copy + Into<Option<Duration>>,
        S: Serializer,
    {
        let value: Option<Duration> = (*value).into();
        value.map(write_duration).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        parse_duration(&String::deserialize(from)?).map_err(D::Error::custom)
    }

    pub(crate) fn optional<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| parse_duration(&text).map_err(D::Error::custom)).transpose()
    }
}
