//! Validates the documents in the output of the tests of `wirebench-report`, which `WIREBENCH_DOCUMENTS` names. A line
//! has the schema of a kind, or a document.

use serde_json::{Value, json};
use std::{env, fs};

const FILE: &str = "WIREBENCH_DOCUMENTS";
const KINDS: [&str; 7] = ["ab", "compare", "compare-loads", "journal", "load", "report", "tune"];

/// The values of the lines that have this field, with what the field says.
fn values(lines: &[Value], field: &str) -> Vec<(String, Value)> {
    let kind = |line: &Value| Some((line.get(field)?.as_str()?.to_owned(), line["json"].clone()));
    lines.iter().filter_map(kind).collect()
}

#[test]
fn every_document_satisfies_the_schema_of_its_kind_and_other_objects_do_not() {
    let path = env::var_os(FILE).expect("CONTRIBUTING.md says how the documents are written");
    let text = fs::read_to_string(path).expect("the output of the tests can be read");
    // The name of a test may come before its output.
    let line = |line: &str| serde_json::from_str(&line[line.find('{')?..]).ok();
    let lines: Vec<Value> = text.lines().filter_map(line).collect();
    let mut schemas = values(&lines, "schema_of");
    schemas.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(schemas.iter().map(|(kind, _)| kind).eq(&KINDS), "{} schemas", schemas.len());
    let documents = values(&lines, "document_of");
    for (kind, schema) in &schemas {
        let validator = jsonschema::validator_for(schema).unwrap();
        assert!(!validator.is_valid(&json!({})), "{kind}");
        let mine: Vec<_> = documents.iter().filter(|it| it.0 == *kind).collect();
        assert!(!mine.is_empty(), "{kind}");
        for (_, document) in &mine {
            let errors = validator.iter_errors(document);
            let errors: Vec<_> = errors.map(|it| format!("{}: {it}", it.instance_path())).collect();
            assert_eq!(errors, [""; 0], "{kind}");
        }
        println!("{kind}: {} documents", mine.len());
    }
}
