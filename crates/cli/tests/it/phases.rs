//! Warm-ups that wait, pilots, and silent connections: the runner's parts with the real generator.

use crate::{
    servers,
    world::{World, program},
};
use std::{
    net::{IpAddr, Ipv4Addr},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_catalogue::{project::Project, subject::Subject};
use wirebench_experiment::{
    cut::Cut,
    experiment::pilot::Pilot,
    measure::{Cell, RunSettings},
};
use wirebench_schema::{
    journal::{
        Counts, IdleMeasurement, Measurement, Outcome, Placement, Reason, ReasonKind, Run, Weight,
    },
    load::{IdleMode, LoadModel},
    scenario::Scenario,
    suite::{Phase, Suite, Workload},
    verification::Verification,
};
use wirebench_server::launch::{Launcher, ReadyWhen};

/// Nothing here may take longer.
const PATIENCE: Duration = Duration::from_secs(60);

fn settings() -> RunSettings {
    let program = program().display().to_string();
    RunSettings {
        launcher: Launcher {
            guard_command: vec![program.clone(), "guard".into()],
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            cpus: None,
            ready_timeout: Duration::from_secs(20),
            ready_when: ReadyWhen::Connect,
        },
        agent_command: vec![program.clone(), "agent".into()],
        cut: Cut::default(),
        most_instances: 16,
        load_command: vec![program, "load".into()],
        tool: None,
        fleet: None,
        placement: Placement {
            server_cpus: vec![0],
            generator_cpus: vec![0],
            ..Placement::default()
        },
        idle: IdleMode::Natural,
        wake_up: None,
        workers: 1,
        seed: 1,
        replies_differ: false,
    }
}

fn project() -> Project {
    Project::without_entries(Path::new("/nowhere"))
}

pub(crate) fn server(mode: &str) -> Subject {
    Subject::own(&servers::command(mode), &[Scenario::Hello], &project()).unwrap()
}

fn builtin() -> Subject {
    Subject::builtins(program(), &project()).unwrap().remove(0)
}

pub(crate) fn workload(keys: &str) -> Workload {
    let text = format!(
        "description = \"A.\"\nblocks = 1\n[[workload]]\nname = \"a\"\nscenario = \"hello\"\n\
         connections = 2\nduration = \"300ms\"\n{keys}\n"
    );
    Suite::parse("a", &text).unwrap().workloads.remove(0)
}

fn run_until(subject: &Subject, workload: &Workload, stop: &AtomicBool) -> Option<Run> {
    let (block, position, copy, counts) = (0, 0, 0, Counts::Yes);
    let cell =
        Cell { subject, copy, workload, block, counts, position, verification: Verification::Full };
    settings().run(&cell, stop)
}

pub(crate) fn run(subject: &Subject, workload: &Workload) -> Run {
    run_until(subject, workload, &AtomicBool::new(false)).unwrap()
}

pub(crate) fn measured(run: &Run) -> &Measurement {
    run.outcome.measured().unwrap_or_else(|| panic!("{run:#?}"))
}

fn idle(run: &Run) -> &IdleMeasurement {
    let Outcome::Idle(idle) = &run.outcome else { panic!("{run:#?}") };
    idle
}

fn failure(run: &Run) -> &str {
    run.outcome.failure().unwrap_or_else(|| panic!("{run:#?}"))
}

pub(crate) fn find(reasons: &[Reason], kind: ReasonKind) -> Option<&Reason> {
    reasons.iter().find(|reason| reason.kind == kind)
}

#[test]
#[ignore = "needs a machine without other load"]
fn a_server_that_becomes_faster_is_waited_for() {
    let run = run(&server("warms-up"), &workload("steady_within = \"40s\""));
    let measured = measured(&run);
    assert_eq!(find(&measured.reasons, ReasonKind::NotSteady), None);
    // A request takes 100 us then, and 2 ms before.
    let request_ns = measured.cost.cpu_ns_per_request.unwrap();
    assert!((1e5..4e5).contains(&request_ns), "{request_ns}");
}

#[test]
#[ignore = "needs a machine without other load"]
fn a_server_that_never_becomes_steady_is_flagged_and_its_figures_are_kept() {
    let run = run(&server("never-steady"), &workload("steady_within = \"2s\""));
    let measured = measured(&run);
    let reason = find(&measured.reasons, ReasonKind::NotSteady).unwrap();
    assert!(reason.weight == Weight::Invalid && reason.figure >= Some(2e9), "{reason:?}");
    assert!(measured.load.requests > 0);
}

#[test]
fn a_server_that_dies_while_it_warms_up_is_a_failure_that_says_so() {
    let run = run(&server("dies"), &workload("steady_within = \"20s\""));
    let reason = failure(&run);
    assert!(reason.contains("exit code 3") && reason.contains("warms up"), "{reason}");
}

#[test]
fn a_wait_for_a_warm_server_ends_when_a_signal_asks_for_it() {
    let (stop, began) = (AtomicBool::new(false), Instant::now());
    let never = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(1));
            stop.store(true, Ordering::Relaxed);
        });
        run_until(&server("never-steady"), &workload("steady_within = \"1000s\""), &stop)
    });
    assert_eq!(never, None);
    assert!(began.elapsed() < PATIENCE);
}

