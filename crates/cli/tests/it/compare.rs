//! `wirebench compare` on journals that were made by writing records: no server runs here.

use std::fs;
use wirebench_schema::{
    environment::Environment,
    journal::{Bound, Cost, Measurement, Outcome, Start},
    load::{EngineChoice, LoadConfig, LoadReport},
};

use crate::{
    journals::{self, BASELINE, ROWS},
    world::{Outcome as Ended, World, assert_has},
};

const SUITE: &str = "description = \"An example.\"\nblocks = 6\n[[workload]]\nname = \"hello\"\n\
                     scenario = \"hello\"\nconnections = 64\nduration = \"200ms\"\n";

/// The throughput of `go/net` in each block, with a baseline of 100 000 requests/s.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    blocks: u32,
    rate: f64,
    connections: usize,
    cpu_model: &'static str,
    kernel: &'static str,
}

pub(crate) const MADE: Made =
    Made { blocks: 6, rate: 80_000.0, connections: 64, cpu_model: "Model 1", kernel: "6.1.0" };

/// Noise of two in a thousand, other in each block and for each entry.
const NOISE: [f64; 7] = [1.001, 0.999, 1.002, 0.998, 1.0, 1.001, 0.999];

impl Made {
    /// Writes it as `wirebench run` does, into a folder of this name.
    pub(crate) fn write(self, world: &World, name: &str) {
        let folder = world.path(name);
        fs::create_dir(&folder).unwrap();
        let rows = (0..).zip(ROWS);
        let cells = (0..self.blocks).flat_map(|block| rows.clone().map(move |row| (block, row)));
        let runs = cells.map(|(block, (place, row))| {
            let noise = NOISE[(block as usize * 3 + place * 2 + name.len()) % NOISE.len()];
            let rate = if row.0 == BASELINE { 100_000.0 } else { self.rate };
            journals::run(block, row, "hello", measured(rate * noise))
        });
        journals::write(&folder, self.start(name), runs);
        let environment = Environment {
            cpu_model: Some(self.cpu_model.to_owned()),
            kernel: self.kernel.to_owned(),
            ..Environment::default()
        };
        let text = serde_json::to_string(&environment).unwrap();
        fs::write(folder.join("environment.json"), text).unwrap();
    }

    fn start(self, name: &str) -> Start {
        let mut start = Start { blocks: self.blocks, ..journals::start(SUITE) };
        start.workloads[0].connections = self.connections;
        // The baseline is the same program in both results, and the other one is not.
        for (variant, fingerprint) in start.variants.iter_mut().zip(["00", name]) {
            variant.fingerprint = Some(fingerprint.to_owned());
        }
        start
    }
}

/// A measurement of `rate` requests/s; all other figures are fixed.
fn measured(rate: f64) -> Outcome {
    let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
    let load = LoadReport {
        requests_per_second: rate,
        ..LoadReport::new("0".into(), config, EngineChoice::Epoll)
    };
    let cost = Cost {
        cpu_ns: 1,
        sampled_ns: 1,
        cpu_ns_per_request: Some(5000.0),
        cpu_share: 0.99,
        busiest_thread_share: 0.99,
        generator_cpu_share: 0.5,
        memory_peak_bytes: 1 << 20,
        mapped: Some("4455".to_owned()),
        processes: 1,
        threads: 1,
        ..Cost::default()
    };
    let bound = Bound::Server;
    Outcome::Measured(Box::new(Measurement { load, cost, bound, ..Measurement::default() }))
}

/// Compares `old` with `new`.
fn compare(old: Made, new: Made, options: &[&str]) -> Ended {
    let world = World::new();
    old.write(&world, "old");
    new.write(&world, "newer");
    compared(&world, options)
}

fn compared(world: &World, options: &[&str]) -> Ended {
    world.wirebench(&[&["compare", "old", "newer"], options].concat())
}

const SLOWER: Made = Made { rate: 76_000.0, ..MADE };

