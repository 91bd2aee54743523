//! Cohorts from start to end: what they write down, and what one server may do without harm to the
//! others. Servers that misbehave are scripts of a few lines. What figures mean is tested elsewhere.

use rustix::process::Signal;
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};
use wirebench_schema::journal::{
    EndReason, Journal, Measurement, Outcome, Procedure, ReasonKind, Run,
};

use crate::{
    compare::MADE,
    servers,
    world::{Outcome as Ended, World, assert_has, program, write_program},
};

/// What a run without any visit says.
const DISTURBED: &str = "visits were disturbed";
/// How often a test tries to be alone on the machine.
const ATTEMPTS: usize = 8;

/// A short cohort. Each test says how many there are. Where nothing is bound to CPUs, no visit is
/// dropped because other tests run.
pub(crate) const SHORT: [&str; 8] = [
    "--procedure=cohorts",
    "--steady=0s",
    "--workers=1",
    "-c4",
    "--seed=7",
    "--no-pin",
    "--no-verify",
    "--quiet",
];

/// Loads that share instances, and two that have a process of their own.
const MIXED: &str = "description = \"An example.\"\nentries = [\"builtin/\"]\n\
                     baseline = \"builtin/epoll\"\nblocks = 2\n[[workload]]\nname = \"hello\"\n\
                     scenario = \"hello\"\nconnections = 4\nduration = \"200ms\"\nrate = 500\n\
                     idle_phase_connections = 5\nphases = [\"saturate\", \"cost\", \"idle\"]\n\
                     [[workload]]\nname = \"count\"\nscenario = \"hello\"\nconnections = 4\n\
                     requests = 200\n";

/// A process of it spins all the time.
const SPINS: &str = "(while :; do :; done) &\n\
                     exec WIREBENCH null-server epoll hello 127.0.0.1 $1 1\n";

/// A process of it spins until it is stopped and goes on, and takes the server with it.
const ENDS_AT_CONTINUE: &str = "WIREBENCH null-server epoll hello 127.0.0.1 $1 1 &\n\
                                trap \"kill $!; exit 7\" CONT\n\
                                trap \"kill $!; exit 0\" TERM\n\
                                while :; do :; done\n";

/// A process of it works for a quarter of a second after the server is ready, and then rests.
const STARTS_LATE: &str = "(timeout 0.25 sh -c 'while :; do :; done'; exec sleep 1000) &\n\
                           exec WIREBENCH null-server epoll hello 127.0.0.1 $1 1\n";

/// A world with this shell script as `./my-server`.
fn with_script(text: &str) -> World {
    let world = World::new();
    let path = world.path("my-server");
    let text = text.replace("WIREBENCH", &program().display().to_string());
    write_program(path, format!("#!/bin/sh\n{text}"));
    world
}

/// Runs two rounds of visits of 50 ms, if `arguments` say nothing else.
fn run(world: &World, arguments: &[&str]) -> Ended {
    let is_given = arguments.iter().any(|word| word.starts_with("--visit"));
    let visit: &[&str] = if is_given { &[] } else { &["--visit=50ms"] };
    world.wirebench(&[&["run", "--rounds=2"], visit, arguments, &SHORT].concat())
}

#[track_caller]
pub(crate) fn of<'a>(journal: &'a Journal, variant: &str) -> Vec<&'a Run> {
    let runs: Vec<&Run> =
        journal.runs.iter().filter(|run| run.variant.to_string() == variant).collect();
    assert!(!runs.is_empty(), "no run of {variant}");
    runs
}

/// The figures of a run that must have some; none where other programs disturbed all of its visits,
/// as they may while other tests run.
#[track_caller]
pub(crate) fn figures(run: &Run) -> Option<&Measurement> {
    match &run.outcome {
        Outcome::Measured(measured) => Some(measured),
        Outcome::Failed { reason, .. } if reason.contains(DISTURBED) => None,
        _ => panic!("{run:#?}"),
    }
}

