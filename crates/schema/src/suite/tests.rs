//! Valid and invalid suites.

use super::*;
use crate::{
    load::{Arrivals, ClosedPolicy, LatencyOrigin, LoadConfig, LoadModel, RateCurve, Stop},
    mistakes::messages,
    scenario::Scenario,
    target::Target,
};
use expect_test::{expect, expect_file};
use std::time::Duration;

const SUITE: &str = r#"
description = "An example."
blocks = 3
[[workload]]
name = "hello"
scenario = "hello"
connections = 64
warmup = "200ms"
duration = "1s"
"#;

fn parse(text: &str) -> Result<Suite, String> {
    Suite::parse("example", text)
}

/// The suite with these lines after its workload.
fn with(lines: &str) -> Suite {
    parse(&format!("{SUITE}{lines}")).unwrap()
}

/// The load of a workload with up to this many threads.
fn load(workload: &Workload, threads: usize) -> LoadConfig {
    workload.load_config(Target::of_scenario(Scenario::Hello, "127.0.0.1", 1), threads, 1)
}

#[test]
fn a_suite_has_defaults_for_all_that_it_does_not_say() {
    let suite = parse(SUITE).unwrap();
    assert_eq!((suite.baselines[0].as_str(), suite.workers), ("c/epoll", None));
    let workload = &suite.workloads[0];
    assert_eq!(workload.stop, Stop::After(Duration::from_secs(1)));
    assert_eq!(workload.warmup, Duration::from_millis(200));
}

#[test]
fn each_mistake_is_answered_with_what_to_write() {
    let changes = [
        ("blocks = 3", "blocks = 0"),
        ("blocks", "bloks"),
        ("warmup", "warm_up"),
        ("\"1s\"", "\"10x\""),
        ("duration = \"1s\"", ""),
        ("connections = 64", "connections = 0"),
        ("", "rate = 0"),
        ("", "rate = []"),
        ("", "rate = 5\ndelay = \"1ms\""),
        ("", "arrivals = \"poisson\""),
        ("", "pipeline = 0"),
        ("scenario = \"hello\"", "scenario = \"hallo\""),
        ("", "payload = \"4 KB\""),
        ("", SUITE.split_once("blocks = 3\n").unwrap().1),
    ];
    let text = messages(SUITE, &changes, parse);
    expect_file!["golden/mistakes.txt"].assert_eq(&text);
}

#[test]
fn a_workload_can_have_any_load_model() {
    let workload = |lines: &str| with(lines).workloads.remove(0);
    assert_eq!(workload("").model, LoadModel::Closed);
    let delay = Duration::from_millis(1);
    assert_eq!(workload("delay = \"1ms\"").model, LoadModel::Think { delay });
    let (curve, latency_from) = (RateCurve::per_second(5000), LatencyOrigin::Due);
    let arrivals = Arrivals::Poisson;
    let expected = LoadModel::Rate { curve, arrivals, latency_from };
    assert_eq!(workload("rate = 5000\narrivals = \"poisson\"").model, expected);
    let crowd = workload("pipeline = 16\nrequests_per_connection = 10\nidle_connections = 3");
    let config = load(&crowd, 1);
    assert_eq!((config.pipeline, config.requests_per_connection), (16, Some(10)));
    assert_eq!(config.idle_connections, 3);
}

#[test]
fn headers_and_repeats_belong_to_the_load_and_are_checked_like_options() {
    let lines = "headers = [\"User-Agent: hey/0.0.1\", \"A: b: ü\"]\nretry_closed = true";
    let config = load(&with(lines).workloads[0], 1);
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(config.headers, [header("User-Agent", "hey/0.0.1"), header("A", "b: ü")]);
    assert_eq!(config.on_closed, ClosedPolicy::Retry);
    let changes = [
        ("", "headers = [\"no colon\"]"),
        ("", "headers = [\"a b: c\"]"),
        ("", "headers = [\"Content-Length: 5\"]"),
        ("", "pipeline = 2\nretry_closed = true"),
        ("scenario = \"hello\"", "scenario = \"echo\"\nheaders = [\"A: b\"]"),
        ("scenario = \"hello\"", "scenario = \"echo\"\nretry_closed = true"),
    ];
    let text = messages(SUITE, &changes, parse);
    expect_file!["golden/headers.txt"].assert_eq(&text);
}

#[test]
fn a_load_never_has_more_threads_than_connections() {
    let workload = Workload { connections: 2, ..with("").workloads.remove(0) };
    let config = load(&workload, 8);
    assert_eq!((config.threads, config.check()), (2, Ok(())));
    assert_eq!(config.expect_body.as_deref(), Some("Hello world!"));
}

