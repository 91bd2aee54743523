//! `wirebench report` on a journal that was written by hand: no server is started.

use std::fs;
use wirebench_schema::journal::{IdleMeasurement, Outcome};

use crate::{
    golden,
    journals::{self, BASELINE, ROWS},
    world::{World, program},
};

const SUITE: &str = "description = \"An example.\"\nblocks = 6\n[[workload]]\nname = \"silence\"\n\
                     scenario = \"hello\"\nphases = [\"idle\"]\nconnections = 8\nduration = \"1s\"\n";

/// Six blocks of three rows, whose truth is known, in a file of `world`.
fn written(world: &World) -> &'static str {
    let start = journals::start(SUITE);
    let cells = (0..start.blocks).flat_map(|block| ROWS.map(|row| (block, row)));
    let runs = cells.map(|(block, row)| {
        let bytes = if row.0 == BASELINE { 100.0 } else { 4096.0 };
        // A little noise, which is not the same in two rows.
        let noise = 1.0 + f64::from((block * 2 + row.1) % 5) / 1000.0;
        journals::run(block, row, "silence", silent(bytes * noise))
    });
    journals::write(world.folder.path(), start, runs);
    "runs.jsonl"
}

/// An idle measurement with this many bytes for each connection.
fn silent(bytes: f64) -> Outcome {
    Outcome::Idle(Box::new(IdleMeasurement {
        connections: 1000,
        made: 1000,
        memory_rest_bytes: 1 << 20,
        memory_bytes: 2 << 20,
        memory_bytes_per_connection: bytes,
        window_ns: 1_000_000_000,
        cpu_ns: 1_000_000,
        processes: 1,
        threads: 1,
        ..IdleMeasurement::default()
    }))
}

#[test]
fn a_journal_is_shown_as_text_and_markdown() {
    let world = World::new();
    let path = written(&world);
    for (options, begin, part) in [
        (
            &[][..],
            "example: 2 servers, ",
            "\ngo/net needs 41x the memory of c/epoll per connection.\n",
        ),
        (&["--explain"], "suite example, 6 blocks", "\nrank  entry "),
        (&["--format=markdown"], "# wirebench example\n", "\n| rank | entry "),
        (&["--metric", "idle-cpu"], "suite example, 6 blocks", "idle-cpu ratio"),
    ] {
        let text = world.stdout(&[&["report", path], options].concat());
        assert!(text.starts_with(begin) && text.contains(part), "{options:?}: {text}");
    }
}

#[test]
fn one_figure_is_printed_for_trackers() {
    let world = World::new();
    let path = written(&world);
    let bencher = world.json(&["report", path, "--format=bencher", "--metric", "memory"]);
    let measures = bencher["silence go/net"].as_object().unwrap();
    assert_eq!(measures.len(), 2, "the figure and its ratio: {bencher:#}");
}

#[test]
fn the_newest_result_has_a_name_and_its_folder_is_named_where_there_is_none() {
    let world = World::new();
    let refused = |verb: &[&str]| {
        world.wirebench(verb).assert_refused(2, &["no result in ", "target/wirebench: measure"]);
    };
    refused(&["report", "latest"]);
    refused(&["compare", "latest", "latest"]);
    let older = world.path("target/wirebench/2026-03-01-101010-quick");
    let newer = world.path("target/wirebench/2026-03-01-101010-quick-2");
    for folder in [&older, &newer] {
        fs::create_dir_all(folder).unwrap();
        fs::copy(world.path(written(&world)), folder.join("runs.jsonl")).unwrap();
    }
    let (older, newer) = (older.to_str().unwrap(), newer.to_str().unwrap());
    let compared = world.stdout(&["compare", older, "latest"]);
    assert_eq!(compared, world.stdout(&["compare", older, newer]));
    // A path that exists is meant as before.
    world.write("latest", "{}");
    world.wirebench(&["report", "latest"]).assert_refused(2, &["latest: "]);
}

