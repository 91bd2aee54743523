//! The JSON Schemas of `docs/schemas/`: they follow from the types that are written, and every golden
//! file keeps to the schema of its kind.

use expect_test::expect_file;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::{ab::json::AbReport, compare::json::ComparisonReport, json::Report, tune::Tuned};

fn schema<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.into_root_schema_for::<T>().to_value()
}

/// Each kind of JSON with its schema, and its golden files.
fn kinds() -> [(&'static str, Value, &'static [&'static str]); 4] {
    [
        ("report", schema::<Report>(), &["run/report.json"]),
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
