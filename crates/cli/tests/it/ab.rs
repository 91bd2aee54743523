//! Two servers compared with each other: what is measured, what ends it, what is printed, what is
//! refused. Verdicts are tested on synthetic journals; the visits here are too short for one.

use crate::{
    golden,
    servers::null_server,
    world::{ENTRY, Outcome, World, program},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};
use wirebench_schema::{
    journal::{Counts, EndReason, Journal, Procedure},
    suite::Phase,
};

/// Visits and windows as short as they can be.
pub(crate) const SHORT: [&str; 10] = [
    "ab",
    "-d250ms",
    "--visit=40ms",
    "--rounds=2",
    "--warmup=20ms",
    "--steady=0s",
    "-c2",
    "--workers=1",
    "--no-verify",
    "-q",
];

fn ab(world: &World, sides: [&str; 2], arguments: &[&str]) -> Outcome {
    let sides = ["--a", sides[0], "--b", sides[1]];
    world.wirebench(&[&SHORT, &sides[..], arguments].concat())
}

fn same(world: &World, arguments: &[&str]) -> Outcome {
    let server = null_server("epoll", "hello");
    ab(world, [&server, &server], arguments).ended(0)
}

fn last_line(outcome: &Outcome) -> &str {
    outcome.stdout.lines().last().unwrap_or_default()
}

/// How many runs of each side count, cohort by cohort: each instance has one.
fn runs_by_cohort(journal: &Journal) -> Vec<[usize; 2]> {
    let mut cohorts: BTreeMap<u32, [BTreeSet<u32>; 2]> = BTreeMap::new();
    for run in journal.runs.iter().filter(|run| run.counts == Counts::Yes) {
        let sides = cohorts.entry(run.block).or_default();
        sides[usize::from(run.variant.entry() != "ab/A")].insert(run.copy);
    }
    cohorts.into_values().map(|sides| sides.map(|copies| copies.len())).collect()
}

#[test]
fn a_cohort_has_two_instances_of_either_side_and_two_cohorts_claim_nothing() {
    let world = World::new();
    let outcome = same(&world, &["--cohorts=2"]);
    let journal = world.journal();
    assert_eq!(runs_by_cohort(&journal), [[2, 2]; 2]);
    assert_eq!(journal.start.procedure, Procedure::Short);
    let workload = &journal.start.workloads[0];
    assert_eq!((workload.phase, workload.name.as_str()), (Phase::Saturate, "hello"));
    for run in &journal.runs {
        let Some(measured) = run.outcome.measured() else { continue };
        assert_eq!(measured.visits.len(), 2, "{run:#?}");
    }
    let line = last_line(&outcome);
    let few = line.starts_with("inconclusive: a verdict needs 3 cohorts; B uses ")
        && line.contains(" CPU per request than A (2 cohorts); next step: --cohorts 8");
    assert!(few || line.starts_with("not valid: "), "{outcome:#?}");
    outcome.assert_line("A and B are the same program: any difference is noise");
}

#[test]
fn the_rate_is_found_and_three_cohorts_are_made_whatever_the_budget() {
    let world = World::new();
    let outcome = same(&world, &["--phase=cost", "--budget=1ms"]);
    let journal = world.journal();
    assert_eq!(journal.end.as_ref().unwrap().reason, EndReason::Budget, "{outcome:#?}");
    assert_eq!(runs_by_cohort(&journal), [[2, 2]; 3]);
    assert_eq!(journal.rates.len(), 1);
    let pilots = journal.runs.iter().filter(|run| run.counts == Counts::Pilot);
    let piloted: BTreeSet<_> = pilots.map(|run| run.variant.to_string()).collect();
    assert_eq!(piloted, BTreeSet::from(["ab/A".to_owned(), "ab/B".to_owned()]));
    let line = last_line(&outcome);
    let rate = journal.rates[0].requests_per_second;
    let has_rate = line.contains("3 cohorts at ") && line.contains(" requests/s");
    assert!(has_rate || line.starts_with("not valid"), "{rate}: {line}");
}