#[test]
fn a_result_is_shown_with_another_baseline_another_order_and_fewer_rows() {
    let world = World::new();
    let path = written(&world);
    let entries = |options: &[&str]| -> Vec<String> {
        let text = world.stdout(&[&["report", path, "--json"], options].concat());
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let cells = || json["cells"].as_array().unwrap().iter();
        let baseline = cells().filter(|it| it["role"] == "baseline");
        let name = |it: &serde_json::Value| it["server"].as_str().unwrap().to_owned();
        baseline.chain(cells()).map(name).collect()
    };
    assert_eq!(entries(&[]), ["c/epoll", "c/epoll", "c/epoll", "go/net"]);
    assert_eq!(entries(&["--baseline", "net"]), ["go/net", "c/epoll", "go/net"]);
    assert_eq!(entries(&["--exclude", "go/"]), ["c/epoll", "c/epoll", "c/epoll"]);
    let page = world.stdout(&["report", path, "--baseline", "go/net"]);
    assert!(page.contains("vs go/net"), "{page}");
    let explained = world.stdout(&["report", path, "--explain", "--exclude", "go/*"]);
    assert!(explained.contains("go/net: excluded by --exclude"), "{explained}");
    golden::assert_refused_commands(
        &world,
        "view",
        &[
            &["report", "runs.jsonl", "--baseline", "go/nett"],
            &["report", "runs.jsonl", "--explain=go/nett"],
            &["report", "runs.jsonl", "--explain=go/net"],
            &["report", "runs.jsonl", "--exclude", "c/*"],
            &["report", "runs.jsonl", "--exclude", "rust/"],
            &["report", "runs.jsonl", "--sort", "p98"],
            &["run", "builtin/", "--baseline", "no/such"],
            &["run", "builtin/", "--exclude", "c/none"],
        ],
    );
}

#[test]
fn an_archive_shows_what_the_result_shows_and_is_not_overwritten() {
    let world = World::new();
    let path = written(&world);
    assert_eq!(world.stdout(&["report", path, "--archive", "kept"]), "kept\n");
    let shown = |result| world.stdout(&["report", result, "--format=markdown"]);
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
    let begin = "<!-- wirebench: begin -->\n";
    let end = "<!-- wirebench: end -->\n";
    world.write("README.md", format!("above\n{begin}old\n{end}below\n"));
    let command = ["report", path, "--format=markdown", "--splice", "README.md"];
    assert_eq!(world.stdout(&command), "");
    let expected = |options: &str, body: &str| {
        let comment = format!("<!-- wirebench report {path} {options}--splice README.md -->");
        format!("above\n{begin}{comment}\n\n{}\n\n{end}below\n", body.trim_end())
    };
    let markdown = world.stdout(&["report", path, "--format=markdown"]);
    let text = expected("--format=markdown ", &markdown);
    assert_eq!(world.read("README.md"), text);
    world.stdout(&command);
    assert_eq!(world.read("README.md"), text);
    world.stdout(&["report", path, "--splice", "README.md"]);
    let page = world.stdout(&["report", path]);
    let text = expected("", &format!("```text\n{page}```"));
    assert_eq!(world.read("README.md"), text);
    world.write("README.md", "no markers\n");
    let rows: [&[&str]; 7] = [
        &[".", "--format=markdown", "--splice", "README.md"],
        &[".", "--splice", "absent.md"],
        &[".", "--format=csv", "--json"],
        &[".", "--markdown", "--bencher"],
        &[".", "--explain", "--format=csv"],
        &[".", "--metric", "thruput"],
        &[".", "--metric", "cpu", "--json"],
    ];
    golden::assert_refusals(&world, "report", &rows);
    assert_eq!(world.read("README.md"), "no markers\n");
}

/// The verbs that read the result at `path`.
fn readers(path: &str) -> [Vec<&str>; 4] {
    [
        vec!["report", path],
        vec!["report", path, "--archive", "kept"],
        vec!["compare", path, path],
        vec!["site", path, "-o", "site"],
    ]
}