/// The runs of a variant that have figures, at least one: without any, a test would check nothing.
#[track_caller]
pub(crate) fn measured<'a>(journal: &'a Journal, variant: &str) -> Vec<(&'a Run, &'a Measurement)> {
    let runs = of(journal, variant).into_iter();
    let runs: Vec<_> = runs.filter_map(|run| Some((run, figures(run)?))).collect();
    assert!(!runs.is_empty(), "all visits of {variant} were disturbed, {ATTEMPTS} times");
    runs
}

/// Runs wirebench in worlds made by `make`, until one has runs that were not disturbed.
pub(crate) fn undisturbed(make: impl Fn() -> World, arguments: &[&str]) -> (World, Ended) {
    let once = || {
        let world = make();
        let outcome = run(&world, arguments);
        (world, outcome)
    };
    let is_disturbed = |world: &World| {
        let disturbed = |run: &Run| run.outcome.failure().is_some_and(|it| it.contains(DISTURBED));
        world.journal().runs.iter().any(disturbed)
    };
    let mut last = once();
    for _ in 1..ATTEMPTS {
        if !is_disturbed(&last.0) {
            break;
        }
        last = once();
    }
    last
}

/// Whether all runs of the baseline have figures and visits.
#[track_caller]
fn assert_baseline_is_measured(journal: &Journal) {
    for (run, measured) in measured(journal, "builtin/epoll") {
        assert!(measured.load.requests > 0 && measured.visits.len() == 2, "{run:#?}");
    }
}

/// Whether all runs of a variant failed with a sentence that has this part.
#[track_caller]
pub(crate) fn assert_failed(journal: &Journal, variant: &str, part: &str) {
    for run in of(journal, variant) {
        let is_in = run.outcome.failure().is_some_and(|reason| reason.contains(part));
        assert!(is_in, "{part:?} is missing in {run:#?}");
    }
}

#[test]
fn loads_over_equal_connections_share_instances_and_the_others_have_their_own_process() {
    let make = || World::new().with_suite("mixed.toml", MIXED);
    let (world, outcome) = undisturbed(make, &["mixed"]);
    outcome.ended(0);
    let journal = world.journal();
    assert_eq!(journal.start.procedure, Procedure::Short);
    // Three instances, four loads, two cohorts.
    assert_eq!(journal.runs.len(), 24);
    for block in 0..2 {
        let runs: Vec<&Run> = journal.runs.iter().filter(|run| run.block == block).collect();
        let in_cohort = |run: &&Run| ["hello", "hello-cost"].contains(&run.workload.as_str());
        let first = runs.iter().position(in_cohort).unwrap();
        let cohort = &runs[first..first + 6];
        assert!(cohort.iter().all(in_cohort), "runs of a cohort are written together");
        let started: BTreeSet<&str> = cohort.iter().map(|run| run.started.as_str()).collect();
        assert_eq!(started.len(), 1, "{started:?}");
        let instances: BTreeSet<_> =
            cohort.iter().map(|run| (run.variant.to_string(), run.copy)).collect();
        assert_eq!(instances.len(), 3, "{instances:?}");
        // Each instance was ready at a time of its own, and has both loads.
        let ready = |run: &Run| figures(run).and_then(|it| it.instance).map(|it| it.ready_ns);
        let ready: BTreeSet<u64> = cohort.iter().filter_map(|run| ready(run)).collect();
        assert!(ready.len() <= 3, "{ready:?}");
        let with_figures: Vec<_> =
            cohort.iter().filter_map(|run| Some((run, figures(run)?))).collect();
        assert!(!with_figures.is_empty(), "all visits were disturbed, {ATTEMPTS} times");
        for (run, measured) in with_figures {
            let rounds: Vec<u32> = measured.visits.iter().map(|visit| visit.round).collect();
            let instance = measured.instance.unwrap();
            assert_eq!(rounds, [0, 1], "{run:#?}");
            assert!(instance.ready_ns > 0, "{instance:?}");
            assert!(run.generator_command.iter().any(|word| word == "load"), "{run:#?}");
        }
        for run in runs.iter().filter(|run| !in_cohort(run)) {
            match &run.outcome {
                Outcome::Idle(idle) => assert_eq!(idle.made, 5),
                Outcome::Measured(measured) => {
                    assert_eq!((measured.visits.len(), measured.instance), (0, None));
                    assert_eq!(measured.load.requests, 200);
                }
                Outcome::Failed { .. } => panic!("{run:#?}"),
            }
        }
    }
    world.wait_for_silence();
}

