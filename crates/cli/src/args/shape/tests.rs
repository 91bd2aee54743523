//! Each option of a shape through every verb that sends load, and as a key of a suite: all mean the same load.

use super::*;
use crate::{Arguments, Verb};
use clap::{CommandFactory as _, FromArgMatches as _, Parser as _};
use std::slice;
use wirebench_schema::{
    load::LoadConfig,
    suite::{Suite, Workload},
};

/// Options, the lines of a suite that mean the same, and a mark of the load that they make.
const ROWS: [(&str, &str, &str); 22] = [
    ("-c 7", "connections = 7", "connections: 7"),
    ("-t 1", "threads = 1", "threads: 1,"),
    ("-d 70ms", "duration = \"70ms\"", "stop: After(70ms)"),
    ("--count 70", "requests = 70", "stop: Requests(70)"),
    ("--count 7/connection", "count_per_connection = 7", "RequestsPerConnection(7)"),
    ("--warmup 70ms", "warmup = \"70ms\"", "warmup: 70ms"),
    ("--timeout 7s", "timeout = \"7s\"", "timeout: 7s"),
    ("-R 0.5", "rate = 0.5", "Constant(Rate(500))"),
    ("-R 20k", "rate = \"20k\"", "Constant(Rate(20000000))"),
    ("-R 1:0.5", "ramp = [1, 0.5]", "Ramp(Rate(1000), Rate(500))"),
    ("-R 1/2k", "steps = [1, \"2k\"]", "Steps([Rate(1000), Rate(2000000)])"),
    ("-R 9 --poisson", "rate = 9\narrivals = \"poisson\"", "arrivals: Poisson"),
    ("-R 9 --skip-late", "rate = 9\nskip_late = true", "latency_from: Sent"),
    ("--delay 0s", "closed = true", "model: Closed"),
    ("--delay 7ms", "delay = \"7ms\"", "Think { delay: 7ms }"),
    ("-p 7", "pipeline = 7", "pipeline: 7"),
    ("--requests-per-connection 7", "requests_per_connection = 7", "connection: Some(7)"),
    ("--retry-closed", "retry_closed = true", "on_closed: Retry"),
    ("--idle-connections 7", "idle_connections = 7", "idle_connections: 7"),
    ("--payload 7KiB", "payload = \"7KiB\"", "payload_bytes: 7168"),
    ("--rate 9 -n5", "rate = 9\nrequests = 5", "Requests(5)"),
    ("-c 7 -p 2 -d 1s", "connections = 7\npipeline = 2\nduration = \"1s\"", "pipeline: 2"),
];

/// The workload with these lines, and what `wirebench load` does by default where they say nothing.
fn workload(scenario: &str, lines: &str) -> Workload {
    let mut text = format!(
        "description = \"\"\nblocks = 1\n[[workload]]\nname = \"a\"\nscenario = \"{scenario}\"\n{lines}\n"
    );
    for usual in ["connections = 10", "threads = 2", "duration = \"10s\""] {
        let key = usual.split_once(' ').unwrap().0;
        let is_end = |line: &str| line.starts_with("requests =") || line.starts_with("count_per");
        let is_said = |line: &str| line.starts_with(key) || key == "duration" && is_end(line);
        text += &if lines.lines().any(is_said) { String::new() } else { format!("{usual}\n") };
    }
    Suite::parse("a", &text).unwrap().workloads.remove(0)
}

#[test]
fn an_option_makes_the_same_load_in_every_verb_and_as_a_key_of_a_suite() {
    for (options, lines, mark) in ROWS {
        let (scenario, url) = match options.contains("payload") {
            true => ("echo", "tcp://127.0.0.1:80"),
            false => ("hello", "http://127.0.0.1:80/"),
        };
        let of_suite = workload(scenario, lines);
        let of_load = of_suite.load_config(url.parse().unwrap(), 2, 1);
        let of_load = LoadConfig { expect_body: None, ..of_load };
        assert!(format!("{of_load:?}").contains(mark), "{options}: {of_load:?}");
        let words = format!("wirebench load {options} {url}");
        let Verb::Load(load) = Arguments::parse_from(words.split(' ')).verb else { panic!() };
        assert_eq!(load.config().unwrap(), of_load, "{options}");
        for verb in ["run", "ab --a x --b y", "tune builtin/epoll"] {
            // ApacheBench has the name of `ab` and this letter.
            let words = format!("wirebench {verb} {options}").replace("-n", "--count ");
            let matches = Arguments::command().try_get_matches_from(words.split_whitespace());
            let matches = matches.unwrap();
            let shape = ShapeArgs::from_arg_matches(matches.subcommand().unwrap().1).unwrap();
            let shape = shape.patch();
            let mut changed = Workload { phase: of_suite.phase, ..workload(scenario, "") };
            shape.apply_to_all(slice::from_mut(&mut changed)).unwrap();
            assert_eq!(changed, of_suite, "{verb} {options}");
        }
    }
}
