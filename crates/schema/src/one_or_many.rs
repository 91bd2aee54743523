//! One value, or a list of values, in a file.

use serde::{Deserialize, Deserializer};

/// Either form.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected one value, or a list of values of the same kind")]
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T: Clone> OneOrMany<T> {
    pub(crate) fn values(&self) -> Vec<T> {
        match self {
            Self::One(value) => vec![value.clone()],
            Self::Many(values) => values.clone(),
        }
    }
}

/// For serde: a list that may be written as its only element.
pub(crate) fn list<'de, T, D>(from: D) -> Result<Vec<T>, D::Error>
where
    T: Clone + Deserialize<'de>,
    D: Deserializer<'de>,
{
    OneOrMany::deserialize(from).map(|it| it.values())
}