#[test]
fn a_server_that_dies_in_a_cohort_takes_no_figures_of_others_along() {
    let server = servers::command("dies");
    let arguments = ["--server", &server, "--name=mine", "--blocks=1", "--visit=200ms"];
    let (world, outcome) = undisturbed(World::that_sends, &arguments);
    assert_eq!(outcome.code, Some(1), "{outcome:#?}");
    let journal = world.journal();
    assert_failed(&journal, "own/mine", "the server ended with exit code 3 during the cohort");
    assert_baseline_is_measured(&journal);
    assert_eq!(journal.end.unwrap().reason, EndReason::Complete);
    world.wait_for_silence();
}

#[test]
fn a_server_that_does_not_start_takes_no_figures_of_others_along() {
    let (world, outcome) = undisturbed(World::new, &["--server", "ls {port}", "--blocks=2"]);
    assert_eq!(outcome.code, Some(1), "{outcome:#?}");
    let journal = world.journal();
    assert_eq!(journal.runs.len(), 6);
    assert_failed(&journal, "own/ls", "the server ended with exit code 2");
    assert_baseline_is_measured(&journal);
    world.wait_for_silence();
}

#[test]
fn ctrl_c_in_a_cohort_keeps_whole_cohorts_and_resume_makes_the_others() {
    let world = World::new();
    let names = ["builtin/epoll", "builtin/io_uring", "--scenario=hello"];
    let long = ["--blocks=3", "--rounds=12", "--visit=50ms"];
    let running = world.start(&[&["run"], &names[..], &long, &SHORT].concat());
    let folder = world.wait_for_records("run", 3);
    let began = Instant::now();
    running.signal(Signal::INT);
    let outcome = running.end();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(outcome.code, Some(130), "{outcome:#?}");
    world.wait_for_silence();
    let before = world.journal();
    assert_eq!(before.end.unwrap().reason, EndReason::Interrupted);
    assert_eq!(before.runs.len() % 3, 0, "{:#?}", before.runs.len());
    assert!(before.runs.len() < 9);
    world.wirebench(&["run", "--resume", folder.to_str().unwrap(), "--quiet"]).ended(0);
    let journal = world.journal();
    assert_eq!(journal.runs[..before.runs.len()], before.runs, "earlier cohorts are kept");
    let places: BTreeSet<_> =
        journal.runs.iter().map(|run| (run.block, run.variant.to_string(), run.copy)).collect();
    assert_eq!((journal.runs.len(), places.len()), (9, 9));
    for cohort in journal.runs.chunks(3) {
        assert!(cohort.iter().all(|run| run.started == cohort[0].started), "{cohort:#?}");
    }
    assert_eq!(journal.end.unwrap().reason, EndReason::Complete);
    world.wait_for_silence();
}

#[test]
fn idle_connections_that_the_server_closes_are_made_again_and_count_for_nothing() {
    // Each visit of another server is longer than the connections may be silent.
    let server = servers::command("hangs-up-after-500");
    let options = ["--server", &server, "--name=mine", "--blocks=1", "--visit=600ms"];
    let (world, outcome) = undisturbed(World::that_sends, &options);
    outcome.ended(0);
    let closed = world.path(servers::HUNG_UP).exists();
    assert!(closed, "the server closed no connection, so nothing was tested");
    let journal = world.journal();
    for (run, measured) in measured(&journal, "own/mine") {
        assert_eq!((measured.visits.len(), measured.load.errors.total()), (2, 0), "{run:#?}");
        assert_eq!(measured.load.connections_made, 4, "{run:#?}");
        let wrong =
            [ReasonKind::ClosedEarly, ReasonKind::ServerCloses, ReasonKind::ConnectionsMissing];
        assert!(!measured.reasons.iter().any(|reason| wrong.contains(&reason.kind)), "{run:#?}");
    }
    assert_baseline_is_measured(&journal);
}

