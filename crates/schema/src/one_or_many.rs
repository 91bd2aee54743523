//! One value, or a list of values, in a file.

use serde::{Deserialize, Deserializer, de::Error};

/// Either form.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected one value, or a list of values of the same kind")]
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub(crate) fn values(self) -> Vec<T> {
        match self {
            Self::One(value) => vec![value],
            Self::Many(values) => values,
        }
    }
}

/// For serde: a list with at least one element, which may be written as its only one.
pub(crate) fn list<'de, T, D>(from: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    let values = OneOrMany::deserialize(from)?.values();
    match values.is_empty() {
        true => Err(D::Error::custom("an empty list: write at least one value, or omit the key")),
        false => Ok(values),
    }
}
