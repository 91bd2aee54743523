//! The JSON Schemas of the JSON results and of a line of the journal. They follow from the types that are
//! written, and the tests of every verb check their results by them.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;
use wirebench_schema::journal::Record;

use crate::view::ResultView;

type Schema = fn() -> Value;

/// Each kind of JSON with its schema.
const KINDS: [(&str, Schema); 2] =
    [("journal", schema::<Record>), ("result", schema::<ResultView<'static>>)];

fn schema<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.into_root_schema_for::<T>().to_value()
}

/// The kinds that have a schema.
pub fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name)
}

/// The schema of a kind, as JSON text.
#[must_use]
pub fn text(name: &str) -> Option<String> {
    let (_, schema) = KINDS.iter().find(|(kind, _)| *kind == name)?;
    Some(format!("{:#}", schema()))
}

#[cfg(test)]
pub(crate) mod tests;
