//! `--why`: what it finds between two servers that differ in one line, what it leaves untouched, and how it ends.

use crate::{
    ab::SHORT,
    servers::null_server,
    world::{World, assert_ended, assert_has, repository},
};
use rustix::process::Signal;
use std::{fs, path::Path, process::Command};
use wirebench_schema::journal::{EndReason, WhyOutcome};

/// The line that makes the server of `c/epoll` read once per request, and another one that makes it read until
/// nothing is left.
const ONCE: &str = "if (length < READ_BYTES && !(events";
const TWICE: &str = "if (length < 0 && !(events";

/// Builds the server of `c/epoll` twice, as `once` and `twice`.
fn build_both(folder: &Path) {
    let entries = repository().join("entries/c");
    for (from, to) in [("shared", "shared"), ("epoll", "once"), ("epoll", "twice")] {
        let to = folder.join(to);
        fs::create_dir(&to).unwrap();
        for file in fs::read_dir(entries.join(from)).unwrap().flatten() {
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
    let source = folder.join("twice/loop.c");
    let text = fs::read_to_string(&source).unwrap();
    assert_eq!(text.matches(ONCE).count(), 1);
    fs::write(&source, text.replace(ONCE, TWICE)).unwrap();
    for name in ["once", "twice"] {
        let words =
            ["-O2", "-std=c11", "-pthread", "-o", "server", "../shared/prefork.c", "loop.c"];
        let built = Command::new("cc").args(words).current_dir(folder.join(name)).status();
        assert!(built.unwrap().success());
    }
}

fn server(name: &str) -> String {
    format!("./{name}/server hello {{host}} {{port}} {{workers}} 1000")
}

/// The edges of a profile cut requests, and a busy machine leaves few of them.
fn assert_close(cell: &str, value: f64) {
    let shown: f64 = cell.parse().unwrap();
    assert!((shown - value).abs() < 0.1, "{cell} is not {value}");
}

#[test]
#[ignore = "needs perf with its permissions, and a C compiler"]
fn a_second_read_is_the_first_line_of_the_difference_with_perf() {
    let world = World::that_sends();
    build_both(world.folder.path());
    let [once, twice] = ["once", "twice"].map(server);
    let sides = ["--a", &once, "--b", &twice, "--cohorts=2", "--why"];
    let outcome = world.wirebench(&[&SHORT[..], &sides].concat()).ended(0);
    let (_, sentence) = outcome.stdout.split_once("why: ").unwrap();
    // On a busy machine a function comes first, and the sentence has several lines.
    let (sentence, _) = sentence.split_once("\nReport: ").unwrap();
    let start = sentence.find("B makes ").unwrap_or_else(|| panic!("{outcome:#?}"));
    let makes = sentence[start..].split([';', '(']).next().unwrap().trim();
    let makes = makes.split(", which").next().unwrap();
    let words: Vec<&str> = makes.split_whitespace().collect();
    let ["B", "makes", twice, "recvfrom", "per", "request,", "A", once] = words[..] else {
        panic!("{outcome:#?}")
    };
    assert_close(twice, 2.0);
    assert_close(once, 1.0);
    let folder = world.results();
    let text = fs::read_to_string(folder.join("report.txt")).unwrap();
    let (_, table) = text.split_once("system calls per request  ").unwrap();
    let first: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!((first[0], first.len()), ("recvfrom", 4), "{table}");
    for (cell, value) in first[1..].iter().zip([2.0, 1.0, 1.0]) {
        assert_close(cell, value);
    }
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert_has(&page, &[makes, "Flame graph of the difference", "<svg"]);
    for file in ["ab-A.hello", "ab-B.hello"] {
        let folded = fs::read_to_string(folder.join(format!("why/{file}.folded"))).unwrap();
        assert!(folded.starts_with("server;"), "{folded}");
        assert!(folder.join(format!("why/{file}.svg")).exists());
    }
    // The counted visits are those that there are without.
    let journal = world.journal();
    assert_eq!((journal.runs.len(), journal.whys.len()), (8, 2));
    // On a busy machine a window may stay without a reply.
    let mut measured = journal.runs.iter().filter_map(|run| run.outcome.measured());
    assert!(measured.all(|it| it.visits.len() == 2), "{journal:#?}");
    let lines = fs::read_to_string(folder.join("runs.jsonl")).unwrap();
    let kinds: Vec<bool> = lines.lines().map(|it| it.contains(r#""record":"why""#)).collect();
    let first = kinds.iter().position(|is_why| *is_why).unwrap();
    assert_eq!(kinds[first..], [true, true, false], "all runs come before, and only the end after");
}

#[test]
#[ignore = "needs perf with its permissions"]
fn an_interrupted_profile_leaves_nothing_and_is_made_again_with_perf() {
    let world = World::that_sends();
    let server = null_server("epoll", "hello");
    let arguments = ["--a", &server, "--b", &server, "--cohorts=1", "--why"];
    let running = world.start(&[&SHORT[..], &arguments].concat());
    // Not the trial of perf before everything else.
    world.wait_for_process("cpu-clock -D");
    running.signal(Signal::INT);
    running.end().ended(130);
    world.wait_for_silence();
    let before = world.journal();
    assert_eq!(before.end.unwrap().reason, EndReason::Interrupted);
    let folder = world.results();
    let resumed = world.wirebench(&["run", "--resume", folder.to_str().unwrap()]);
    let after = world.journal();
    assert_ended(resumed.code, &after);
    assert_eq!(after.runs, before.runs, "what counts is not made again");
    assert!(after.whys.iter().all(|it| matches!(it.outcome, WhyOutcome::Profiled(_))));
    assert_eq!((before.whys.len(), after.whys.len()), (0, 2));
    world.wait_for_silence();
}

#[test]
fn without_perf_nothing_is_measured_and_the_next_step_is_named() {
    let world = World::that_sends();
    let server = null_server("epoll", "hello");
    let sides = ["--a", &server, "--b", &server, "--why"];
    let outcome = world.wirebench_alone(&[&SHORT[..], &sides].concat());
    outcome.assert_error(
        2,
        "--why needs perf, which is not installed: install your distribution's package (linux-perf on Debian, \
         linux-tools-generic on Ubuntu, perf elsewhere)",
    );
    assert!(!world.path("target").exists());
}

#[test]
fn why_is_refused_where_no_process_is_known() {
    let world = World::that_sends();
    let hosts = world.wirebench(&["run", "http://127.0.0.1:1/", "--why", "--from", "lab1"]);
    hosts.assert_refused(2, &["--why", "cannot be used with", "--from"]);
}
