//! Loads in both idle modes: which visits there are, and what becomes of such a result. Figures are judged elsewhere.

use rustix::process::Signal;
use wirebench_schema::{
    journal::{EndReason, Journal},
    load::IdleMode,
};

use crate::{
    cohorts::SHORT,
    world::{World, assert_has},
};

/// Loads that share instances, one of them at a rate, and one with a process of its own.
const MIXED: &str = "description = \"An example.\"\nentries = [\"builtin/\"]\n\
                     baseline = \"builtin/epoll\"\nblocks = 2\n[[workload]]\nname = \"hello\"\n\
                     scenario = \"hello\"\nconnections = 4\nduration = \"200ms\"\nrate = 500\n\
                     phases = [\"saturate\", \"cost\"]\n[[workload]]\nname = \"count\"\n\
                     scenario = \"hello\"\nconnections = 4\nrequests = 200\n";

const CUT: [&str; 4] = ["run", "mixed", "--rounds=2", "--visit=50ms"];

/// Only loads at a rate have natural visits, one in each round.
fn assert_both(journal: &Journal) {
    assert_eq!(journal.start.idle, IdleMode::Both);
    let measured = journal.runs.iter().filter_map(|run| Some((run, run.outcome.measured()?)));
    let mut at_rate = 0;
    for (run, measured) in measured {
        let rounds: Vec<u32> = measured.natural_visits.iter().map(|it| it.round).collect();
        let is_at_rate = run.workload == "hello-cost";
        let expected: &[u32] = if is_at_rate { &[0, 1] } else { &[] };
        assert_eq!(rounds, expected, "{run:#?}");
        let natural = &measured.natural_visits;
        assert!(natural.iter().all(|it| it.requests > 0 && it.cpu_ns > Some(0)), "{run:#?}");
        // The command repeats the load of the verdicts.
        assert!(run.generator_command.windows(2).any(|it| it == ["--idle", "awake"]), "{run:#?}");
        at_rate += usize::from(is_at_rate);
    }
    assert!(at_rate > 0, "no load at a rate has figures");
}

#[test]
#[ignore = "needs a writable /dev/cpu_dma_latency"]
fn loads_at_a_rate_are_measured_in_both_idle_modes_also_where_a_run_goes_on_with_awake_cpus() {
    let world = World::that_sends().with_suite("mixed.toml", MIXED);
    let running = world.start(&[&CUT[..], &SHORT, &["--idle=both"]].concat());
    let folder = world.wait_for_records("run", 1);
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(130));
    world.wirebench(&["run", "--resume", folder.to_str().unwrap(), "--quiet"]).assert_reported();
    let journal = world.journal();
    assert_both(&journal);
    assert_eq!(journal.end.unwrap().reason, EndReason::Complete);
    let report =
        |forms: &[&str]| world.stdout(&[&["report", folder.to_str().unwrap()], forms].concat());
    assert_has(&report(&["--explain"]), &["waking adds "]);
    assert_has(&report(&["--json"]), &["\"idle\": \"both\"", "\"wake_up\": {"]);
    world.wait_for_silence();
}

#[test]
#[ignore = "needs a writable /dev/cpu_dma_latency"]
fn a_result_of_both_idle_modes_is_compared_as_an_awake_one_with_awake_cpus() {
    let result = |idle: &str| {
        let world = World::that_sends().with_suite("mixed.toml", MIXED);
        world.wirebench(&[&CUT[..], &SHORT, &[idle]].concat()).assert_reported();
        world
    };
    let [awake, both, natural] = ["--idle=awake", "--idle=both", "--idle=natural"].map(result);
    let compare = |old: &World, new: &World| {
        let [old, new] = [old, new].map(|it| it.results().display().to_string());
        awake.wirebench(&["compare", &old, &new])
    };
    let same = compare(&awake, &both);
    assert!(!same.stderr.contains("idle mode"), "{same:#?}");
    let different = compare(&natural, &both);
    different.assert_refused(3, &["the idle mode of the CPUs was `natural` and is `awake`"]);
}

#[test]
#[ignore = "needs a writable /dev/cpu_dma_latency"]
fn both_idle_modes_need_a_load_at_a_rate_with_awake_cpus() {
    let world = World::that_sends().with_suite("mixed.toml", MIXED);
    for option in ["--phase=saturate", "--procedure=process"] {
        let refused = world.wirebench(&["run", "mixed", "--idle=both", option]);
        refused.assert_refused(2, &["--idle both needs a load at a rate", "--idle awake"]);
    }
}