#[test]
fn the_plan_says_which_differences_are_found_by_the_scatter_of_the_result_before() {
    let world = World::new();
    let server = null_server("epoll", "hello");
    let sides = ["--a", &server, "--b", &server, "--budget=6s"];
    let loud: Vec<&str> = SHORT.into_iter().filter(|it| *it != "-q").chain(sides).collect();
    let finds = || {
        let outcome = world.wirebench(&loud);
        let is_it = |line: &str| line.contains(" on within the budget, by the scatter of ");
        outcome.stderr.lines().any(is_it)
    };
    assert_eq!([finds(), finds()], [false, true]);
}

#[test]
fn a_precision_that_is_reached_ends_it_after_whole_pairs() {
    let world = World::new();
    same(&world, &["--precision=99%", "--budget=50s"]);
    let journal = world.journal();
    assert_eq!(journal.start.goal.precision, Some(0.99));
    let cohorts = runs_by_cohort(&journal).len();
    assert!(cohorts >= 4 && cohorts.is_multiple_of(2), "{cohorts}");
}

#[test]
fn rare_latencies_take_a_process_for_each_run() {
    let world = World::new();
    let outcome = same(&world, &["--metric=p999", "--rate=500", "--blocks=1"]);
    let journal = world.journal();
    assert_eq!(journal.start.procedure, Procedure::Whole);
    assert_eq!(journal.start.workloads[0].phase, Phase::Cost);
    assert_eq!(runs_by_cohort(&journal), [[2, 2]]);
    let line = last_line(&outcome);
    let named = line.contains("1 block at 500 requests/s, a process per run)");
    assert!(named || line.starts_with("not "), "{line}");
}

#[test]
fn the_folder_and_the_report_say_the_same_in_every_form() {
    let world = World::new();
    let outcome = same(&world, &["--rate=20000", "--cohorts=2", "--name=main", "--name=head"]);
    let folder = world.results();
    let path = folder.display().to_string();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let sentence = last_line(&outcome);
    assert_eq!(read("report.txt").lines().last(), Some(sentence));
    assert_eq!(world.wirebench(&["report", &path, "--explain"]).stdout, read("report.txt"));
    // A head with at most four figures, two findings, the condition that was asked for, the report and the sentence.
    assert!(outcome.stdout.lines().count() <= 10, "{outcome:#?}");
    let name = folder.file_name().unwrap().to_str().unwrap();
    outcome.assert_line(&format!("Report: target/wirebench/{name}/report.html"));
    let page = world.wirebench(&["report", &path]).stdout;
    let shown = outcome.stdout.lines().filter(|line| !line.starts_with("Report: "));
    assert_eq!(page.lines().collect::<Vec<_>>(), shown.collect::<Vec<_>>());
    let markdown = world.wirebench(&["report", &path, "--format=markdown"]).stdout;
    assert_eq!(markdown, read("report.md"));
    assert!(markdown.starts_with(&format!("**{sentence}**\n")), "{markdown}");
    let json: serde_json::Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(json["sentence"], sentence);
    let server = |index: usize| &json["cells"][index]["server"];
    assert_eq!((server(0), server(1)), (&"main".into(), &"head".into()));
    assert_eq!(world.wirebench(&["report", &path, "--json"]).stdout, read("report.json"));
    assert!(read("commands.txt").contains("null-server"));
}

