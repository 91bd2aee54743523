//! `wirebench tune`: sweeps and searches, from the arguments to the folder of the results.

use crate::{
    golden,
    world::{ENTRY, Outcome, World, assert_has},
};
use rustix::process::Signal;
use std::{collections::BTreeSet, fs};
use wirebench_schema::journal::{EndReason, Outcome as Ran, Run, SearchLimit};

fn json(outcome: &Outcome) -> serde_json::Value {
    assert_eq!(outcome.code, Some(0), "{outcome:#?}");
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn a_sweep_measures_every_cell() {
    let world = World::new();
    let arguments = ["tune", "builtin/epoll", "--workers", "1-2", "-c", "4,8", "-d", "100ms"];
    let rest = ["--warmup", "20ms", "--blocks", "2", "--seed", "7"];
    let outcome = world.wirebench(&[&arguments[..], &rest].concat()).ended(0);
    assert_has(
        &outcome.stdout,
        &[
            "tune builtin/epoll: hello over workers and connections",
            "\nworkers \\ connections ",
            "highest: ",
            "2 runs per cell: comparing cells needs 3",
        ],
    );
    assert!(outcome.stdout.is_ascii(), "no terminal, so plain characters: {outcome:#?}");
    let folder = world.results();
    assert!(outcome.stdout.contains("\nReport: target/wirebench/"), "{outcome:#?}");
    for file in ["runs.jsonl", "environment.json", "commands.txt", "report.md", "tune.json"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let journal = world.journal();
    assert_eq!((journal.start.seed, journal.runs.len(), journal.verified.len()), (7, 8, 1));
    assert_eq!(journal.end.unwrap().reason, EndReason::Complete);
    for (workers, connections) in [(1, 4), (1, 8), (2, 4), (2, 8)] {
        let name = format!("workers-{workers}-connections-{connections}");
        let runs: Vec<_> = journal.runs.iter().filter(|run| run.workload == name).collect();
        assert!(runs.len() == 2 && runs.iter().all(|run| run.workers == workers), "{name}");
    }
    // In each block one server for each number of workers, which had another port each time.
    let servers: BTreeSet<_> = journal.runs.iter().map(|run| (run.block, run.workers)).collect();
    let target = |run: &Run| run.generator_command.last().cloned();
    let targets: BTreeSet<_> = journal.runs.iter().map(target).collect();
    assert_eq!((servers.len(), targets.len()), (4, 4), "{targets:?}");
    let warmups = |text: &str| {
        let asked =
            |run: &&Run| run.generator_command.windows(2).any(|it| it == ["--warmup", text]);
        journal.runs.iter().filter(asked).count()
    };
    assert_eq!((warmups("80ms"), warmups("20ms")), (4, 4), "the first load of each server");
    let again = world.wirebench(&["report", folder.to_str().unwrap()]);
    assert!(outcome.stdout.starts_with(&again.stdout), "{again:#?}");
    let again = json(&world.wirebench(&["report", "--json", folder.to_str().unwrap()]));
    assert_eq!(again["cells"].as_array().unwrap().len(), 4);
    let kept: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("tune.json")).unwrap()).unwrap();
    assert_eq!(kept, again);
    world.wait_for_silence();
}

#[test]
fn a_server_that_dies_in_a_sweep_fails_its_run_and_is_started_again() {
    let world = World::that_sends();
    let server = crate::servers::command("dies");
    let arguments = ["tune", "--server", &server, "-c", "2,4", "--no-verify"];
    let rest = ["-d", "1s", "--warmup", "20ms", "--blocks", "1", "-q"];
    world.wirebench(&[&arguments[..], &rest].concat()).ended(1);
    let runs = world.journal().runs;
    // Without a place for it in the command, the number of workers is not swept.
    assert_eq!(runs.len(), 2, "{runs:#?}");
    let targets: BTreeSet<_> = runs.iter().map(|run| run.generator_command.last()).collect();
    assert_eq!(targets.len(), 2, "{runs:#?}");
    for run in &runs {
        let Ran::Failed { reason, .. } = &run.outcome else { panic!("{run:#?}") };
        assert!(reason.contains("the server ended with exit code 3 during the run"), "{reason}");
    }
    world.wait_for_silence();
}

#[test]
fn a_search_finds_the_highest_rate_and_journals_every_run() {
    let world = World::new();
    // An objective that any machine keeps, so that the highest rate is what is found.
    let arguments = ["tune", "builtin/epoll", "--objective", "p50 < 1s", "--objective", "max<9s"];
    // With more connections than requests no pause of a busy machine leaves one without.
    let rest = ["--rates", "100-200", "-c128", "-d", "300ms", "--warmup", "20ms", "--json"];
    let outcome = world.wirebench(&[&arguments[..], &rest].concat());
    let result = &json(&outcome);
    let search = &result["results"][0];
    assert_eq!(search["found"]["limit"], "highest-rate", "{outcome:#?}");
    assert_eq!(search["found"]["requests_per_second"], 200, "{outcome:#?}");
    let sentence = result["sentence"].as_str().unwrap();
    let expected = "builtin/epoll holds p50 < 1 s and max < 9 s at least up to 200 requests/s (";
    assert!(sentence.starts_with(expected), "{sentence}");
    assert!(outcome.stderr.contains("\n200 requests/s: "), "{outcome:#?}");
    let journal = world.journal();
    let at_rates = journal.runs.iter().filter(|run| run.workload == "rate");
    let words: Vec<String> = at_rates.map(|run| run.generator_command.join(" ")).collect();
    assert!(words.len() >= 4, "{words:#?}");
    // A pause of a busy machine makes a run miss, after which lower rates are tried too.
    assert!(
        [&words[0], words.last().unwrap()].iter().all(|it| it.contains("-R 200")),
        "{words:#?}"
    );
    // The last one confirms it, on a process that was saturated before. A pause there makes another one.
    assert!(search["found"]["confirmations"].as_u64() >= Some(1), "{outcome:#?}");
    assert_eq!(search["found"]["runs"], words.len() - 1, "{outcome:#?}");
    assert_eq!(journal.runs.iter().filter(|run| run.workload == "closed-loop").count(), 2);
    assert_eq!(journal.sought.unwrap().objectives.len(), 2);
    let text = world.wirebench(&["report", world.results().to_str().unwrap()]);
    assert!(text.stdout.contains(sentence), "{text:#?}");
    world.wait_for_silence();
}

