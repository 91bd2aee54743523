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
pub(crate) mod tests {
    mod check;

    use self::check::{assert_known, check};
    use super::*;
    use crate::fixtures;
    use serde_json::json;

    /// The value of a JSON text, which keeps to the schema of its kind.
    #[track_caller]
    pub(crate) fn valid(name: &str, json: &str) -> Value {
        let schema: Value = serde_json::from_str(&text(name).unwrap()).unwrap();
        let differences = |value: &Value| check(&schema, &schema, ("", value));
        assert_ne!(differences(&json!({})), [""; 0], "{name}");
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(differences(&value), [""; 0], "{name}");
        // For the complete validator in `validate/`.
        println!("{}", json!({"document_of": name, "json": value}));
        value
    }

    #[test]
    fn every_schema_has_only_keywords_that_are_checked() {
        for name in names() {
            let schema: Value = serde_json::from_str(&text(name).unwrap()).unwrap();
            assert_known(&schema);
            println!("{}", json!({"schema_of": name, "json": schema}));
        }
    }

    #[test]
    fn every_line_of_a_journal_keeps_to_its_schema() {
        let journal = fixtures::pair(0.9);
        let idle = fixtures::run(0, "go/net", fixtures::silence(100.0));
        let failed = fixtures::run(0, "go/net", fixtures::failed("it ended"));
        let runs =
            journal.runs.into_iter().chain([idle, failed]).map(|run| Record::Run(Box::new(run)));
        for record in std::iter::once(Record::Start(journal.start)).chain(runs) {
            valid("journal", &serde_json::to_string(&record).unwrap());
        }
    }
}