#[test]
fn a_cost_phase_warms_up_and_measures_at_its_rate() {
    let cost = workload("phases = [\"cost\"]\nrate = 500\nsteady_within = \"10s\"");
    let run = run(&builtin(), &cost);
    let measured = measured(&run);
    assert!(matches!(measured.load.config.model, LoadModel::Rate { .. }));
    assert!(measured.load.config.warmup >= Duration::from_millis(200));
    let asked = run.generator_command.windows(2).any(|words| words == ["-R", "500"]);
    assert!(asked, "{:?}", run.generator_command);
}

#[test]
fn silent_connections_are_held_and_cost_memory() {
    let silent = workload("phases = [\"idle\"]\nidle_phase_connections = 200");
    assert_eq!(silent.phase, Phase::Idle);
    for (subject, is_costly) in [(builtin(), false), (server("correct"), true)] {
        let run = run(&subject, &silent);
        let idle = idle(&run);
        assert_eq!((idle.connections, idle.made, idle.lost), (200, 200, 0));
        assert!(idle.memory_rest_bytes > 0 && idle.memory_bytes > 0, "{idle:?}");
        // A thread for each connection touches pages of its own.
        assert!(!is_costly || idle.memory_bytes_per_connection > 4096.0, "{idle:?}");
        assert!(!is_costly || idle.threads > 200, "{idle:?}");
        assert!(idle.window_ns >= 300_000_000);
        assert!(idle.reasons.iter().all(|reason| reason.weight == Weight::Note), "{idle:?}");
    }
}

#[test]
fn connections_that_the_server_closes_are_lost() {
    let run = run(
        &server("closes-after-150"),
        &workload("phases = [\"idle\"]\nidle_phase_connections = 9"),
    );
    let idle = idle(&run);
    assert_eq!((idle.made, idle.lost), (9, 9));
    let reason = find(&idle.reasons, ReasonKind::ServerCloses).unwrap();
    assert_eq!((reason.weight, reason.figure), (Weight::Invalid, Some(9.0)));
}

#[test]
fn a_server_that_takes_few_connections_is_given_up_with_the_reason() {
    let keys = "phases = [\"idle\"]\nidle_phase_connections = 1000";
    let run = run(&server("takes-few"), &workload(keys));
    let idle = idle(&run);
    // The connection that was tried first may not be gone yet for the server.
    assert!((servers::FEW as u64 - 1..=servers::FEW as u64).contains(&idle.made), "{idle:?}");
    let reason = find(&idle.reasons, ReasonKind::ConnectionsMissing).unwrap();
    assert!(reason.text().contains("(of 1000: connection "), "{reason}");
    assert_eq!(reason.weight, Weight::Invalid);
}