#[test]
fn a_gate_fails_exactly_when_the_difference_is_beyond_it_for_certain() {
    let rows = [
        // Cost of B where that of A is 5000, cohorts, verdict, verdict of the condition, exit code.
        (5000, 3, "same", "passed", 0),
        (6000, 3, "higher", "passed", 0),
        (8000, 3, "higher", "failed", 4),
        (4000, 3, "lower", "passed", 0),
        (8000, 2, "inconclusive", "inconclusive", 0),
    ];
    for (cpu_ns, cohorts, verdict, judged, code) in rows {
        let world = World::scripted(&format!("5000 hello\n{cpu_ns} echo"));
        let sides = [null_server("epoll", "hello"), null_server("epoll", "echo")];
        let sides = ["ab", "--a", &sides[0], "--b", &sides[1], "-c2", "--workers=1"];
        let cohorts = format!("--cohorts={cohorts}");
        let conditions = ["--no-verify", &cohorts, "--fail-if=cpu > +30%", "--json", "-q"];
        let outcome = world.wirebench(&[&sides[..], &conditions].concat()).ended(code);
        let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(json["verdict"], verdict, "{json:#}");
        assert_eq!(json["gate"]["verdict"], judged, "{json:#}");
        assert_eq!(json["cells"][1]["same_program"], false);
        let folder = world.results().display().to_string();
        let judged = ["report", &folder, "--fail-if=cpu > +30%", "--json", "--junit=x.xml"];
        assert_eq!(world.wirebench(&judged).ended(code).stdout, outcome.stdout);
        let xml = world.read("x.xml");
        assert!(xml.contains("name=\"wirebench report\""), "{xml}");
    }
}

#[test]
fn a_server_that_answers_wrongly_is_refused_and_nothing_is_measured() {
    let world = World::new();
    let (right, wrong) = (null_server("epoll", "hello"), null_server("epoll", "echo"));
    let sides = ["ab", "--a", &right, "--b", &wrong, "-d50ms", "--steady=0s", "-c2", "-q"];
    let outcome = world.wirebench(&[&sides[..], &["--fail-if=cpu > +3%"]].concat()).ended(1);
    let reason = "not measured: A was not run; B fails `reply-exact` in hello: ";
    assert!(last_line(&outcome).starts_with(reason), "{outcome:#?}");
    let failed = "FAILED: hello ab/B has no figures: B fails `reply-exact` in hello: a reply must begin with ...";
    outcome.assert_line(failed);
    outcome
        .assert_line("WARNING: 'cpu > +3%' is inconclusive: no cell has this metric on both sides");
    assert!(world.journal().runs.is_empty());
    world.wait_for_silence();
}

#[test]
fn what_was_interrupted_has_a_verdict_and_goes_on() {
    let world = World::new();
    let server = null_server("epoll", "hello");
    let sides = ["--a", &server, "--b", &server, "--cohorts=4"];
    let running = world.start(&[&SHORT, &sides[..]].concat());
    let folder = world.wait_for_records("run", 4).display().to_string();
    running.signal(rustix::process::Signal::INT);
    let outcome = running.end().ended(130);
    outcome.assert_line(&format!("Resume with: wirebench run --resume {folder}"));
    let line = last_line(&outcome);
    assert!(line.starts_with("inconclusive: ") || line.starts_with("not "), "{line}");
    let resumed = world.wirebench(&["run", "--resume", &folder, "-q"]).ended(0);
    let journal = world.journal();
    assert_eq!((runs_by_cohort(&journal), journal.resumed.len()), (vec![[2, 2]; 4], 1));
    let again = world.wirebench(&["run", "--resume", &folder]);
    again.assert_line("nothing to resume: all runs are complete");
    assert_eq!(last_line(&again), last_line(&resumed));
    world.wait_for_silence();
}

#[test]
fn a_budget_that_is_used_up_cannot_grow_after_a_look_at_the_result() {
    let world = World::new();
    same(&world, &["--budget=1ms"]);
    assert_eq!(world.journal().end.unwrap().reason, EndReason::Budget);
    let folder = world.results().display().to_string();
    let before = fs::read(world.results().join("runs.jsonl")).unwrap();
    let longer = world.wirebench(&["run", "--resume", &folder, "--budget", "1h"]);
    let parts = ["fixes its budget before the first run", "start a new comparison", " ab "];
    longer.assert_refused(2, &parts);
    let again = world.wirebench(&["run", "--resume", &folder]);
    again.assert_line("nothing to resume: the budget is used up");
    assert_eq!(fs::read(world.results().join("runs.jsonl")).unwrap(), before);
}

