//! `wirebench run --resume`: whatever ended a run, it goes on where it was, or says why it cannot.

use crate::{
    golden,
    world::{ONE_STATE, Outcome, World, assert_ended, program, write_program},
};
use expect_test::expect_file;
use rustix::process::Signal;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};
use wirebench_schema::journal::{Counts, EndReason, Journal, Outcome as Result, Run};

/// Two servers in three blocks: nine runs, the baseline's second ones included.
const SUITE: &str = "description = \"An example.\"\nentries = [\"builtin/\"]\n\
                     baseline = \"builtin/epoll\"\nblocks = 3\n[[workload]]\nname = \"a\"\n\
                     scenario = \"hello\"\nconnections = 2\nduration = \"200ms\"\n";
const RUNS: usize = 9;
const BEGIN: [&str; 5] = ["run", "mine", "--no-verify", "--seed", "7"];

fn world() -> World {
    World::new().with_suite("mine.toml", SUITE)
}

/// Kills `wirebench run` once its journal contains `count` records of this kind.
fn killed(world: &World, arguments: &[&str], kind: &str, count: usize) -> PathBuf {
    let running = world.start(arguments);
    let folder = world.wait_for_records(kind, count);
    running.signal(Signal::KILL);
    drop(running.end());
    world.wait_for_silence();
    folder
}

fn killed_after(world: &World, arguments: &[&str], runs: usize) -> PathBuf {
    killed(world, arguments, "run", runs)
}

fn resume(world: &World, folder: &Path) -> Outcome {
    world.wirebench(&["run", "--resume", folder.to_str().unwrap()])
}

/// The errors for a folder that cannot be resumed, without the places of this machine.
fn refusal(world: &World, folder: &Path) -> String {
    let outcome = resume(world, folder).ended(3);
    world.without_places(&outcome.stderr)
}

/// Block, position, variant, copy and workload of each run that counts.
pub(crate) fn places(journal: &Journal) -> Vec<(u32, u32, String, u32, String)> {
    let place = |run: &Run| {
        (run.block, run.position, run.variant.to_string(), run.copy, run.workload.clone())
    };
    journal.runs.iter().filter(|run| run.counts == Counts::Yes).map(place).collect()
}

