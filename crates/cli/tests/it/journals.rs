//! Journals that no run has written: two entries, the first of which is the baseline and is run
//! twice, with figures that the test chooses. They are written as `wirebench run` writes them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use wirebench_schema::{
    journal::{
        Counts, Described, End, EndReason, JOURNAL_FORMAT, Outcome, Placement, Record, Run, Start,
    },
    suite::Suite,
};

/// The baseline, and the other entry.
pub(crate) const BASELINE: &str = "c/epoll";
pub(crate) const OTHER: &str = "go/net";

/// The rows of a block: a variant, and which copy of it.
pub(crate) const ROWS: [(&str, u32); 3] = [(BASELINE, 0), (BASELINE, 1), (OTHER, 0)];

/// The head of a journal of this suite.
pub(crate) fn start(suite: &str) -> Start {
    let suite = Suite::parse("example", suite).unwrap();
    Start {
        format: JOURNAL_FORMAT,
        started: "2026-01-02T03:04:05Z".into(),
        command: vec!["wirebench".into()],
        suite: suite.name,
        baselines: vec![BASELINE.parse().unwrap()],
        seed: 7,
        folder: "/".into(),
        copies: 1,
        baseline_copies: 2,
        blocks: suite.blocks,
        variants: vec![described(BASELINE), described(OTHER)],
        workloads: suite.workloads,
        placement: Placement {
            server_cpus: vec![0],
            generator_cpus: vec![1],
            pinned: true,
            disjoint: true,
            ..Placement::default()
        },
        ..Start::default()
    }
}

fn described(variant: &str) -> Described {
    Described {
        variant: variant.parse().unwrap(),
        title: variant.to_owned(),
        class: None,
        model: None,
        mechanism: None,
        sharing: None,
        skips: Vec::new(),
        versions: BTreeMap::new(),
        fingerprint: None,
        runs_others: false,
    }
}

/// A run that counts, of one of [`ROWS`].
pub(crate) fn run(
    block: u32,
    (variant, copy): (&str, u32),
    workload: &str,
    outcome: Outcome,
) -> Run {
    Run {
        block,
        group: 0,
        counts: Counts::Yes,
        position: 0,
        copy,
        variant: variant.parse().unwrap(),
        workload: workload.to_owned(),
        started: String::new(),
        workers: 1,
        server_command: Vec::new(),
        generator_command: Vec::new(),
        outcome,
    }
}

/// Writes a journal that is complete into `folder`, and gives its file.
pub(crate) fn write(folder: &Path, start: Start, runs: impl IntoIterator<Item = Run>) -> PathBuf {
    let ended = "2026-01-02T03:14:05Z".to_owned();
    let end = Record::End(End { ended, reason: EndReason::Complete });
    let runs = runs.into_iter().map(|run| Record::Run(Box::new(run)));
    let records = [Record::Start(start)].into_iter().chain(runs).chain([end]);
    let lines = records.map(|record| serde_json::to_string(&record).unwrap() + "\n");
    let path = folder.join("runs.jsonl");
    fs::write(&path, lines.collect::<String>()).unwrap();
    path
}
