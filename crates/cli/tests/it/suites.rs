//! Suites: those of the project against their documents, scales, entries that are not there, and
//! load generators of other people.

use crate::world::{World, assert_has, repository};
use std::{fs, path::PathBuf};
use wirebench_schema::{
    journal::{Counts, Generator, Outcome},
    scenario::Scenario,
    suite::{PublishedFigures, Scale, Suite},
};

pub(crate) const DOCUMENTS: [&str; 5] = ["async-bench", "go-uring", "httpbench", "restinio", "zab"];

pub(crate) fn folder() -> PathBuf {
    repository().join("suites")
}

pub(crate) fn suite(name: &str) -> Suite {
    let text = fs::read_to_string(folder().join(format!("{name}.toml"))).unwrap();
    Suite::parse(name, &text).unwrap()
}

pub(crate) fn figures(name: &str) -> PublishedFigures {
    let path = folder().join("published").join(format!("{name}.toml"));
    PublishedFigures::parse(&fs::read_to_string(path).unwrap(), &suite(name)).unwrap()
}

#[test]
fn every_suite_of_the_project_can_be_carried_out_at_every_scale_it_has() {
    let files = fs::read_dir(folder()).unwrap().flatten().map(|file| file.path());
    let names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    for name in ["quick", "smoke", "full", "sync", "fiber"].iter().chain(&DOCUMENTS) {
        assert!(names.iter().any(|known| known == name), "{name} is missing in {names:?}");
    }
    for name in names {
        let suite = suite(&name);
        assert_eq!(suite.document.is_some(), DOCUMENTS.contains(&name.as_str()), "{name}");
        for scale in Scale::ALL {
            let scaled = suite.at_scale(scale, 1);
            assert_eq!(scaled.is_ok(), scale != Scale::Paper || suite.document.is_some());
        }
    }
}

#[test]
fn the_suites_of_documents_ask_for_what_the_documents_did() {
    let shape = |name: &str| {
        let suite = suite(name);
        (suite.workloads.len(), suite.entries.len(), suite.blocks, suite.warmup_blocks)
    };
    assert_eq!(shape("async-bench"), (4, 19, 30, 3));
    assert_eq!(shape("go-uring"), (6, 5, 5, 0));
    assert_eq!(shape("restinio"), (1, 6, 1, 0));
    // Two rows of its tables, and Asio over io_uring, of which only its text has a figure.
    assert_eq!(shape("zab"), (30, 3, 1, 0));
    assert_eq!(shape("httpbench"), (4, 23, 10, 0));
}

/// A suite that repeats a document and names entries of which one is not there.
const REPEATED: &str = r#"
description = "An example."
entries = ["builtin/epoll", "c/nowhere", "builtin/epoll:fast", "d/"]
baseline = "builtin/epoll"
blocks = 30
warmup_blocks = 3
[published]
document = "Example"
machine = "a machine"
cpus = 100000
placement = "shared"
generator = "their tool"
[scale.machine]
blocks = 1
warmup_blocks = 1
count_per_connection = 20
warmup_requests = 10
[[workload]]
name = "hello"
scenario = "hello"
workers = 12
connections = 24
count_per_connection = 50
warmup_requests = 100
"#;

#[test]
fn a_suite_that_names_what_is_not_there_says_so_and_goes_on() {
    let world = World::new().with_suite("mine.toml", REPEATED);
    let outcome = world.wirebench(&["run", "mine", "--workers", "1"]).ended(0);
    assert_has(
        &outcome.stdout,
        &[
            "c/nowhere: the project has no entry `c/nowhere`",
            "builtin/epoll:fast: the entry `builtin/epoll` has no variant `fast`",
            "d/: the project has no entry of this language",
            "mine at machine scale: 1 server, ",
        ],
    );
    let details = std::fs::read_to_string(world.results().join("report.txt")).unwrap();
    let parts = ["suite mine at machine scale, 1 block after 1 warm-up", "1 block instead of 30"];
    assert!(parts.iter().all(|part| details.contains(part)), "{details}");
    let journal = world.journal();
    assert_eq!((journal.unavailable.len(), journal.start.left_out.len()), (2, 1));
    let counts: Vec<Counts> = journal.runs.iter().map(|run| run.counts).collect();
    // The baseline twice in each: A/A.
    assert_eq!(counts, [Counts::WarmUp, Counts::WarmUp, Counts::Yes, Counts::Yes]);
    let published = journal.start.published.unwrap();
    assert_eq!((published.blocks, published.workloads[0].connections), (30, 24));
}