#[test]
fn a_run_that_was_killed_goes_on_to_the_very_runs_of_an_undisturbed_one() {
    let undisturbed = world();
    undisturbed.wirebench(&BEGIN).ended(0);
    let world = world();
    let folder = killed_after(&world, &BEGIN, 4);
    let before = world.journal();
    assert!(before.end.is_none() && before.runs.len() < RUNS, "{}", before.runs.len());
    let outcome = resume(&world, &folder).ended(0);
    let recorded = before.runs.len();
    outcome.assert_line(&format!("resuming {}: {recorded} runs recorded", folder.display()));
    let journal = world.journal();
    // Where the end came in the middle of a write, what was lost has the baseline once more, in another group.
    let mut seen = BTreeSet::new();
    let mut made = places(&journal);
    made.retain(|place| seen.insert(place.clone()));
    assert_eq!(made, places(&undisturbed.journal()));
    let again = journal.runs.iter().filter(|run| run.group > 0);
    assert!(journal.runs.len() <= RUNS + again.count(), "{journal:#?}");
    assert_eq!(journal.runs[..before.runs.len()], before.runs, "what was there stays");
    assert_eq!((journal.resumed.len(), journal.end.unwrap().reason), (1, EndReason::Complete));
    for file in ["report.txt", "report.md", "commands.txt"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    world.wait_for_silence();
}

#[test]
fn a_run_that_is_over_has_nothing_left_to_be_done() {
    let world = world();
    let folder = killed_after(&world, &BEGIN, 8);
    let first = resume(&world, &folder);
    let journal = fs::read(folder.join("runs.jsonl")).unwrap();
    fs::remove_file(folder.join("report.md")).unwrap();
    let second = resume(&world, &folder).ended(0);
    assert_eq!(first.code, second.code);
    second.assert_line("nothing to resume: all runs are complete");
    assert_eq!(
        (&first.stdout, &journal),
        (&second.stdout, &fs::read(folder.join("runs.jsonl")).unwrap())
    );
    assert!(folder.join("report.md").is_file());
    let path = folder.to_str().unwrap();
    let longer = world.wirebench(&["run", "--resume", path, "--budget", "1h"]);
    longer.assert_refused(2, &["this run is finished", "start a new run with", "run mine"]);
}

#[test]
fn a_line_that_was_cut_off_is_put_aside_and_its_run_is_made_again() {
    let world = world();
    let folder = killed_after(&world, &BEGIN, 3);
    let path = folder.join("runs.jsonl");
    let bytes = fs::read(&path).unwrap();
    // The last run as a sudden end of the machine may leave it, in the middle of its line.
    fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
    let outcome = resume(&world, &folder).ended(0);
    let journal = world.journal();
    let unique: BTreeSet<_> = places(&journal).into_iter().collect();
    assert_eq!(unique.len(), RUNS);
    // What was lost is measured with the baseline next to it, as another group of the cohort.
    let again = journal.runs.iter().filter(|run| run.group > 0);
    let baseline = again.filter(|run| run.variant.entry() == "builtin/epoll").count();
    assert_eq!(journal.runs.len(), RUNS + baseline);
    let torn = fs::read_to_string(folder.join("runs.jsonl.torn")).unwrap();
    assert!(torn.starts_with("{\"record\":\"run\""), "{torn}");
    let moved = format!("incomplete last record ({} bytes) moved aside", torn.trim_end().len());
    outcome.assert_line(&moved);
}

#[test]
fn checks_that_were_made_are_not_made_again() {
    let world = world();
    let folder = killed(
        &world,
        &["run", "mine", "--scenario", "hello", "--scenario", "echo"],
        "verified",
        2,
    );
    let before = world.journal().verified;
    resume(&world, &folder).ended(0);
    let after = world.journal().verified;
    assert_eq!(after[..before.len()], before);
    let unique: BTreeSet<_> = after.iter().map(|it| (it.variant.clone(), it.scenario)).collect();
    assert_eq!((after.len(), unique.len()), (4, 4));
}

#[test]
fn a_rate_that_was_found_is_not_looked_for_again() {
    let suite = SUITE.replace("duration", "phases = [\"cost\", \"idle\"]\nduration");
    let suite = suite.replace("blocks = 3", "blocks = 1") + "idle_phase_connections = 5\n";
    let world = World::new().with_suite("mine.toml", &suite);
    let folder = killed(&world, &BEGIN, "rate", 1);
    let before = world.journal();
    resume(&world, &folder).ended(0);
    let after = world.journal();
    assert_eq!(after.rates, before.rates);
    let pilots =
        |journal: &Journal| journal.runs.iter().filter(|run| run.counts == Counts::Pilot).count();
    assert_eq!(pilots(&after), pilots(&before));
    // Two servers and the baseline once more, with a load and with silent connections.
    assert_eq!(after.runs.iter().filter(|run| run.counts == Counts::Yes).count(), 6);
}

/// A server of the user's: a script around a built-in one, which can be changed.
fn own_server(world: &World) -> PathBuf {
    let path = world.path("my-server");
    let text = format!("#!/bin/sh\nexec {} null-server epoll \"$@\"\n", program().display());
    write_program(&path, text);
    path
}

const OWN: [&str; 8] = [
    "run",
    "--server",
    "./my-server {scenario} {host} {port} {workers}",
    "--no-verify",
    "-d300ms",
    "--warmup=10ms",
    "-c2",
    "--steady=0s",
];

#[test]
fn a_server_that_is_another_program_now_is_refused_with_the_way_out() {
    let world = World::new();
    let server = own_server(&world);
    let folder = killed_after(&world, &OWN, 2);
    let text = fs::read_to_string(&server).unwrap();
    fs::write(&server, format!("{text}# Changed.\n")).unwrap();
    let journal = fs::read(folder.join("runs.jsonl")).unwrap();
    expect_file!["../golden/refused/changed-program.txt"].assert_eq(&refusal(&world, &folder));
    assert_eq!(fs::read(folder.join("runs.jsonl")).unwrap(), journal, "nothing was written");
    // The way out.
    fs::write(&server, text).unwrap();
    resume(&world, &folder).ended(0);
    fs::remove_file(&server).unwrap();
    // All there is to do is to show it.
    resume(&world, &folder).ended(0);
}

#[test]
fn a_server_that_is_gone_and_another_suite_are_refused() {
    let world = World::new();
    let server = own_server(&world);
    let folder = killed_after(&world, &OWN, 2);
    fs::remove_file(&server).unwrap();
    let mut text = refusal(&world, &folder);
    let world = self::world();
    let folder = killed_after(&world, &BEGIN, 2);
    let world = world.with_suite("mine.toml", &SUITE.replace("connections = 2", "connections = 3"));
    text += &refusal(&world, &folder);
    let world = world.with_suite("mine.toml", &SUITE.replace("blocks = 3", "blocks = 4"));
    text += &refusal(&world, &folder);
    let world = world.with_suite("mine.toml", "nonsense");
    text += &refusal(&world, &folder);
    expect_file!["../golden/refused/changed-setup.txt"].assert_eq(&text);
}

#[test]
fn one_journal_has_one_writer() {
    let world = world();
    let running = world.start(&BEGIN);
    let folder = world.wait_for_records("run", 1);
    resume(&world, &folder).assert_refused(1, &["another wirebench is writing to it"]);
    running.end().ended(0);
    assert_eq!(world.journal().runs.len(), RUNS);
}

#[test]
fn ctrl_c_names_the_command_that_goes_on_from_anywhere() {
    let world = world();
    let running = world.start(&BEGIN);
    world.wait_for_records("run", 2);
    running.signal(Signal::INT);
    let outcome = running.end().ended(130);
    let command = outcome.stdout.lines().last().unwrap();
    let command = command.strip_prefix("Resume with: wirebench ").unwrap();
    assert_eq!(world.journal().end.unwrap().reason, EndReason::Interrupted);
    let elsewhere = tempfile::tempdir().unwrap();
    let mut resumed = std::process::Command::new(program());
    resumed.args(command.split(' ')).arg("--quiet").current_dir(elsewhere.path()).envs([ONE_STATE]);
    let output = resumed.output().unwrap();
    let journal = world.journal();
    assert_ended(output.status.code(), &journal);
    assert_eq!((journal.runs.len(), journal.end.unwrap().reason), (RUNS, EndReason::Complete));
}

#[test]
fn a_run_that_failed_is_kept_and_not_made_again() {
    let world = World::that_sends();
    own_server(&world);
    // An echo server answers no HTTP.
    let server = "./my-server echo {host} {port} {workers}";
    let arguments = [&["run", "--server", server], &OWN[3..]].concat();
    let folder = killed_after(&world, &arguments, 5);
    let failed = |journal: &Journal| {
        let failed = journal.runs.iter().filter(|run| matches!(run.outcome, Result::Failed { .. }));
        failed.cloned().collect::<Vec<Run>>()
    };
    let before = failed(&world.journal());
    assert!(!before.is_empty());
    resume(&world, &folder).ended(1);
    let after = world.journal();
    assert_eq!(failed(&after)[..before.len()], before);
    let unique: BTreeSet<_> = places(&after).into_iter().collect();
    assert_eq!((after.runs.len(), unique.len()), (RUNS, RUNS));
    // As the undisturbed run would have ended, also when there is nothing left.
    resume(&world, &folder).ended(1);
}

#[test]
fn a_full_disk_ends_the_run_with_the_command_that_goes_on() {
    let world = world();
    let running = world.start(&BEGIN);
    let folder = world.wait_for_records("run", 1);
    // Files of this process may not grow beyond what the journal has now: to it the disk is full.
    let size = fs::metadata(folder.join("runs.jsonl")).unwrap().len() + 100;
    let limit = rustix::process::Rlimit { current: Some(size), maximum: Some(size) };
    let pid = rustix::process::Pid::from_child(&running.child);
    rustix::process::prlimit(Some(pid), rustix::process::Resource::Fsize, limit).unwrap();
    let outcome = running.end();
    let resumes = format!("wirebench run --resume {}", folder.display());
    outcome.assert_refused(1, &["the results cannot be written", "is kept there", &resumes]);
    world.wait_for_silence();
    resume(&world, &folder).ended(0);
    let unique: BTreeSet<_> = places(&world.journal()).into_iter().collect();
    assert_eq!((world.journal().runs.len(), unique.len()), (RUNS, RUNS));
}

#[test]
fn what_cannot_be_taken_up_is_refused_with_the_next_step() {
    let world = World::new();
    let empty = world.path("empty");
    fs::create_dir(&empty).unwrap();
    fs::write(empty.join("runs.jsonl"), "").unwrap();
    let commands: [&[&str]; 9] = [
        &["report", "."],
        &["run", "--resume", "."],
        &["run", "--resume", "nowhere"],
        &["run", "--resume", "suites"],
        &["run", "--resume", "empty"],
        &["run", "--resume", "empty", "quick"],
        &["run", "--resume", "empty", "--blocks", "3"],
        &["run", "--resume", "empty", "--seed", "1"],
        &["run", "--resume", "empty", "--no-verify"],
    ];
    golden::assert_refused_commands(&world, "resume", &commands);
}