#[test]
fn an_objective_that_even_the_lowest_rate_misses_fails_with_a_sentence() {
    let world = World::new();
    let arguments = ["tune", "builtin/epoll", "--objective", "mean < 1ns", "--rates", "200-300"];
    let rest = ["-c4", "-d", "100ms", "--warmup", "20ms", "-q"];
    let outcome = world.wirebench(&[&arguments[..], &rest].concat()).ended(1);
    outcome.assert_line("tune builtin/epoll: hello at constant rates, latency from the due time");
    let found = world.journal().found.unwrap();
    assert_eq!((found.requests_per_second, found.missed), (None, Some(200)));
    assert!(outcome.stdout.contains("at 200 requests/s"), "{outcome:#?}");
    assert_eq!(outcome.stderr, "");
}

#[test]
fn a_search_without_time_ends_in_order_and_says_so() {
    let world = World::new();
    let arguments = ["tune", "builtin/epoll", "--objective", "p50 < 1s", "--rates", "200-300"];
    let rest = ["-c4", "-d", "100ms", "--warmup", "20ms", "--budget", "1ms"];
    let outcome = world.wirebench(&[&arguments[..], &rest].concat()).ended(1);
    let none = "no rate at which builtin/epoll holds p50 < 1 s was found within the budget \
                (4 connections): use a larger --budget or a shorter -d";
    outcome.assert_line(none);
    let journal = world.journal();
    assert_eq!(journal.end.unwrap().reason, EndReason::Budget);
    assert_eq!(journal.found.unwrap().limit, SearchLimit::Budget);
}

#[test]
fn a_signal_ends_a_search_with_what_is_known() {
    let world = World::that_sends();
    let arguments = ["tune", "builtin/epoll", "--objective", "p50 < 1s", "-c4", "-d", "30s"];
    let running = world.start(&[&arguments[..], &["--warmup", "20ms", "-q"]].concat());
    // The first run is that of the closed loop.
    world.wait_for_process(" agent");
    running.signal(Signal::INT);
    let outcome = running.end().ended(130);
    assert!(outcome.stdout.contains("\nReport: target/wirebench/"), "{outcome:#?}");
    assert_eq!(world.journal().end.unwrap().reason, EndReason::Interrupted);
    world.wait_for_silence();
}

#[test]
fn what_cannot_be_meant_is_refused_with_the_next_step() {
    let two = "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n";
    let needs = "[[requires]]\ncommand = \"no-such-compiler\"\n";
    let world = World::new()
        .with_entry(
            "c/one",
            &format!("max_workers = 1\n{}", ENTRY.replace("{port}", "{port} {workers}")),
        )
        .with_entry("c/two", &format!("{ENTRY}{two}"))
        .with_entry("c/needy", &format!("{ENTRY}{needs}"));
    let rows: [&[&str]; 13] = [
        &["c/needy"],
        &["c/two"],
        &["c/one", "--workers", "1-2"],
        &["--server", "true {port}", "--workers", "2"],
        &["--server", "true {port}", "--workers", "2", "--objective", "p99 < 2ms"],
        &["builtin/epoll", "--objective", "p98 < 2ms"],
        &["builtin/epoll", "--objective", "p99 < 2ms", "-c", "1,2"],
        &["builtin/epoll", "--objective", "p99 < 2ms", "--workers", "1-2"],
        &["builtin/epoll", "--objective", "p99 < 2ms", "--runs", "0"],
        &["builtin/epoll", "--precision", "2%"],
        &["builtin/epoll", "--blocks", "0"],
        &["builtin/epoll", "--budget", "0s"],
        &[],
    ];
    golden::assert_refusals(&world, "tune", &rows);
}

#[test]
fn a_server_that_fails_its_checks_is_not_tuned() {
    let command = crate::servers::null_server("epoll", "echo");
    for rest in [&["-c", "4", "--workers", "1"][..], &["--objective", "p50 < 1s", "-c4"]] {
        let world = World::new();
        let outcome = world
            .wirebench(&[&["tune", "--server", &command, "-d", "100ms"], rest].concat())
            .ended(1);
        assert!(outcome.stdout.contains("not measured, fails `reply-exact`"), "{outcome:#?}");
        assert!(world.journal().runs.is_empty());
    }
}