#[test]
fn an_entry_with_a_wrong_description_keeps_a_suite_that_names_it_from_nothing_else() {
    let suite = REPEATED.replace("c/nowhere", "c/wrong:a\", \"c/wrong:b");
    let suite = suite.replace("= \"builtin/epoll\"", "= [\"c/wrong\", \"builtin/epoll\"]");
    let world = World::new().with_suite("mine.toml", &suite).with_entry("c/wrong", "title = 1");
    world.wirebench(&["run", "mine", "--scale", "smoke", "--no-verify"]).ended(1);
    let details = std::fs::read_to_string(world.results().join("report.txt")).unwrap();
    let lines: Vec<_> = details.lines().filter(|line| line.starts_with("  c/wrong: ")).collect();
    let expected = "  c/wrong: entries/c/wrong/entry.toml: line 1: invalid type: integer `1`, \
                    expected a string";
    assert_eq!(lines, [expected], "{details}");
    // The smallest scale runs each cell once.
    let journal = world.journal();
    assert_eq!((journal.start.scale, journal.runs.len()), (Scale::Smoke, 1));
}

#[test]
#[ignore = "needs wrk"]
fn another_generator_warms_a_server_up_with_wrk() {
    let world = World::new().with_suite("mine.toml", REPEATED);
    let arguments = ["run", "mine", "--generator", "wrk", "-d1s", "--workers", "1", "--no-verify"];
    world.wirebench(&arguments).ended(0);
    let journal = world.journal();
    assert!(journal.runs.iter().all(|run| matches!(run.outcome, Outcome::Measured(_))));
}

#[test]
fn the_scale_of_the_paper_is_as_written_and_says_what_the_machine_lacks() {
    let world = World::new().with_suite("mine.toml", REPEATED);
    let arguments = ["run", "mine", "--scale", "paper", "--blocks", "1", "--no-verify"];
    let outcome = world.wirebench(&[&arguments[..], &["--workers", "1"]].concat()).ended(0);
    for begin in ["paper scale: 4 runs, about ", "the published machine had 100000 CPUs and "] {
        assert!(outcome.stderr.lines().any(|line| line.starts_with(begin)), "{outcome:#?}");
    }
    let journal = world.journal();
    assert_eq!(journal.start.workloads[0].connections, 24);
    // Both sides shared the document's CPUs.
    assert!(!journal.start.placement.pinned);
}

#[test]
fn a_missing_generator_is_named_with_the_package_that_installs_it() {
    for (generator, package) in [("wrk", "wrk"), ("hey", "hey"), ("h2load", "nghttp2-client")] {
        let arguments = ["run", "builtin/epoll", "--generator", generator, "--scenario", "hello"];
        let outcome = World::new().wirebench_alone(&[&arguments[..], &["-d1s"]].concat());
        let expected = format!(
            "the program `{generator}` is missing: `sudo apt-get install {package}` installs it; \
             `wirebench setup` does not, because no entry needs it"
        );
        outcome.assert_error(2, &expected);
    }
}

/// One run with another generator; every row says so.
fn load_with(generator: Generator) {
    let world = World::new();
    let name = generator.name();
    let arguments = ["run", "builtin/epoll", "--generator", name, "--blocks", "1", "-d1s"];
    let outcome =
        world.wirebench(&[&arguments[..], &["-c8", "--warmup", "100ms"]].concat()).ended(0);
    // Where the lines end depends on the time that it took.
    let words = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_has(&words, &[format!("load by {name}"), format!("echo: {name} supports HTTP only")]);
    let details = std::fs::read_to_string(world.results().join("report.txt")).unwrap();
    let note = format!("[1] a third-party load generator does not compare replies ({name} ");
    assert!(details.contains(&note), "{details}");
    let journal = world.journal();
    assert_eq!(journal.start.generator.name, generator);
    assert!(journal.runs.iter().all(|run| run.generator_command[0] == name));
    let Outcome::Measured(measured) = &journal.runs[0].outcome else { panic!("{outcome:#?}") };
    assert!(measured.load.requests > 0 && measured.load.errors.total() == 0, "{measured:#?}");
    assert!(measured.cost.cpu_ns_per_request.is_some_and(|ns| ns > 0.0), "{measured:#?}");
    let tool = measured.tool.as_ref().unwrap();
    assert!(!tool.output.is_empty() && tool.latency.latency_ns_mean.is_some(), "{tool:#?}");
    assert!(tool.cpu_ns > 0 && journal.start.workloads[0].scenario == Scenario::Hello);
    world.wait_for_silence();
}

#[test]
#[ignore = "needs wrk"]
fn a_server_is_loaded_with_wrk() {
    load_with(Generator::Wrk);
}

#[test]
#[ignore = "needs hey"]
fn a_server_is_loaded_with_hey() {
    load_with(Generator::Hey);
}

#[test]
#[ignore = "needs h2load"]
fn a_server_is_loaded_with_h2load() {
    load_with(Generator::H2load);
}

#[test]
#[ignore = "needs wrk"]
fn an_interrupt_ends_another_generator_and_keeps_its_runs_with_wrk() {
    let world = World::new();
    let arguments = ["run", "builtin/epoll", "--generator", "wrk", "--no-verify", "-d60s"];
    let running = world.start(&arguments);
    world.wait_for_process("wrk -t1");
    running.signal(rustix::process::Signal::INT);
    let outcome = running.end().ended(130);
    assert!(outcome.stdout.contains("(interrupted)"), "{outcome:#?}");
    world.wait_for_silence();
}
