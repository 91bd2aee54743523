//! The JSON Schemas of `docs/schemas/`: they follow from the types that are written, and every golden
//! file keeps to the schema of its kind.

use expect_test::expect_file;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;
use wirebench_schema::journal::Record;

use crate::{
    ab::json::AbReport, compare::json::ComparisonReport, fixtures, json::Report,
    load_json::JudgedLoad, tune::Tuned,
};

fn schema<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.into_root_schema_for::<T>().to_value()
}

/// Each kind of JSON with its schema, and its golden files.
fn kinds() -> [(&'static str, Value, &'static [&'static str]); 6] {
    [
        ("journal", schema::<Record>(), &[]),
        ("load", schema::<JudgedLoad<'static>>(), &["load/report.json"]),
        ("report", schema::<Report<'static>>(), &["run/report.json"]),
        ("ab", schema::<AbReport<'static>>(), &["ab/report.json"]),
        ("compare", schema::<ComparisonReport<'static>>(), &["compare/comparison.json"]),
        ("tune", schema::<Tuned>(), &["tune/sweep.json", "tune/search.json"]),
    ]
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    for (name, schema, _) in kinds() {
        let path = format!("{}/../../docs/schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
        expect_file![path].assert_eq(&format!("{schema:#}\n"));
    }
}

#[test]
fn golden_files_keep_to_their_schemas_and_other_objects_do_not() {
    for (name, schema, files) in kinds() {
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(!validator.is_valid(&serde_json::json!({})), "{name}");
        for file in files {
            let path = format!("{}/tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
            let value: Value = serde_json::from_str(&expect_file![path].data()).unwrap();
            let errors: Vec<String> = validator
                .iter_errors(&value)
                .map(|it| format!("{}: {it}", it.instance_path()))
                .collect();
            assert_eq!(errors, [""; 0], "{file}");
        }
    }
}

#[test]
fn every_line_of_a_journal_keeps_to_its_schema() {
    let validator = jsonschema::validator_for(&schema::<Record>()).unwrap();
    let journal = fixtures::pair(0.9);
    let idle = fixtures::run(0, "go/net", fixtures::silence(100.0));
    let failed = fixtures::run(0, "go/net", fixtures::failed("it ended"));
    let runs = journal.runs.into_iter().chain([idle, failed]).map(|run| Record::Run(Box::new(run)));
    for record in std::iter::once(Record::Start(journal.start)).chain(runs) {
        let value = serde_json::to_value(&record).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|it| it.to_string()).collect();
        assert_eq!(errors, [""; 0], "{value:#}");
    }
}
