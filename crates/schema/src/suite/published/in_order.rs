//! A map in a file whose order is kept: the rows of a table are in the document's order.

use serde::{
    Deserialize, Deserializer, Serializer,
    de::{MapAccess, Visitor},
};
use std::{fmt, marker::PhantomData};

use crate::id::VariantId;

pub(super) fn serialize<T: serde::Serialize, S: Serializer>(
    rows: &[(VariantId, T)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(rows.iter().map(|(variant, row)| (variant, row)))
}

pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(VariantId, T)>, D::Error> {
    deserializer.deserialize_map(Rows(PhantomData))
}

struct Rows<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Rows<T> {
    type Value = Vec<(VariantId, T)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut rows = Vec::new();
        while let Some(row) = map.next_entry()? {
            rows.push(row);
        }
        Ok(rows)
    }
}
