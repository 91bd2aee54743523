//! Each option of a shape through every verb that sends load, and as a key of a suite: all mean the same load.

use super::*;
use crate::{Arguments, Verb};
use clap::{CommandFactory as _, FromArgMatches as _, Parser as _};
use wirebench_experiment::plan::{Changes, change};
use wirebench_schema::{
    load::{LoadConfig, Stop},
    suite::{Phase, Suite, Workload},
    target::Target,
};

/// Options, the lines of a suite that mean the same, and a mark of the load that they make.
const ROWS: [(&str, &str, &str); 22] = [
    ("-c 7", "connections = 7", "connections: 7"),
    ("-t 1", "threads = 1", "threads: 1,"),
    ("-d 70ms", "duration = \"70ms\"", "stop: After(70ms)"),
    ("--count 70", "requests = 70", "stop: Requests(70)"),
    ("--count-per-connection 7", "count_per_connection = 7", "RequestsPerConnection(7)"),
    ("--warmup 70ms", "warmup = \"70ms\"", "warmup: 70ms"),
    ("--timeout 7s", "timeout = \"7s\"", "timeout: 7s"),
    ("-R 0.5", "rate = 0.5", "Constant(Rate(500))"),
    ("-R 20k", "rate = \"20k\"", "Constant(Rate(20000000))"),
    ("--ramp 1:0.5", "ramp = [1, 0.5]", "Ramp(Rate(1000), Rate(500))"),
    ("--steps 1,2k", "steps = [1, \"2k\"]", "Steps([Rate(1000), Rate(2000000)])"),
    ("-R 9 --poisson", "rate = 9\narrivals = \"poisson\"", "arrivals: Poisson"),
    ("-R 9 --skip-late", "rate = 9\nskip_late = true", "latency_from: Sent"),
    ("--closed", "closed = true", "model: Closed"),
    ("--delay 7ms", "delay = \"7ms\"", "Think { delay: 7ms }"),
    ("-p 7", "pipeline = 7", "pipeline: 7"),
    ("--requests-per-connection 7", "requests_per_connection = 7", "connection: Some(7)"),
    ("--retry-closed", "retry_closed = true", "on_closed: Retry"),
    ("--idle-connections 7", "idle_connections = 7", "idle_connections: 7"),
    ("--payload 7KiB", "payload = \"7KiB\"", "payload_bytes: 7168"),
    ("--rate 9 -n5", "rate = 9\nrequests = 5", "Requests(5)"),
    ("-c 7 -p 2 -d 1s", "connections = 7\npipeline = 2\nduration = \"1s\"", "pipeline: 2"),
];

const BEGIN: [&str; 4] = ["run", "ab --a x --b y", "tune builtin/epoll", "load"];

/// The suite with these lines.
fn workload(scenario: &str, lines: &str) -> Workload {
    let mut text = format!(
        "description = \"\"\nblocks = 1\n[[workload]]\nname = \"a\"\nscenario = \"{scenario}\"\n{lines}\n"
    );
    for (key, usual) in [("connections", "connections = 10\n"), ("threads", "threads = 2\n")] {
        text += if lines.lines().any(|it| it.starts_with(key)) { "" } else { usual };
    }
    let ends = ["duration", "requests =", "count_per"];
    if !ends.iter().any(|key| lines.lines().any(|it| it.starts_with(key))) {
        text += "duration = \"10s\"\n";
    }
    Suite::parse("a", &text).unwrap_or_else(|error| panic!("{text}: {error}")).workloads.remove(0)
}

#[test]
fn an_option_makes_the_same_load_in_every_verb_and_as_a_key_of_a_suite() {
    for (options, lines, mark) in ROWS {
        let is_echo = options.contains("payload");
        let scenario = if is_echo { "echo" } else { "hello" };
        let url = if is_echo { "tcp://127.0.0.1:80" } else { "http://127.0.0.1:80/" };
        let of_suite = workload(scenario, lines);
        let target: Target = url.parse().unwrap();
        let expected = LoadConfig { expect_body: None, ..of_suite.load_config(target, 2, 1) };
        let shown = format!("{expected:?}");
        assert!(shown.contains(mark), "{options}: {shown}");
        for begin in BEGIN {
            // ApacheBench has the name of this verb and this letter.
            let options = if begin.starts_with("ab") {
                &options.replace("-n5", "--count 5")
            } else {
                options
            };
            let end = if begin == "load" { url } else { "" };
            let words = ["wirebench", begin, options, end].join(" ");
            let words = words.split_whitespace();
            if begin == "load" {
                let Verb::Load(load) = Arguments::parse_from(words).verb else { panic!() };
                assert_eq!(load.config().unwrap(), expected, "{options}");
                continue;
            }
            let matches = Arguments::command().try_get_matches_from(words).unwrap();
            let (_, of_verb) = matches.subcommand().unwrap();
            let shape = ShapeArgs::from_arg_matches(of_verb).unwrap().patch();
            let mut suite = Suite::parse(
                "a",
                &format!(
                    "description = \"\"\nblocks = 1\n[[workload]]\nname = \"a\"\nscenario = \"{scenario}\"\n\
                     connections = 10\nthreads = 2\nduration = \"10s\"\n"
                ),
            )
            .unwrap();
            let phases = if shape.has_rate() { vec![Phase::Cost] } else { vec![Phase::Saturate] };
            change(&mut suite, &Changes { shape, phases, ..Changes::default() }).unwrap();
            let changed = suite.workloads.remove(0);
            assert_eq!(Workload { name: "a".to_owned(), ..changed }, of_suite, "{begin} {options}");
        }
    }
}

#[test]
fn an_option_with_nothing_to_change_or_one_that_excludes_another_is_refused_in_every_verb() {
    let rows = [
        "-d 1s -n 5",
        "-R5 --ramp=1:2",
        "--steps=5,6 --delay=1ms",
        "--closed -R 5",
        "--poisson",
        "--payload 5",
        "--skip-late --ramp=1:2",
    ];
    let mut text = String::new();
    for row in rows {
        let shape = Arguments::command()
            .try_get_matches_from(format!("wirebench run {row}").split_whitespace())
            .unwrap();
        let shape = ShapeArgs::from_arg_matches(shape.subcommand().unwrap().1).unwrap().patch();
        let mut load = Workload::new(wirebench_schema::scenario::Scenario::Hello);
        load.phase = if shape.has_rate() { Phase::Cost } else { Phase::Saturate };
        load.stop = Stop::After(Duration::from_secs(1));
        let reason = shape.apply_to_all(std::slice::from_mut(&mut load)).unwrap_err();
        text += &format!("{row}: {reason}\n");
    }
    expect_test::expect![""].assert_eq(&text);
}
