//! The schemas are checked with what is written, by the keywords that they use.

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
    let runs = journal.runs.into_iter().chain([idle, failed]).map(|run| Record::Run(Box::new(run)));
    for record in std::iter::once(Record::Start(journal.start)).chain(runs) {
        valid("journal", &serde_json::to_string(&record).unwrap());
    }
}
