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

/// What a server with a thread per connection has no workers for.
const NO_WORKERS: &[&str] = &["worker-limit", "workers"];

#[test]
fn correct_servers_pass() {
    let cpu = wirebench_sys::affinity::current().unwrap()[0];
    let threads = |mode, scenario| (Setup::new(mode, scenario), NO_WORKERS);
    let epoll = |mode, scenario| (Setup::epoll(mode, scenario), &[][..]);
    let mut cases = Scenario::ALL.map(|scenario| threads("correct", scenario)).to_vec();
    cases.extend([Scenario::Hello, Scenario::Echo].map(|it| epoll("correct-epoll", it)));
    for mode in ["correct-slow", "correct-counting"] {
        cases.extend([Scenario::Hello, Scenario::HelloTimeout].map(|it| threads(mode, it)));
    }
    let (on_one_cpu, skipped) = epoll("correct-epoll", Scenario::Hello);
    // Without a ready line it may print what it likes.
    let (prints, of_threads) = threads("prints-on-stdout", Scenario::Hello);
    cases.extend([
        // Its runtime works under many requests.
        epoll("correct-collecting", Scenario::Hello),
        // Its child is still at work when it has ended.
        threads("correct-ending-late", Scenario::Hello),
        (Setup { ready: Ready::Connect, ..prints }, of_threads),
        (Setup { cpus: Some(vec![cpu]), ..on_one_cpu }, skipped),
    ]);
    for_each(&cases, |(setup, skipped)| expect_all_but(setup, skipped));
}

#[test]
#[ignore = "needs IPv6"]
fn a_server_on_its_address_passes_with_ipv6() {
    let host = IpAddr::V6(Ipv6Addr::LOCALHOST);
    for_each(&[Scenario::HelloTimeout, Scenario::Echo], |&scenario| {
        expect_all_but(&Setup { host, ..Setup::new("correct", scenario) }, NO_WORKERS)
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
