//! `wirebench report` on a journal that was written by hand: no server is started.

use std::{fs, path::PathBuf};
use wirebench_schema::{
    journal::{
        Counts, Described, End, EndReason, GeneratorVersion, Goal, IdleMeasurement, JOURNAL_FORMAT,
        Outcome, Placement, Record, Run, Start,
    },
    suite::{Scale, Suite},
};

use crate::world::World;

const SUITE: &str = "description = \"An example.\"\nblocks = 6\n[[workload]]\nname = \"silence\"\n\
                     scenario = \"hello\"\nphases = [\"idle\"]\nconnections = 8\nduration = \"1s\"\n";

/// A variant, which copy of it, and what it keeps for a connection.
const ROWS: [(&str, u32, f64); 3] =
    [("c/epoll", 0, 100.0), ("c/epoll", 1, 100.0), ("go/net", 0, 4096.0)];

/// Six blocks of three rows, whose truth is known, in a file of `world`.
fn written(world: &World) -> PathBuf {
    let mut records = vec![Record::Start(start())];
    for block in 0..6 {
        for (variant, copy, bytes) in ROWS {
            records.push(Record::Run(Box::new(run(block, variant, copy, bytes))));
        }
    }
    records.push(Record::End(End { ended: String::new(), reason: EndReason::Complete }));
    let lines = records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n");
    let path = world.folder.path().join("runs.jsonl");
    fs::write(&path, lines.collect::<String>()).unwrap();
    path
}

fn start() -> Start {
    let described = |name: &str| Described {
        variant: name.parse().unwrap(),
        title: name.to_owned(),
        class: None,
        model: None,
        mechanism: None,
        sharing: None,
        skips: Vec::new(),
        versions: std::collections::BTreeMap::new(),
        fingerprint: None,
    };
    let suite = Suite::parse("example", SUITE).unwrap();
    Start {
        format: JOURNAL_FORMAT,
        started: "2026-01-02T03:04:05Z".into(),
        command: vec!["wirebench".into()],
        suite: "example".into(),
        baselines: vec!["c/epoll".parse().unwrap()],
        seed: 7,
        folder: "/".into(),
        copies: 1,
        baseline_copies: 2,
        goal: Goal::default(),
        blocks: suite.blocks,
        warmup_blocks: 0,
        scale: Scale::Machine,
        published: None,
        generator: GeneratorVersion::default(),
        left_out: Vec::new(),
        variants: vec![described("c/epoll"), described("go/net")],
        workloads: suite.workloads,
        placement: Placement {
            server_cpus: vec![0],
            generator_cpus: vec![1],
            pinned: true,
            disjoint: true,
        },
    }
}

fn run(block: u32, variant: &str, copy: u32, bytes: f64) -> Run {
    // A little noise, which is not the same in two rows.
    let bytes = bytes * (1.0 + f64::from((block * 2 + copy) % 5) / 1000.0);
    Run {
        block,
        counts: Counts::Yes,
        position: 0,
        copy,
        variant: variant.parse().unwrap(),
        workload: "silence".into(),
        started: String::new(),
        workers: 1,
        server_command: Vec::new(),
        generator_command: Vec::new(),
        outcome: Outcome::Idle(Box::new(IdleMeasurement {
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
        })),
    }
}

#[test]
fn a_journal_is_shown_as_text_markdown_and_json() {
    let world = World::new();
    let path = written(&world);
    let path = path.to_str().unwrap();
    let text = world.wirebench(&["report", path]);
    assert_eq!(text.code, Some(0), "{text:#?}");
    for part in ["c/epoll (baseline)", "c/epoll (A/A)", "larger", "A/A: two runs of c/epoll"] {
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
