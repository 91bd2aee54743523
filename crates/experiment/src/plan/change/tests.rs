//! What each change of a suite leaves to measure, and which changes are refused.

use super::*;
use expect_test::expect_file;
use std::time::Duration;
use wirebench_schema::load::{RequestFile, RequestOrder};

const SUITE: &str = r#"
description = "An example."
blocks = 3
[[workload]]
name = "hello"
scenario = "hello"
connections = 64
duration = "1s"
steady_within = "2s"
[[workload]]
name = "timeout"
scenario = "hello-timeout"
connections = 64
requests = 1000
"#;

fn suite() -> Suite {
    Suite::parse("example", SUITE).unwrap()
}

fn changed(changes: &Changes) -> Suite {
    let mut suite = suite();
    change(&mut suite, changes).unwrap();
    suite
}

/// Changes of the shape alone.
fn shaped(change: impl FnOnce(&mut ShapePatch)) -> Changes {
    let mut changes = Changes::default();
    change(&mut changes.shape);
    changes
}

fn at(rate: u64) -> Changes {
    shaped(|it| it.rate = Some(rate.into()))
}

fn names(suite: &Suite) -> Vec<&str> {
    suite.workloads.iter().map(|workload| workload.name.as_str()).collect()
}

#[test]
fn requests_of_a_user_take_the_place_of_scenarios_and_a_pilot_finds_their_rate() {
    let set = RequestFile::parse("/users", RequestOrder::InTurn).unwrap().set;
    let headers = vec![("A".to_owned(), "b".to_owned())];
    let asked = Some(Asked { requests: set.clone(), headers, trust: Trust::Anybody });
    let text =
        SUITE.replace("connections = 64\nrequests", "rate = 1000\nconnections = 64\nrequests");
    let of = |changes| {
        let mut suite = Suite::parse("example", &text).unwrap();
        change(&mut suite, &Changes { asked: asked.clone(), ..changes }).unwrap();
        suite
    };
    let suite = of(Changes::default());
    assert_eq!(names(&suite), ["requests", "requests-cost"]);
    for workload in &suite.workloads {
        assert_eq!(workload.scenario, Scenario::Requests);
        assert_eq!((workload.requests.as_ref(), workload.headers.len()), (Some(&set), 1));
    }
    assert!(suite.workloads[1].needs_rate());
    assert!(!of(at(50)).workloads[1].needs_rate());
}

#[test]
fn workloads_that_one_rate_makes_equal_are_measured_once() {
    let timeout = SUITE.find("[[workload]]\nname = \"timeout").unwrap();
    let cost = |rate| {
        let workload = SUITE[timeout..].replace("timeout\"\nsc", &format!("at-{rate}\"\nsc"));
        format!("{workload}phases = [\"cost\"]\nrate = {rate}\n")
    };
    let text = SUITE[..timeout].to_owned() + &cost(1000) + &cost(2000);
    let mut suite = Suite::parse("example", &text).unwrap();
    assert_eq!(suite.workloads.len(), 3);
    change(&mut suite, &at(50)).unwrap();
    assert_eq!(names(&suite), ["hello", "at-1000"]);
}

#[test]
fn messages_of_one_length_are_measured_once() {
    let echo = r#"
description = "An example."
blocks = 3
[[workload]]
name = "b{payload}"
scenario = "echo"
connections = 4
payload = ["128", "1KiB"]
duration = "1s"
"#;
    let mut suite = Suite::parse("example", echo).unwrap();
    assert_eq!(names(&suite), ["b128", "b1KiB"]);
    change(&mut suite, &shaped(|it| it.payload = Some(2048))).unwrap();
    assert_eq!(suite.workloads.iter().map(|it| it.payload_bytes).collect::<Vec<_>>(), [2048]);
}

#[test]
fn changes_that_leave_nothing_or_change_nothing_are_refused() {
    let usual = Changes::default;
    let rows = [
        Changes { blocks: Some(0), ..usual() },
        Changes { blocks: Some(1 << 30), ..usual() },
        Changes { copies: Some(0), ..usual() },
        Changes { copies: Some(1000), ..usual() },
        Changes { workers: Some(0), ..usual() },
        shaped(|it| it.connections = Some(0)),
        at(5),
        Changes { phases: vec![Phase::Cost], ..at(0) },
        Changes { phases: vec![Phase::Idle], ..shaped(|it| it.idle_connections = Some(0)) },
        shaped(|it| it.payload = Some(5)),
    ];
    let messages = rows.map(|changes| change(&mut suite(), &changes).unwrap_err() + "\n");
    expect_file!["../golden/change.txt"].assert_eq(&messages.concat());
}

#[test]
fn a_phase_that_the_suite_lacks_is_modelled_on_the_workloads_that_saturate() {
    let phases = vec![Phase::Idle, Phase::Saturate, Phase::Cost];
    let suite = changed(&Changes { phases, ..Changes::default() });
    let all = ["hello", "timeout", "hello-cost", "timeout-cost", "hello-idle", "timeout-idle"];
    assert_eq!(names(&suite), all);
    let phases: Vec<Phase> = suite.workloads.iter().map(|workload| workload.phase).collect();
    assert_eq!(phases[1..5], [Phase::Saturate, Phase::Cost, Phase::Cost, Phase::Idle]);
    assert!(suite.workloads[2].needs_rate() && suite.workloads[4].connections == 1000);
}

#[test]
fn a_phase_that_the_suite_has_is_taken_as_it_is_and_a_scenario_is_modelled_on_its_first_load() {
    let text = SUITE.replace("duration", "phases = [\"cost\", \"idle\"]\nduration");
    let mut suite = Suite::parse("example", &text).unwrap();
    let phases = vec![Phase::Idle];
    change(&mut suite, &Changes { phases, ..Changes::default() }).unwrap();
    assert_eq!(names(&suite), ["hello-idle"]);
    let mut suite = Suite::parse("example", &text).unwrap();
    let scenarios = vec![Scenario::Echo];
    change(&mut suite, &Changes { scenarios, ..Changes::default() }).unwrap();
    assert_eq!(names(&suite), ["echo", "echo-idle", "echo-saturate"]);
    assert_eq!(suite.workloads[0].connections, 64);
}

#[test]
fn loads_and_silent_connections_are_changed_apart() {
    let suite = changed(&Changes {
        phases: Phase::ALL.to_vec(),
        ..shaped(|it| {
            (it.connections, it.idle_connections) = (Some(8), Some(5000));
            (it.steady_within, it.rate) = (Some(Duration::ZERO), Some(700.into()));
        })
    });
    let connections: Vec<usize> = suite.workloads.iter().map(|it| it.connections).collect();
    assert_eq!(connections, [8, 8, 8, 8, 5000, 5000]);
    assert!(suite.workloads[..4].iter().all(|it| it.steady_within.is_zero()));
    let cost = &suite.workloads[2];
    assert!(!cost.needs_rate());
    assert_eq!(cost.model, cost.at_rate(700_u64).model);
}

#[test]
fn a_rate_of_the_users_keeps_how_requests_follow_each_other() {
    let text = SUITE.replace("duration", "rate = 5\narrivals = \"poisson\"\nduration");
    let mut suite = Suite::parse("example", &text).unwrap();
    change(&mut suite, &at(9)).unwrap();
    let LoadModel::Rate { curve, arrivals, .. } = &suite.workloads[0].model else { panic!() };
    assert_eq!((curve.rates(), *arrivals), (vec![9.0], wirebench_schema::load::Arrivals::Poisson));
}
