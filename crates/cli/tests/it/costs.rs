//! What servers with a process for each connection cost, with the real generator. Each request takes
//! 2 ms of CPU time or more, however long that takes on this machine.

use crate::phases::{find, measured, run, server, workload};
use wirebench_schema::journal::{Measurement, ReasonKind, Weight};

/// The CPU time that each request takes at least. Requests in flight at the edges are a part of it.
const LEAST_NS: f64 = 2e6 * 0.95;

fn cost_of(mode: &str, keys: &str) -> Measurement {
    let run = run(&server(mode), &workload(keys));
    measured(&run).clone()
}

#[test]
fn a_request_costs_what_it_takes_in_a_closed_loop_and_at_a_rate() {
    for keys in ["", "rate = 100", "warmup = \"200ms\""] {
        let cost = cost_of("slow", keys).cost;
        assert!(cost.cpu_ns_per_request.unwrap() >= LEAST_NS, "{keys}: {cost:?}");
    }
}

/// They live until the generator closes its connections, after the window.
#[test]
fn processes_of_connections_that_stay_are_counted_whether_they_are_waited_for_or_not() {
    for mode in ["forks", "forks-and-forgets"] {
        let measured = cost_of(mode, "warmup = \"200ms\"");
        let cost = &measured.cost;
        let ns = cost.cpu_ns_per_request.unwrap_or_else(|| panic!("{mode}: {measured:#?}"));
        assert!(ns >= LEAST_NS, "{mode}: {cost:?}");
        // Twice what a child had used is not what the window had of CPU time.
        let possible_ns =
            cost.sampled_ns * std::thread::available_parallelism().unwrap().get() as u64;
        assert!(cost.cpu_ns <= possible_ns, "{mode}: {cost:?}");
    }
}

#[test]
fn processes_that_end_in_the_window_are_counted_where_they_are_waited_for() {
    let measured = cost_of("forks", "requests_per_connection = 1");
    assert!(measured.cost.cpu_ns_per_request.unwrap() >= LEAST_NS, "{measured:#?}");
    assert_eq!(find(&measured.reasons, ReasonKind::NoCost), None);
}

#[test]
fn processes_that_end_in_the_window_and_are_never_waited_for_leave_no_cost() {
    let measured = cost_of("forks-and-forgets", "requests_per_connection = 1");
    assert_eq!(measured.cost.cpu_ns_per_request, None);
    let reason = find(&measured.reasons, ReasonKind::NoCost).unwrap();
    eprintln!("{reason}");
    assert_eq!(reason.weight, Weight::Note);
    assert!(reason.text().contains("SIGCHLD ignored"), "{reason}");
}
