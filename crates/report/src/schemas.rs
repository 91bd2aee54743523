//! The JSON Schemas of the JSON results and of a line of the journal. They follow from the types that are
//! written, and every golden file keeps to the schema of its kind.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;
use wirebench_schema::journal::Record;

use crate::{
    ab::json::AbReport,
    compare::Comparison,
    json::{Report, WithGate},
    load::{JudgedLoad, LoadComparison},
    tune::Tuned,
};

type Schema = fn() -> Value;

/// Each kind of JSON with its schema.
const KINDS: [(&str, Schema); 7] = [
    ("ab", schema::<AbReport<'static>>),
    ("compare", schema::<Comparison>),
    ("compare-loads", schema::<LoadComparison>),
    ("journal", schema::<Record>),
    ("load", schema::<WithGate<'static, JudgedLoad<'static>>>),
    ("report", schema::<WithGate<'static, Report<'static>>>),
    ("tune", schema::<WithGate<'static, Tuned>>),
];

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
    use expect_test::expect_file;
    use serde_json::json;

    const GOLDEN: [(&str, &str); 4] = [
        ("load", "load/report.json"),
        ("compare", "compare/comparison.json"),
        ("tune", "tune/sweep.json"),
        ("tune", "tune/search.json"),
    ];

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
    fn golden_files_keep_to_their_schemas_and_other_objects_do_not() {
        for (name, file) in GOLDEN {
            let path = format!("{}/tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
            valid(name, &expect_file![path].data());
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