#[test]
fn lists_are_swept_and_every_workload_has_a_name_of_its_own() {
    let text =
        SUITE.replace("connections = 64", "connections = [8, 64]\npayload = [\"1\", \"4KiB\"]");
    let message = parse(&text).unwrap_err();
    expect!["two workloads are named `hello`: a name may contain {connections} and {payload}"]
        .assert_eq(&message);
    let text = text.replace("name = \"hello\"", "name = \"c{connections}-b{payload}\"");
    let suite = parse(&text).unwrap();
    let names: Vec<&str> = suite.workloads.iter().map(|w| w.name.as_str()).collect();
    assert_eq!(names, ["c8-b1", "c8-b4KiB", "c64-b1", "c64-b4KiB"]);
    assert_eq!((suite.workloads[3].connections, suite.workloads[3].payload_bytes), (64, 4096));
}

#[test]
fn a_rule_for_this_machine_needs_something_published() {
    let changes = [
        ("[[workload]]", "[scale.machine]\nblocks = 1\n[[workload]]"),
        ("", "[workload.machine]\nduration = \"1s\"\n"),
    ];
    let text = messages(SUITE, &changes, parse);
    expect![[r#"
        [[workload]] => [scale.machine]; blocks = 1; [[workload]]
          a rule for this machine changes what was published: write [published] too
        => [workload.machine]; duration = "1s"
          a rule for this machine changes what was published: write [published] too
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_suite_can_name_several_baselines_and_selects_its_entries() {
    let text = SUITE.replace("blocks = 3", "blocks = 3\nbaseline = [\"c/epoll\", \"c/threads\"]");
    let text = text.replace("blocks = 3", "blocks = 3\nentries = [\"c/epoll\", \"go/\"]");
    let suite = parse(&text).unwrap();
    assert_eq!(suite.baselines, ["c/epoll", "c/threads"]);
    for (variant, named) in [("c/epoll", true), ("go/net", true), ("c/threads", false)] {
        assert_eq!(suite.names(&variant.parse().unwrap()), named, "{variant}");
    }
    let message = parse(&text.replace("\"go/\"", "\"go\"")).unwrap_err();
    assert_eq!(
        message,
        "`go` is not an entry's name: write LANGUAGE/NAME or LANGUAGE/NAME:VARIANT in letters, \
         digits, `.`, `_` and `-`, each part of at most 100 bytes"
    );
}

#[test]
fn a_workload_with_several_phases_becomes_one_for_each() {
    let phases = "phases = [\"saturate\", \"cost\", \"idle\"]\nsteady_within = \"5s\"\n";
    let suite = with(phases);
    let all: Vec<_> = suite.workloads.iter().map(|w| (w.name.as_str(), w.phase)).collect();
    let expected =
        [("hello", Phase::Saturate), ("hello-cost", Phase::Cost), ("hello-idle", Phase::Idle)];
    assert_eq!(all, expected);
    let [saturate, cost, idle] = &suite.workloads[..] else { panic!("{all:?}") };
    assert_eq!((cost.needs_rate(), saturate.needs_rate()), (true, false));
    assert!(!cost.at_rate(5000_u64).needs_rate() && cost.at_rate(5000_u64).check().is_ok());
    assert_eq!((idle.connections, cost.steady_within), (1000, Duration::from_secs(5)));
    let suite = with(&format!("{phases}rate = 5000\nsilent_connections = 10"));
    assert_eq!(suite.workloads[0].model, LoadModel::Closed);
    assert!(!suite.workloads[1].needs_rate());
    assert_eq!(suite.workloads[2].connections, 10);
}

#[test]
fn a_rate_is_there_for_the_cost() {
    let Workload { phase, name, .. } = with("rate = 5000").workloads.remove(0);
    assert_eq!((phase, name.as_str()), (Phase::Cost, "hello"));
    let changes = [
        ("", "phases = []"),
        ("", "phases = [\"saturate\"]\nrate = 5"),
        ("", "idle_phase_connections = 5"),
        ("", "phases = [\"idle\"]\nidle_phase_connections = 0"),
        ("", "phases = [\"cost\"]\ndelay = \"1ms\""),
        ("", "phases = [\"costs\"]"),
    ];
    let text = messages(SUITE, &changes, parse);
    expect_file!["golden/phases.txt"].assert_eq(&text);
}

#[test]
fn each_of_several_rates_is_a_workload_with_the_rate_in_its_name() {
    let suite = with("phases = [\"saturate\", \"cost\"]\nrate = [20000, 1500]");
    let rate = |workload: &Workload| match &workload.model {
        LoadModel::Rate { curve, .. } => Some(curve.clone()),
        _ => None,
    };
    let found: Vec<_> = suite.workloads.iter().map(|it| (it.name.as_str(), rate(it))).collect();
    assert_eq!(
        found,
        [
            ("hello", None),
            ("hello-20k", Some(RateCurve::per_second(20_000))),
            ("hello-1500", Some(RateCurve::per_second(1500))),
        ]
    );
}
