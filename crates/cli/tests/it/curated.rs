//! The measured results in `results/`: their tables and pictures, and the README's, are what the program
//! makes of the journals today.

use expect_test::expect_file;
use serde_json::Value;
use std::{
    fs,
    os::unix,
    path::{Path, PathBuf},
    process::Command,
};

use crate::world::{World, entries};

const README: &str = "README.md";
const BEGIN: &str = "<!-- wirebench report ";
const INDEX: &str = "results/README.md";
const CONCLUSIONS: &str = "## conclusions of the document:";

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A world with a link to the results.
fn world() -> World {
    let world = World::new();
    unix::fs::symlink(project().join("results"), world.folder.path().join("results")).unwrap();
    world
}

#[test]
fn tables_and_pictures_of_the_results_are_up_to_date() {
    let (world, project) = (world(), project());
    let sessions = entries(&project.join("results")).into_iter().filter(|it| it.is_dir());
    let results: Vec<PathBuf> =
        sessions.flat_map(|it| entries(&it)).filter(|it| it.is_dir()).collect();
    assert!(!results.is_empty());
    for result in results {
        let relative = result.strip_prefix(&project).unwrap().to_str().unwrap();
        let table = world.stdout(&["report", relative, "--format=markdown"]);
        expect_file![result.join("report.md")].assert_eq(&table);
        let is_picture = |path: &PathBuf| path.extension().is_some_and(|it| it == "svg");
        let kept: Vec<PathBuf> = entries(&result).into_iter().filter(is_picture).collect();
        if !kept.is_empty() {
            world.stdout(&["report", relative, "--svg", "pictures"]);
        }
        let pictures = world.folder.path().join("pictures");
        for picture in kept {
            let made = pictures.join(picture.file_name().unwrap());
            expect_file![&picture].assert_eq(&fs::read_to_string(made).unwrap());
        }
    }
}

/// The text of a report's section, without what its heading begins with.
fn section<'a>(report: &'a str, heading: &str) -> &'a str {
    let (_, section) = report.split_once(heading).unwrap_or_else(|| panic!("no `{heading}`"));
    section.split_once("\n## ").map_or(section, |(section, _)| section).trim()
}

/// The index, with the parts of reports that it names in comments such as
/// `<!-- DATE-CPU/SUITE: ## HEADING -->`, each up to `<!-- end -->`.
fn with_parts(index: &str) -> String {
    let (parts, last) = index.rsplit_once("<!-- end -->").unwrap();
    let mut filled = String::new();
    for part in parts.split("<!-- end -->") {
        let (text, rest) = part.rsplit_once("<!-- ").unwrap();
        let (name, _) = rest.split_once(" -->").unwrap();
        let (result, heading) = name.split_once(": ").unwrap();
        let report = project().join("results").join(result).join("report.md");
        let report = fs::read_to_string(report).unwrap();
        let section = section(&report, heading);
        filled += &format!("{text}<!-- {name} -->\n\n{section}\n\n<!-- end -->");
    }
    filled + last
}

#[test]
fn the_index_of_results_has_the_conclusions_of_all_documents() {
    let index = fs::read_to_string(project().join(INDEX)).unwrap();
    expect_file![project().join(INDEX)].assert_eq(&with_parts(&index));
    let readme = fs::read_to_string(project().join(README)).unwrap();
    for document in ["async-bench", "go-uring", "restinio", "zab", "httpbench"] {
        let mark = format!("/{document}: {CONCLUSIONS} -->");
        assert_eq!(index.matches(&mark).count(), 1, "{document}");
        let (before, after) = index.split_once(&mark).unwrap();
        let session = before.rsplit("<!-- ").next().unwrap();
        let answers = after.split("\n\n").nth(1).unwrap();
        let line = format!("[{answers}](results/{session}/{document}/report.md)");
        assert!(readme.contains(&line), "{README} does not have {line}");
    }
}

/// The journal of a result as it was written before there were conclusions, names of rows and headings.
fn older(journal: &str) -> String {
    let (first, runs) = journal.split_once('\n').unwrap();
    let mut start: Value = serde_json::from_str(first).unwrap();
    let figures = start["published"]["figures"].as_object_mut().unwrap();
    assert!(figures.remove("conclusion").is_some());
    for table in figures["table"].as_array_mut().unwrap() {
        assert!(table.as_object_mut().unwrap().remove("heads").is_some());
    }
    for row in figures["rows"].as_object_mut().unwrap().values_mut() {
        let row = row.as_object_mut().unwrap();
        row.retain(|key, _| !["measured", "name", "reason"].contains(&key.as_str()));
        row.insert("artefact".to_owned(), Value::Null);
    }
    format!("{start}\n{runs}")
}

#[test]
fn a_stored_result_is_read_with_what_the_program_knows_of_its_document() {
    let world = World::new();
    let stored = project().join("results/2026-11-27-amd-epyc-2-cpus/restinio/runs.jsonl.gz");
    let journal = Command::new("zcat").arg(stored).output().unwrap().stdout;
    fs::create_dir(world.folder.path().join("old")).unwrap();
    let copy = world.folder.path().join("old/runs.jsonl");
    fs::write(copy, older(&String::from_utf8(journal).unwrap())).unwrap();
    let report: Value = serde_json::from_str(&world.stdout(&["report", "old", "--json"])).unwrap();
    let rows = report["published"]["rows"].as_array().unwrap();
    let different = rows.iter().filter(|row| row["state"] == "different").count();
    assert_eq!((rows.len(), different), (6, 1));
    let number = |key: &str| report["published"][key].as_array().unwrap().len();
    assert_eq!((number("tables"), number("conclusions")), (1, 8));
}

#[test]
fn the_readme_has_a_result_as_it_is() {
    let (world, project) = (world(), project());
    let readme = fs::read_to_string(project.join(README)).unwrap();
    let (_, command) = readme.split_once(BEGIN).unwrap();
    let (result, _) = command.split_once(' ').unwrap();
    assert!(result.starts_with("results/"), "{result}");
    let copy = world.folder.path().join(README);
    fs::write(&copy, &readme).unwrap();
    world.stdout(&["report", result, "--splice", README]);
    expect_file![project.join(README)].assert_eq(&fs::read_to_string(copy).unwrap());
    for picture in readme.split("(results/").skip(1) {
        let (path, _) = picture.split_once(')').unwrap();
        assert!(project.join("results").join(path).exists(), "results/{path} is not there");
    }
}
