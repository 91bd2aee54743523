//! `wirebench report` on a journal that was written by hand: no server is started.

use std::path::PathBuf;
use wirebench_schema::journal::{IdleMeasurement, Outcome};

use crate::{
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
    let page = world.wirebench(&["report", path]);
    for part in ["go/net needs 41x the memory of c/epoll per connection.", "100 B  reference "] {
        assert!(page.stdout.contains(part), "{part} is missing in {page:#?}");
    }
    let text = world.wirebench(&["report", path, "--explain"]);
    assert_eq!(text.code, Some(0), "{text:#?}");
    for part in ["c/epoll (baseline)", "c/epoll (A/A)", "larger", "A/A: two instances of c/epoll"] {
        assert!(text.stdout.contains(part), "{part} is missing in {text:#?}");
    }
    let markdown = world.wirebench(&["report", path, "--markdown"]);
    assert!(markdown.stdout.contains("| memory/connection |"), "{markdown:#?}");
    let json = world.wirebench(&["report", path, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let row = &json["workloads"][0]["rows"][2];
    let ratio = &row["figures"]["memory_bytes_per_connection"]["ratio"];
    assert_eq!((&row["variant"], &ratio["verdict"]), (&"go/net".into(), &"larger".into()));
}

#[test]
fn another_metric_is_compared_and_an_unknown_one_refused_with_a_proposal() {
    let world = World::new();
    let path = written(&world);
    let path = path.to_str().unwrap();
    let cpu = world.wirebench(&["report", path, "--metric", "idle-cpu"]);
    assert!(cpu.stdout.contains("idle-cpu ratio") && cpu.stdout.contains("same"), "{cpu:#?}");
    let wrong = world.wirebench(&["report", path, "--metric", "thruput"]);
    assert_eq!(wrong.code, Some(2), "{wrong:#?}");
    assert!(wrong.stderr.contains("did you mean `throughput`?"), "{wrong:#?}");
    let both = world.wirebench(&["report", path, "--metric", "cpu", "--json"]);
    assert_eq!(both.code, Some(2), "{both:#?}");
}