#[test]
fn a_journal_without_end_and_a_damaged_description_of_the_machine_are_refused() {
    let world = World::new();
    let place = |name: &str| world.path(name).display().to_string();
    let folder = place("result");
    fs::create_dir(&folder).unwrap();
    let made = std::process::Command::new("mkfifo").arg(place("result/runs.jsonl")).status();
    assert!(made.unwrap().success());
    for path in [place("result/runs.jsonl").as_str(), "/dev/zero"] {
        for words in &readers(path)[..3] {
            world.wirebench(words).assert_refused(2, &[path, ": not a regular file"]);
        }
    }
    world.wirebench(&["run", "--resume", &folder]).assert_refused(2, &[": not a regular file"]);
    fs::remove_file(place("result/runs.jsonl")).unwrap();
    fs::rename(world.path(written(&world)), place("result/runs.jsonl")).unwrap();
    for text in ["{", "\u{0}", "[]"] {
        fs::write(place("result/environment.json"), text).unwrap();
        for words in readers(&folder) {
            let parts = ["environment.json: ", "remove the file to go on without the machine"];
            // A site skips what is no result.
            let code = if words[0] == "site" { 1 } else { 2 };
            world.wirebench(&words).assert_refused(code, &parts);
        }
    }
    fs::remove_file(place("result/environment.json")).unwrap();
    for words in readers(&folder) {
        assert_eq!(world.wirebench(&words).code, Some(0), "{words:?}");
    }
}

#[test]
fn journals_that_were_put_together_are_refused() {
    let world = World::new();
    let path = written(&world);
    world.write(path, world.read(path).repeat(2));
    let repeats = "line 21 of the journal repeats line 1: ";
    world.wirebench(&["report", path]).assert_refused(2, &[repeats]);
}

#[test]
fn a_closed_standard_output_is_an_error_of_every_verb_that_prints() {
    let world = World::new();
    let path = written(&world);
    let lines =
        "report PATH/report PATH --json/compare PATH PATH --format csv/list/completions bash";
    for words in lines.split('/') {
        let script = format!("exec \"$0\" {} >&-", words.replace("PATH", path));
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .arg(program())
            .current_dir(world.folder.path())
            .output()
            .unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{words}: {message}");
        let expected = "error: the result could not be written: standard output is closed\n";
        assert!(message.ends_with(expected), "{words}: {message}");
    }
}

#[test]
fn foreign_text_in_a_journal_stays_text_in_every_form() {
    let world = World::new();
    let name = "=1|<script>\n## H\n| a | b |\u{1b}[2J](x\u{7f}\u{202e}";
    let mut start = journals::start(SUITE);
    start.workloads[0].name = name.to_owned();
    start.suite = name.to_owned();
    let reason = format!("# no\n{name}\u{1b}]0;title\u{7}");
    let runs = (0..start.blocks).flat_map(|block| {
        let failed = Outcome::Failed { reason: reason.clone(), server_stderr: reason.clone() };
        let outcome = |row: (&str, u32)| match row.1 {
            1 => failed.clone(),
            _ => silent(100.0),
        };
        ROWS.map(|row| journals::run(block, row, name, outcome(row)))
    });
    journals::write(world.folder.path(), start, runs.collect::<Vec<_>>());
    let shown = |option: &str| world.stdout(&["report", "runs.jsonl", option]);
    let options = "--no-redact --explain --format=markdown --format=csv --format=html --json";
    for option in options.split(' ') {
        let text = shown(option);
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{option}: {text}");
        let is_marked = option.ends_with("=markdown") || option.ends_with("=html");
        assert!(!(is_marked && text.contains("<script>\n## H")), "{option}: {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&shown("--json")).unwrap();
    assert_eq!(json["results"][0]["start"]["suite"], name);
}
