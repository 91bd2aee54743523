//! Validates the documents that the tests of `wirebench-report` kept in the folder `WIREBENCH_KEEP_DOCUMENTS`. It has a
//! folder for each kind, with the schema and the documents.

use serde_json::{Value, json};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

const FOLDER: &str = "WIREBENCH_KEEP_DOCUMENTS";
const KINDS: [&str; 7] = ["ab", "compare", "compare-loads", "journal", "load", "report", "tune"];
const SCHEMA: &str = "schema.json";

fn paths(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn every_document_satisfies_the_schema_of_its_kind_and_other_objects_do_not() {
    let folder = env::var_os(FOLDER).expect("CONTRIBUTING.md says how the documents are kept");
    let folders = paths(Path::new(&folder));
    let kinds: Vec<_> = folders.iter().map(|it| it.file_name().unwrap()).collect();
    assert_eq!(kinds, KINDS);
    for (kind, folder) in KINDS.iter().zip(&folders) {
        let validator = jsonschema::validator_for(&read(&folder.join(SCHEMA))).unwrap();
        assert!(!validator.is_valid(&json!({})), "{kind}");
        let documents: Vec<_> =
            paths(folder).into_iter().filter(|path| !path.ends_with(SCHEMA)).collect();
        assert!(!documents.is_empty(), "{kind}");
        for path in &documents {
            let document = read(path);
            let errors = validator.iter_errors(&document);
            let errors: Vec<_> = errors.map(|it| format!("{}: {it}", it.instance_path())).collect();
            assert_eq!(errors, [""; 0], "{kind}: {}", path.display());
        }
        println!("{kind}: {} documents", documents.len());
    }
}