#[test]
fn conditions_decide_the_exit_code_and_what_is_printed() {
    let few = Made { blocks: 2, ..SLOWER };
    let three = ["--fail-if", "throughput < -3%"];
    let (strict, inconclusive) = (["--strict"], ["--fail-if=inconclusive"]);
    let rows: [(Made, &[&[&str]], i32, &str); 13] = [
        (SLOWER, &[], 0, "2 figures compared: 1 worse"),
        (SLOWER, &[&["--absolute"]], 0, "include machine drift"),
        (SLOWER, &[&three], 4, "FAILED 'throughput < -3%': hello go/net: requests/s -5."),
        (
            SLOWER,
            &[&["--fail-if", "throughput < -10%"]],
            0,
            "passed 'throughput < -10%': hello go/net: requests/s -5.",
        ),
        (MADE, &[&three], 0, "no significant change"),
        (few, &[&three, &["--json"]], 0, "\"verdict\": \"inconclusive\""),
        (few, &[&three], 0, "WARNING: 'throughput < -3%' is inconclusive in "),
        (few, &[&three, &strict], 3, "NOT PASSED"),
        (SLOWER, &[&three, &strict], 4, "FAILED"),
        (MADE, &[&three, &strict], 0, "passed"),
        (few, &[&three, &inconclusive], 4, "NOT PASSED"),
        (SLOWER, &[&three, &inconclusive], 4, "FAILED"),
        (MADE, &[&three, &inconclusive], 0, "passed"),
    ];
    for (new, options, code, part) in rows {
        let Ended { code: ended, stdout, stderr } = compare(MADE, new, &options.concat());
        assert_eq!(ended, Some(code), "{options:?}: {stdout}{stderr}");
        assert_has(&(stdout + &stderr), &[part]);
    }
    for option in [strict, inconclusive] {
        compare(MADE, few, &option).assert_refused(2, &["--fail-if"]);
    }
}

#[test]
fn without_the_file_of_the_machine_results_are_compared_with_a_warning() {
    let world = World::new();
    MADE.write(&world, "old");
    MADE.write(&world, "newer");
    fs::remove_file(world.path("newer/environment.json")).unwrap();
    compared(&world, &[]).assert_prints(0, &["newer has no environment.json"]);
    let journals = ["compare", "old/runs.jsonl", "newer/runs.jsonl"];
    world.wirebench(&journals).assert_prints(0, &["old/runs.jsonl, suite example", "newer/runs"]);
}

#[test]
fn what_cannot_be_meant_is_answered_with_what_can() {
    let world = World::new();
    MADE.write(&world, "old");
    compared(&world, &[])
        .assert_refused(2, &["newer", "give the folder that `wirebench run` named"]);
    world.wirebench(&["compare", "old"]).assert_refused(2, &["<NEW>"]);
}

#[test]
fn a_result_of_tune_is_named_and_not_compared() {
    let world = World::new();
    MADE.write(&world, "old");
    MADE.write(&world, "newer");
    let journal = world.path("newer/runs.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("\"suite\":\"example\"", "\"suite\":\"tune\"")).unwrap();
    compared(&world, &[]).assert_refused(2, &["newer is a result of `wirebench tune`"]);
}

#[test]
fn junit_has_a_case_for_each_condition_and_cell() {
    let world = World::new();
    MADE.write(&world, "old");
    SLOWER.write(&world, "newer");
    let options = ["--fail-if", "throughput < -3%", "--fail-if", "cpu > +3%", "--junit", "x.xml"];
    compared(&world, &options).assert_prints(4, &["FAILED 'throughput < -3%'"]);
    let xml = world.read("x.xml");
    assert_has(
        &xml,
        &[
            "name=\"wirebench compare\" tests=\"2\" failures=\"1\"",
            "<testcase classname=\"throughput &lt; -3%\" name=\"hello go/net\">",
            "<failure message=\"hello go/net: requests/s -5.",
            "<testcase classname=\"cpu &gt; +3%\" name=\"hello go/net\"></testcase>",
        ],
    );
    compared(&world, &["--junit", "x.xml"]).assert_refused(2, &["--fail-if"]);
    let unwritable = [&options[..5], &["no/folder.xml"]].concat();
    compared(&world, &unwritable).assert_refused(2, &["--junit `no/folder.xml` cannot be written"]);
}