#[test]
fn a_timeout_that_a_server_knows_is_made_longer_than_any_silence() {
    let line = servers::command("closes-after-{timeout_ms}");
    let subject = Subject::own(&line, &[Scenario::HelloTimeout], &project()).unwrap();
    let mut silent = workload("phases = [\"idle\"]\nidle_phase_connections = 3");
    silent.scenario = Scenario::HelloTimeout;
    let run = run(&subject, &silent);
    assert_eq!((idle(&run).made, idle(&run).lost), (3, 0));
    let words = &run.server_command;
    assert!(words.iter().any(|word| word == "closes-after-600000"), "{words:?}");
}

#[test]
fn the_pilot_finds_a_rate_that_the_slower_of_two_holds() {
    let (fast, slow) = (builtin(), server("slow"));
    let workload = workload("phases = [\"cost\"]");
    let settings = settings();
    let search = Pilot {
        settings: &settings,
        workload: &workload,
        subjects: &[&fast, &slow],
        baseline: Some(&fast.variant.id),
        verification: Verification::Full,
    };
    let mut runs = Vec::new();
    let stop = AtomicBool::new(false);
    let mut made = |run| {
        runs.push(run);
        Ok(())
    };
    let found = search.find(&[], &stop, &mut |_| {}, &mut made).unwrap().unwrap();
    assert_eq!((runs.len(), found.reached.len(), found.too_slow.len()), (2, 2, 0));
    // Two connections with 2 ms for each request cannot have more than 1000 requests/s.
    let (slowest, reached) = &found.reached[0];
    assert!(*slowest == slow.variant.id && *reached <= 1100.0, "{found:?}");
    let rate = found.requests_per_second.as_f64();
    assert!(rate <= reached / 2.0 && rate >= reached * 0.4, "{found:?}");
    assert!(runs.iter().all(|run| run.counts == Counts::Pilot && run.workload == "a"));
    // With the runs in the journal nothing is run again.
    let again = search.find(&runs, &stop, &mut |_| {}, &mut |run| panic!("{run:?}"));
    assert_eq!(again.unwrap().unwrap(), found);
}

#[test]
fn a_suite_with_phases_has_its_rate_in_the_journal_before_its_runs() {
    let suite = "description = \"An example.\"\nblocks = 1\nbaseline = \"builtin/epoll\"\n\
                 [[workload]]\nname = \"hello\"\nscenario = \"hello\"\nconnections = 4\n\
                 duration = \"200ms\"\nphases = [\"saturate\", \"cost\", \"idle\"]\n\
                 idle_phase_connections = 30\n";
    let world = World::that_sends().with_suite("mine.toml", suite);
    let slow = servers::command("slow");
    let arguments = ["run", "mine", "builtin/epoll", "--server", &slow, "--no-verify", "--no-pin"];
    world.wirebench(&arguments).ended(0);
    let journal = world.journal();
    let [rate] = journal.rates.as_slice() else { panic!("{:?}", journal.rates) };
    assert_eq!((rate.workload.as_str(), rate.reached.len()), ("hello-cost", 2));
    let pilots = journal.runs.iter().filter(|run| run.counts == Counts::Pilot);
    assert!(pilots.count() >= 2);
    for run in journal.runs.iter().filter(|run| run.counts == Counts::Yes) {
        match run.workload.as_str() {
            "hello-cost" => {
                let asked = run.generator_command.iter().skip_while(|word| *word != "-R").nth(1);
                assert_eq!(asked, Some(&rate.requests_per_second.to_string()));
            }
            "hello-idle" => assert_eq!(idle(run).made, 30),
            _ => assert_eq!(measured(run).load.config.model, LoadModel::Closed),
        }
    }
    let commands = std::fs::read_to_string(world.results().join("commands.txt")).unwrap();
    let cost = commands.split("# hello-cost ").nth(1).unwrap();
    assert!(cost.contains(" -R "), "the command of a pilot is not that of a cell: {commands}");
    assert_eq!(commands.split("# hello-idle ").nth(1).unwrap().trim().lines().count(), 2);
    // Both servers in three workloads, and the baseline once more in each.
    assert_eq!(journal.runs.iter().filter(|run| run.counts == Counts::Yes).count(), 9);
    world.wait_for_silence();
}
