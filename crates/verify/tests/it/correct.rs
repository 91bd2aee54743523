//! Servers that do as they should pass every check that says anything about them.

use crate::bench::{Setup, for_each, is_hidden};
use std::net::{IpAddr, Ipv6Addr};
use wirebench_schema::{
    entry::{Ready, Sharing},
    scenario::Scenario,
};
use wirebench_verify::{Checked, Verdict};

/// Every check but `skipped` must pass, at the latest the second time: on a busy machine a correct server may be late,
/// and `wirebench verify` repeats a failed check too.
fn expect_all_but(setup: &Setup, skipped: &[&str]) -> Result<(), String> {
    expect_once(setup, skipped).or_else(|_| expect_once(setup, skipped))
}

fn expect_once(setup: &Setup, skipped: &[&str]) -> Result<(), String> {
    let as_expected = |checked: &Checked| match &checked.verdict {
        Verdict::Pass => !skipped.contains(&checked.name),
        Verdict::Skip { .. } => skipped.contains(&checked.name) || is_hidden(checked),
        Verdict::Fail { .. } | Verdict::Deviates { .. } => false,
    };
    match setup.verify().iter().find(|checked| !as_expected(checked)) {
        None => Ok(()),
        Some(checked) => Err(format!("{} {}: {checked:?}", setup.mode, setup.scenario)),
    }
}

#[test]
fn a_correct_server_with_a_thread_per_connection_passes() {
    for_each(&Scenario::ALL, |&scenario| {
        expect_all_but(&Setup::new("correct", scenario), &["worker-limit", "workers"])
    });
}

#[test]
fn a_correct_server_with_two_epoll_loops_passes() {
    let scenarios = [Scenario::Hello, Scenario::Echo];
    for_each(&scenarios, |&scenario| expect_all_but(&Setup::epoll("correct-epoll", scenario), &[]));
}

#[test]
fn a_correct_server_whose_runtime_works_under_many_requests_passes() {
    expect_all_but(&Setup::epoll("correct-collecting", Scenario::Hello), &[]).unwrap();
}

#[test]
fn a_correct_server_whose_child_is_still_at_work_when_it_has_ended_passes() {
    let setup = Setup::new("correct-ending-late", Scenario::Hello);
    expect_all_but(&setup, &["worker-limit", "workers"]).unwrap();
}

#[test]
fn a_correct_server_that_is_slow_passes() {
    for_each(&[Scenario::Hello, Scenario::HelloTimeout], |&scenario| {
        expect_all_but(&Setup::new("correct-slow", scenario), &["worker-limit", "workers"])
    });
}

#[test]
fn a_correct_server_whose_replies_vary_in_length_passes() {
    for_each(&[Scenario::Hello, Scenario::HelloTimeout], |&scenario| {
        expect_all_but(&Setup::new("correct-counting", scenario), &["worker-limit", "workers"])
    });
}

#[test]
fn a_server_without_a_ready_line_may_print_what_it_likes() {
    let setup = Setup { ready: Ready::Connect, ..Setup::new("prints-on-stdout", Scenario::Hello) };
    expect_all_but(&setup, &["worker-limit", "workers"]).unwrap();
}

#[test]
fn a_server_that_is_bound_to_one_cpu_passes() {
    let cpu = wirebench_sys::affinity::current().unwrap()[0];
    let setup = Setup { cpus: Some(vec![cpu]), ..Setup::epoll("correct-epoll", Scenario::Hello) };
    expect_all_but(&setup, &[]).unwrap();
}

#[test]
#[ignore = "needs IPv6"]
fn a_server_on_its_address_passes_with_ipv6() {
    let host = IpAddr::V6(Ipv6Addr::LOCALHOST);
    for_each(&[Scenario::HelloTimeout, Scenario::Echo], |&scenario| {
        expect_all_but(
            &Setup { host, ..Setup::new("correct", scenario) },
            &["worker-limit", "workers"],
        )
    });
}

#[test]
fn what_a_plain_command_does_not_declare_or_take_is_skipped() {
    let setup = Setup {
        declared: None,
        sharing: Sharing::Shared,
        arguments: &["hello-timeout", "{host}", "{port}", "1"],
        ..Setup::new("correct", Scenario::HelloTimeout)
    };
    let skipped = [
        "timeout-idle",
        "timeout-partial",
        "timeout-write",
        "timeout-active",
        "worker-limit",
        "workers",
        "mechanism",
    ];
    expect_all_but(&setup, &skipped).unwrap();
}