#[test]
fn a_command_that_names_its_variant_gets_its_name_on_either_side() {
    let program = program().display();
    let run = format!(
        "command = [\"sh\", \"-c\", \"test $0 = two && exec $1 null-server epoll hello 127.0.0.1 $2 1\", \
         \"{{variant}}\", \"{program}\", \"{{port}}\"]"
    );
    let entry = ENTRY.replace("command = [\"no-such-server\", \"{port}\"]", &run);
    let variants = "[[variant]]\nname = \"one\"\n[[variant]]\nname = \"two\"\n";
    let world = World::new().with_entry("c/x", &(entry + variants));
    ab(&world, ["c/x:two", &null_server("epoll", "hello")], &["--cohorts=1"]).ended(0);
    let refused =
        ab(&world, [&null_server("epoll", "hello"), "c/x:one"], &["--cohorts=1"]).ended(1);
    assert!(refused.stderr.contains("exit code 1 before it was ready"), "{refused:#?}");
}

#[test]
fn commands_have_folders_of_their_own() {
    let world = World::new();
    for side in ["base", "head"] {
        let folder = world.path(side);
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(program(), folder.join("server")).unwrap();
    }
    let command = "./server null-server epoll hello {host} {port} {workers}";
    let folders = ["--a-folder=base", "--b-folder=head", "--rate=500", "--cohorts=2"];
    ab(&world, [command, command], &folders).ended(0);
    let details = fs::read_to_string(world.results().join("report.txt")).unwrap();
    let head = format!("  B: `{command}` in head, 4 runs");
    assert!(details.lines().any(|line| line.starts_with(&head)), "{details}");
    let runs = world.journal().runs;
    let base = |run: &&wirebench_schema::journal::Run| run.server_command[0].contains("/base/");
    assert_eq!(runs.iter().filter(base).count(), 4);
}

#[test]
fn nonsense_is_refused_with_the_next_step_and_nothing_is_left_behind() {
    let server = null_server("epoll", "hello");
    let good = ["--a", server.as_str(), "--b", server.as_str()];
    let long = format!("--name={}", "x".repeat(300));
    let rows: [&[&str]; 26] = [
        &["--a", "x {port}"],
        &["--server", "./x {port}"],
        &["--old", "HEAD"],
        &["--server", "./x {port}", "--old", "HEAD"],
        &["--server", "./x {port}", "--old", "HEAD", "--build", "a 'b"],
        &["--server", "./x {port}", "--old", "HEAD", "--a", "x"],
        &["c/x", "--build", "make", "--old", "HEAD"],
        &["--a", "./no-such {port}", "--b", "./no-such {port}"],
        &["--a", "./no-such 80", "--b", "x"],
        &["--a", "builtin/epol", "--b", "builtin/epoll"],
        &["--a", "builtin/", "--b", "builtin/epoll"],
        &["--a", "builtin/epoll", "--b", "builtin/epoll", "--scenario=hello-timeout"],
        &["--a", "builtin/epoll", "--b", "builtin/epoll", "--a-folder=."],
        &[&good[..], &["--phase=idle"]].concat(),
        &[&good[..], &["--phase=saturate", "--rate=5"]].concat(),
        &[&good[..], &["--rate=5", "--fail-if=throughput < -3%"]].concat(),
        &[&good[..], &["--precision=1%", "--cohorts=4"]].concat(),
        &[&good[..], &["--metric=switches"]].concat(),
        &[&good[..], &["--metric=ready", "--procedure=process"]].concat(),
        &["--a", "builtin/epoll", "--b", "http://127.0.0.1:1/", "--metric=ready"],
        &[&good[..], &["--name=A", "--name=A"]].concat(),
        &[&good[..], &["--name=x/y", "--name=x-y"]].concat(),
        &[&good[..], &[&long]].concat(),
        &[&good[..], &["--old=HEAD"]].concat(),
        &[&good[..], &["--payload=4KiB"]].concat(),
        &[&good[..], &["--scenario=echo", "--payload=0"]].concat(),
    ];
    let world = World::new();
    golden::assert_refusals(&world, "ab", &rows);
    assert!(!world.path("target").exists());
}