/// What is in the site, by path.
fn files_of(world: &World) -> std::collections::BTreeMap<String, std::time::SystemTime> {
    let mut found = std::collections::BTreeMap::new();
    let mut folders = vec![world.path("out")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let path =
                entry.path().strip_prefix(world.folder.path()).unwrap().display().to_string();
            found.insert(path, entry.metadata().unwrap().modified().unwrap());
        }
    }
    found
}

#[test]
fn a_site_shows_what_changed_and_reads_each_journal_once() {
    let world = World::new();
    fs::create_dir(world.path("results")).unwrap();
    MADE.write(&world, "results/a");
    Made { rate: 60_000.0, ..MADE }.write(&world, "results/b");
    let journal = world.path("results/b/runs.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let later = text.replacen("2026-01-02T", "2026-01-03T", 1);
    assert_ne!(later, text);
    fs::write(&journal, later).unwrap();
    let text = world.stdout(&["site", "results", "--out", "out"]);
    assert_eq!(text, "2 runs, 1 with significant changes: out/index.html\n");
    let before = files_of(&world);
    let pages = before.keys().filter(|path| path.ends_with(".html")).count();
    assert_eq!(pages, 1 + 2 + 2 + 1, "index, runs, servers, machine: {before:#?}");
    let index = world.read("out/index.html");
    assert!(index.contains("requests/s -25."), "{index}");
    // Again with one more: pages of runs stay, and earlier runs need not be named.
    Made { rate: 60_000.0, connections: 65, ..MADE }.write(&world, "results/c");
    let text = world.stdout(&["site", "results/c", "--out", "out"]);
    assert_eq!(text, "3 runs, 1 with significant changes: out/index.html\n");
    let after = files_of(&world);
    let runs: Vec<_> = before.iter().filter(|(path, _)| path.starts_with("out/runs/")).collect();
    assert!(runs.iter().all(|(path, written)| after[*path] == **written), "{before:#?} {after:#?}");
}

#[test]
fn a_site_skips_what_is_no_result_and_says_so() {
    let world = World::new();
    MADE.write(&world, "a");
    fs::create_dir(world.path("empty")).unwrap();
    let none = world.wirebench(&["site", "empty", "-o", "out"]);
    none.assert_refused(2, &["empty has no result: name folders with a runs.jsonl"]);
    fs::create_dir(world.path("broken")).unwrap();
    world.write("broken/runs.jsonl", "{}\n");
    let outcome = world.wirebench(&["site", "a", "broken", "-o", "out"]).ended(1);
    assert_eq!(outcome.stdout, "1 run, 0 with significant changes: out/index.html\n");
    // A name that is too long for the name of a page spoils its own result and no other.
    MADE.write(&world, "long");
    let journal = world.path("long/runs.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("go/net", &format!("go/{}", "x".repeat(300)))).unwrap();
    let long = world.wirebench(&["site", "a", "long", "-o", "new"]);
    assert_eq!(long.stdout, "1 run, 0 with significant changes: new/index.html\n", "{long:#?}");
    fs::create_dir(world.path("foreign")).unwrap();
    world.write("foreign/index.html", "mine");
    let foreign = world.wirebench(&["site", "a", "-o", "foreign"]);
    foreign.assert_refused(2, &["foreign/index.html is not of a site of wirebench"]);
    let kept = world.read("foreign/index.html");
    assert_eq!(kept, "mine");
    outcome.assert_line(
        "warning: skipped broken: line 1 of the journal is damaged: missing field `record` at line 1 \
         column 2",
    );
}
