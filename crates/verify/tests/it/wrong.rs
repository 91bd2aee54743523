//! Each wrong server is found out by the check that is meant for its fault, and the finding says
//! what is wrong.

use crate::bench::{Setup, failures, for_each};
use std::time::Duration;
use wirebench_schema::{
    entry::{Deviation, Mechanism, Ready, Sharing},
    scenario::Scenario::{
        self, Channel, Echo, Handoff, Hello, HelloTimeout, Mutex, Requests, Skewed,
    },
};
use wirebench_verify::Verdict;

/// A wrong server, the first check that must fail, and words of its finding.
struct Case {
    setup: Setup,
    check: &'static str,
    words: &'static [&'static str],
}

fn case(
    mode: &'static str,
    scenario: Scenario,
    check: &'static str,
    words: &'static [&'static str],
) -> Case {
    of(Setup::new(mode, scenario), check, words)
}

const fn of(setup: Setup, check: &'static str, words: &'static [&'static str]) -> Case {
    Case { setup, check, words }
}

/// On a busy machine a wrong server may be as slow as a correct one, so a fault may be found later.
fn expect(case: &Case) -> Result<(), String> {
    expect_once(case).or_else(|_| expect_once(case)).or_else(|_| expect_once(case))
}

fn expect_once(case: &Case) -> Result<(), String> {
    let Some((check, finding)) = case.setup.first_failure() else {
        return Err(format!("{} was not found out", case.setup.mode));
    };
    eprintln!("{}: {check}: {finding}", case.setup.mode);
    let named = case.words.iter().all(|words| finding.contains(words));
    if check == case.check && named {
        return Ok(());
    }
    Err(format!(
        "{}: `{}` should have failed with {:?}, but `{check}` failed first: {finding}",
        case.setup.mode, case.check, case.words
    ))
}

#[test]
fn wrong_replies_are_found_out() {
    let cases = [
        case("half-reply", Hello, "reply-exact", &["nothing came", "HTTP/1.1 200 OK"]),
        case("wrong-length", Hello, "reply-exact", &["Content-Length must be 12, it is 13"]),
        case("bare-lf", Hello, "reply-exact", &["bare LF", r#""HTTP/1.1 200 OK\n" (16 bytes)"#]),
        case("wrong-body", Hello, "reply-exact", &[r#"it is "Hello World!" (12 bytes)"#]),
        case("replies-twice", Hello, "reply-once", &["behind its reply came \"HTTP/1.1 200"]),
        case("drops-connection", Hello, "keep-alive", &["connection after 0 of 1 expected reply"]),
        case("late-reply", Hello, "reply-in-time", &["request 10 was answered after 1", " ms"]),
        case("answers-early", Hello, "split-head", &["bytes of a head", "this came: \"HTTP"]),
        case(
            "merges-pipelined",
            Hello,
            "pipelined",
            &["16 requests in one write: nothing came for 3 s after 1 of 16 expected replies"],
        ),
        case("short-heads", Hello, "long-head", &["a head of 4096 bytes: the server"]),
        case("forgets-at-half-close", Hello, "half-close", &["0 of 1 expected reply"]),
    ];
    for_each(&cases, expect);
}

#[test]
fn servers_that_cannot_cope_with_load_are_found_out() {
    let lossy = Setup::epoll("loses-partial-writes", Hello);
    let cases = [
        of(lossy, "slow-reader", &[" pipelined requests, replies read late: "]),
        case(
            "few-connections",
            Hello,
            "many-connections",
            &["connection 5", "of 200, request 1: the server"],
        ),
        case("crashes", Hello, "keep-alive", &["the server ended with signal 6"]),
        case("dies-on-reset", Hello, "survives", &["exit code 3 when clients reset"]),
        case("dies-on-reset", Echo, "survives", &["exit code 3 when clients reset"]),
    ];
    for_each(&cases, expect);
}

#[test]
fn wrong_replies_to_requests_of_a_user_are_found_out() {
    let cases = [
        case("wrong-body", Requests, "fresh-connections", &["differs"]),
        case("crashes", Requests, "many-connections", &["the server ended with signal 6"]),
        case("few-connections", Requests, "many-connections", &["requests failed"]),
        case("merges-pipelined", Requests, "pipelined-requests", &["requests failed"]),
        case("answers-early", Requests, "split-requests", &["before the request was complete"]),
        case("forgets-at-half-close", Requests, "half-close", &["without a reply"]),
        case("logs-requests", Requests, "quiet", &["switch its access log off"]),
    ];
    for_each(&cases, expect);
}

#[test]
fn wrong_timeouts_are_found_out() {
    let cases = [
        case("never-times-out", HelloTimeout, "timeout-idle", &["still open after 2000 ms"]),
        case("times-out-early", HelloTimeout, "timeout-idle", &["was closed after", "already"]),
        case("times-out-idle-only", HelloTimeout, "timeout-idle", &["that had had a request was"]),
        case(
            "times-out-keep-alive-early",
            HelloTimeout,
            "timeout-idle",
            &["a connection that had had a request was closed after", "already"],
        ),
        case(
            "never-times-out-in-head",
            HelloTimeout,
            "timeout-partial",
            &["a connection with half a request head was still open after 2000 ms"],
        ),
        case("never-times-out-writes", HelloTimeout, "timeout-write", &["read no reply"]),
        case("times-out-active", HelloTimeout, "timeout-active", &["lived only"]),
    ];
    for_each(&cases, expect);
}

#[test]
fn wrong_echoes_are_found_out() {
    let hoarder = Setup::epoll("echo-hoards", Echo);
    let cases = [
        case("echo-flips-a-bit", Echo, "echo-sizes", &["byte 700 came back", "one bit differs"]),
        case("echo-ends-early", Echo, "echo-large", &["16 MiB: the server", "16777216 bytes"]),
        case("echo-garbles-fourth-piece", Echo, "echo-split", &["came back as", "one bit differs"]),
        case("echo-reorders", Echo, "echo-sizes", &["the order is wrong"]),
        case(
            "echo-drops-tail",
            Echo,
            "echo-half-close",
            &["closed the connection after 0 of 1 byte had"],
        ),
        case("echo-fixed-buffer", Echo, "echo-exact", &["and then more came", r"\x00"]),
        of(hoarder, "echo-slow-reader", &["memory is not bounded"]),
    ];
    for_each(&cases, expect);
}

#[test]
fn wrong_work_is_found_out() {
    const SKIPPED: &[&str] = &["was for 100 ms of work, but it was answered after "];
    const ASLEEP: &[&str] =
        &["used or waited for ", " ms of CPU time: work must keep the CPU busy"];
    const AT_ONCE: &[&str] = &["8 requests for 50 ms of work each were answered within "];
    let behind = &["100 ms of work, but the request behind it was answered after "];
    let cases = [
        case("skips-work", Mutex, "work", SKIPPED),
        case("skips-work", Channel, "work", SKIPPED),
        case("skips-work", Skewed, "work", SKIPPED),
        case("skips-work", Handoff, "work", behind),
        case("sleeps-for-work", Skewed, "work", ASLEEP),
        case("sleeps-for-work", Handoff, "work", ASLEEP),
        case("works-at-once", Mutex, "one-at-a-time", AT_ONCE),
        case("works-at-once", Channel, "one-at-a-time", AT_ONCE),
    ];
    for_each(&cases, expect);
}

#[test]
fn wrong_starts_are_found_out() {
    let slow = Setup { ready_timeout: Duration::from_secs(2), ..Setup::new("never-ready", Hello) };
    let missing = Setup { arguments: &["hello", "{host}"], ..Setup::new("correct", Hello) };
    let cases = [
        of(slow, "ready", &["not ready within 2 s", "listening HOST"]),
        of(missing, "ready", &["exit code 2", "usage:"]),
        case("wrong-ready-line", Hello, "ready", &["it was `Server started on port"]),
        case("exits-at-start", Hello, "ready", &["exit code 7", "the configuration is missing"]),
    ];
    for_each(&cases, expect);
}

#[test]
fn wrong_processes_are_found_out() {
    let one = Setup::epoll("one-worker", Hello);
    let greedy = Setup::epoll("too-many-workers", Hello);
    let greedy_echo = Setup { sharing: Sharing::Shared, ..Setup::epoll("too-many-workers", Echo) };
    let greedy_single = Setup {
        sharing: Sharing::Single,
        arguments: &["{scenario}", "{host}", "{port}", "1"],
        ..Setup::epoll("too-many-workers", Hello)
    };
    let refusing = Setup { sharing: Sharing::Shared, ..Setup::epoll("refuses-two-workers", Echo) };
    let ring =
        Setup { declared: Some(Mechanism::IoUring), ..Setup::epoll("epoll-for-io-uring", Hello) };
    let unready = Setup { ready: Ready::Connect, ..Setup::new("logs-requests", Hello) };
    let cases = [
        of(one, "workers", &["2 workers", "only 1 of its 2 threads"]),
        of(greedy, "worker-limit", &["one worker", "64 busy"]),
        of(greedy_echo, "worker-limit", &["wanted to run"]),
        of(greedy_single, "worker-limit", &["wanted to run"]),
        of(refusing, "workers", &["does not start", "exit code 2", "only one worker is possible"]),
        of(ring, "mechanism", &["declares io_uring, but no process of it has a ring open; it has"]),
        case("ignores-sigterm", Hello, "stops-on-sigterm", &["ignored SIGTERM", "be killed"]),
        case(
            "crashes-on-sigterm",
            Hello,
            "stops-on-sigterm",
            &["on SIGTERM the server crashed with signal 11"],
        ),
        case("leaves-child", Echo, "leaves-nothing-behind", &["1 process", "(wrong-server)"]),
        case("floods-stderr", Echo, "quiet", &["bytes to standard error"]),
        case("prints-on-stdout", Hello, "quiet", &["\"a connection has come\""]),
        case("logs-requests", Hello, "quiet", &["replies: switch its access log off"]),
        of(unready, "quiet", &["replies: switch its access log off"]),
    ];
    for_each(&cases, expect);
}

#[test]
#[ignore = "needs two CPUs"]
fn a_server_that_leaves_its_cpus_is_found_out_with_two_cpus() {
    let all = wirebench_sys::affinity::current().unwrap();
    assert!(all.len() >= 2, "{all:?}");
    let setup = Setup { cpus: Some(vec![all[0]]), ..Setup::new("escapes-affinity", Hello) };
    let words = &["may run on the CPUs", "the server was given"];
    expect(&of(setup, "affinity", words)).unwrap();
}

#[test]
fn the_opposite_declarations_are_found_out() {
    let epoll = Setup { declared: Some(Mechanism::Epoll), ..Setup::new("correct", Echo) };
    let blocking =
        Setup { declared: Some(Mechanism::Blocking), ..Setup::epoll("correct-epoll", Echo) };
    let cases = [
        of(epoll, "mechanism", &["neither an epoll instance nor a ring"]),
        of(blocking, "mechanism", &["declares blocking", "epoll instance"]),
    ];
    for_each(&cases, expect);
}

#[test]
#[ignore = "needs root"]
fn a_server_that_delays_small_writes_is_found_out_as_root() {
    let words = &["TCP_NODELAY is off on an accepted connection"];
    let cases =
        Scenario::ALL.map(|scenario| case("delays-small-writes", scenario, "no-delay", words));
    // What a user's own server does about it is the user's choice.
    let with_contract = cases.into_iter().filter(|it| it.setup.scenario != Requests);
    for_each(&with_contract.collect::<Vec<_>>(), expect);
}

/// A server with this fault, which its entry declares.
fn declared(fault: &'static str, check: &str) -> Setup {
    let deviation = Deviation { check: check.into(), reason: "by design".into() };
    Setup { deviations: vec![deviation], ..Setup::new(fault, Hello) }
}

#[test]
fn a_fault_that_is_declared_is_reported_and_hides_no_other() {
    let undeclared = failures(&Setup::new("merges-pipelined", Hello).verify());
    assert!(undeclared.iter().any(|(name, _)| *name == "pipelined"), "{undeclared:?}");
    let checked = declared("merges-pipelined", "pipelined").verify();
    let told = checked.iter().find(|it| it.name == "pipelined").unwrap();
    let Verdict::Deviates { reason, finding } = &told.verdict else { panic!("{told:?}") };
    assert_eq!(reason, "by design");
    assert_eq!(
        finding,
        "16 requests in one write: nothing came for 3 s after 1 of 16 expected replies"
    );
    let others = undeclared.iter().filter(|(name, _)| *name != "pipelined").map(|(name, _)| *name);
    let left: Vec<_> = failures(&checked).into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, others.collect::<Vec<_>>());
}

#[test]
fn a_crash_is_never_as_declared_but_an_end_that_a_check_looks_for_may_be() {
    let crashed = declared("crashes", "keep-alive").first_failure();
    assert!(crashed.as_ref().is_some_and(|(name, _)| *name == "keep-alive"), "{crashed:?}");
    let ended = failures(&declared("dies-on-reset", "survives").verify());
    assert!(ended.iter().all(|(name, _)| *name != "survives"), "{ended:?}");
}
