//! `wirebench report` on a journal that was written by hand: no server is started.

use expect_test::expect_file;
use std::{fs, path::PathBuf};
use wirebench_schema::journal::{IdleMeasurement, Outcome};

use crate::{
    golden,
    journals::{self, BASELINE, ROWS},
    world::World,
};

const SUITE: &str = "description = \"An example.\"\nblocks = 6\n[[workload]]\nname = \"silence\"\n\
                     scenario = \"hello\"\nphases = [\"idle\"]\nconnections = 8\nduration = \"1s\"\n";

/// Six blocks of three rows, whose truth is known, in a file of `world`.
fn written(world: &World) -> PathBuf {
    let start = journals::start(SUITE);
    let cells = (0..start.blocks).flat_map(|block| ROWS.map(|row| (block, row)));
    let runs = cells.map(|(block, row)| {
        let bytes = if row.0 == BASELINE { 100.0 } else { 4096.0 };
        // A little noise, which is not the same in two rows.
        let noise = 1.0 + f64::from((block * 2 + row.1) % 5) / 1000.0;
        journals::run(block, row, "silence", silent(bytes * noise))
    });
    journals::write(world.folder.path(), start, runs)
}

/// An idle measurement with this many bytes for each connection.
fn silent(bytes: f64) -> Outcome {
    Outcome::Idle(Box::new(IdleMeasurement {
        connections: 1000,
        made: 1000,
        lost: 0,
        memory_rest_bytes: 1 << 20,
        memory_bytes: 2 << 20,
        memory_bytes_per_connection: bytes,
        window_ns: 1_000_000_000,
        cpu_ns: 1_000_000,
        context_switches_voluntary: 0,
        context_switches_involuntary: 0,
        processes: 1,
        threads: 1,
        reasons: Vec::new(),
    }))
}

#[test]
fn a_journal_is_shown_as_text_markdown_and_json() {
    let world = World::new();
    let path = written(&world);
    let path = path.to_str().unwrap();
    for (name, options) in [
        ("page.txt", &[][..]),
        ("explained.txt", &["--explain"]),
        ("report.md", &["--markdown"]),
        ("idle-cpu.txt", &["--metric", "idle-cpu"]),
    ] {
        let text = world.stdout(&[&["report", path], options].concat());
        expect_file![format!("../golden/report/{name}")].assert_eq(&text);
    }
    let json = world.wirebench(&["report", path, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let row = &json["workloads"][0]["rows"][2];
    let ratio = &row["figures"]["memory_bytes_per_connection"]["ratio"];
    assert_eq!((&row["variant"], &ratio["verdict"]), (&"go/net".into(), &"larger".into()));
}

#[test]
fn figures_are_printed_for_spreadsheets_and_trackers_and_at_most_one_form_is_chosen() {
    let world = World::new();
    let path = written(&world);
    let path = path.to_str().unwrap();
    let csv = world.stdout(&["report", path, "--csv"]);
    assert!(csv.starts_with("suite,started,workload,phase,entry,") && csv.lines().count() == 4);
    let bencher = world.stdout(&["report", path, "--bencher", "--metric", "memory"]);
    let bencher: serde_json::Value = serde_json::from_str(&bencher).unwrap();
    let measures = bencher["silence go/net"].as_object().unwrap();
    assert_eq!(measures.len(), 2, "the figure and its ratio: {bencher:#}");
    let points = world.stdout(&["report", path, "--github-action-benchmark"]);
    let points: Vec<serde_json::Value> = serde_json::from_str(&points).unwrap();
    assert!(points.iter().any(|point| point["unit"] == "bytes/connection"), "{points:#?}");
}

#[test]
fn an_archive_shows_what_the_result_shows_and_is_not_overwritten() {
    let world = World::new();
    let path = written(&world);
    let path = path.to_str().unwrap();
    assert_eq!(world.stdout(&["report", path, "--archive", "kept"]), "kept\n");
    let shown = |result| world.stdout(&["report", result, "--markdown"]);
    assert_eq!(shown("kept"), shown(path));
    assert_eq!(shown("kept/runs.jsonl.gz"), shown(path));
    world.wirebench(&["report", path, "--archive", "kept"]).assert_error(
        1,
        "cannot write the archive in kept: kept/runs.jsonl.gz: File exists (os error 17)",
    );
    let site = world.stdout(&["site", "kept", "-o", "site"]);
    assert_eq!(site, "1 run, 0 with significant changes: site/index.html\n");
}

#[test]
fn a_document_gets_the_result_between_its_markers() {
    let world = World::new();
    let path = written(&world);
    let (path, file) = (path.to_str().unwrap(), world.folder.path().join("README.md"));
    let begin = "<!-- wirebench: begin -->\n";
    let end = "<!-- wirebench: end -->\n";
    fs::write(&file, format!("above\n{begin}old\n{end}below\n")).unwrap();
    let command = ["report", path, "--markdown", "--splice", "README.md"];
    assert_eq!(world.stdout(&command), "");
    let expected = |options: &str, body: &str| {
        let comment = format!("<!-- wirebench report {path} {options}--splice README.md -->");
        format!("above\n{begin}{comment}\n\n{}\n\n{end}below\n", body.trim_end())
    };
    let text = expected("--markdown ", &world.stdout(&["report", path, "--markdown"]));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    world.stdout(&command);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    world.stdout(&["report", path, "--splice", "README.md"]);
    let page = world.stdout(&["report", path]);
    let text = expected("", &format!("```text\n{page}```"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    fs::write(&file, "no markers\n").unwrap();
    let rows: [&[&str]; 7] = [
        &[".", "--markdown", "--splice", "README.md"],
        &[".", "--splice", "absent.md"],
        &[".", "--csv", "--json"],
        &[".", "--markdown", "--bencher"],
        &[".", "--explain", "--csv"],
        &[".", "--metric", "thruput"],
        &[".", "--metric", "cpu", "--json"],
    ];
    golden::assert_refusals(&world, "report", &rows);
    assert_eq!(fs::read_to_string(&file).unwrap(), "no markers\n");
}