#[test]
#[ignore = "needs a machine without other load"]
fn a_server_that_spins_at_rest_is_stopped_while_others_are_loaded() {
    let (world, outcome) =
        undisturbed(|| with_script(SPINS), &["--server", "./my-server {port}", "--blocks=1"]);
    outcome.ended(0);
    let journal = world.journal();
    for (_, measured) in measured(&journal, "own/my-server") {
        // All of a CPU, of which other tests may have taken almost everything.
        assert!(measured.instance.unwrap().rest_share > 0.01, "{:?}", measured.instance);
        let restless = measured.reasons.iter().any(|it| it.kind == ReasonKind::Restless);
        assert!(restless, "{:?}", measured.reasons);
    }
    for (run, measured) in measured(&journal, "builtin/epoll") {
        let parked = measured.visits.iter().filter(|it| it.dropped == Some(ReasonKind::ParkedBusy));
        assert_eq!(parked.count(), 0, "{run:#?}");
        assert!(!measured.reasons.iter().any(|it| it.kind == ReasonKind::Restless), "{run:#?}");
    }
    world.wait_for_silence();
}

#[test]
#[ignore = "needs a machine without other load"]
fn a_server_that_does_not_survive_being_stopped_is_reported() {
    let world = with_script(ENDS_AT_CONTINUE);
    let outcome = run(&world, &["--server", "./my-server {port}", "--blocks=1"]);
    let failed = world.journal().runs.into_iter().find_map(|run| match run.outcome {
        Outcome::Failed { reason, .. } => Some(reason),
        _ => None,
    });
    let stopped = "the server ended with exit code 7 during the cohort, in which it was stopped while others were \
                   loaded because it uses CPU at rest (measure it with --procedure process)";
    assert!(failed.as_ref().is_some_and(|it| it.starts_with(stopped)), "{failed:?} {outcome:#?}");
    world.wait_for_silence();
}

#[test]
fn a_server_that_still_starts_is_not_taken_for_one_that_never_rests() {
    let (world, outcome) =
        undisturbed(|| with_script(STARTS_LATE), &["--server", "./my-server {port}", "--blocks=1"]);
    outcome.ended(0);
    for (_, measured) in measured(&world.journal(), "own/my-server") {
        assert!(measured.instance.unwrap().rest_share < 0.05, "{:?}", measured.instance);
    }
    world.wait_for_silence();
}

#[test]
fn a_journal_from_before_there_were_cohorts_is_shown_and_compared() {
    let world = World::new();
    for name in ["old", "newer"] {
        MADE.write(&world, name);
        let journal = format!("{name}/runs.jsonl");
        let text = world.read(&journal);
        let older = text.replace("\"procedure\":\"process\",\"margin\":null,", "");
        assert!(older != text, "{text}");
        for word in ["procedure", "margin", "visits", "instance"] {
            assert!(!older.contains(word), "{word} is in {older}");
        }
        world.write(journal, older);
    }
    let text = world.stdout(&["report", "old"]) + &world.stdout(&["compare", "old", "newer"]);
    assert_has(
        &text,
        &["\nhello: CPU us/request   saturated\n", " compared: no significant change"],
    );
}

#[test]
fn a_cohort_that_needs_too_many_files_is_refused_before_anything_is_started() {
    let world = World::new();
    let servers = ["run", "builtin/epoll", "builtin/io_uring", "--scenario=hello", "-c400"];
    // One server's connections fit.
    let limited = |procedure| world.wirebench_with_files(600, &[&servers[..], procedure].concat());
    let refused = limited(&["--procedure=cohorts", "--dry-run"]);
    let parts = ["400 connections to each of 3 servers", "may have 600", "give -c at most 17"];
    refused.assert_refused(2, &parts);
    assert!(!world.path("target").exists());
    limited(&["--procedure=process", "--dry-run"]).ended(0);
}
