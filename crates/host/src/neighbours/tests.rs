//! What is said of a machine whose clocks are made up.

use super::{cpu_times::Used, *};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};
use wirebench_judge::neighbours::Arrivals;
use wirebench_schema::journal::{Reason, ReasonKind, RunSide, Weight};

const MS: u64 = 1_000_000;

/// The server's CPU 0 was used so in a window of this length, while the server's one thread ran and
/// waited so. CPU 1 is the generator's and not looked at, because its own account covers it.
fn reasons(window_ms: u64, busy_ms: u64, stolen_ms: u64, thread: (u64, u64)) -> Vec<Reason> {
    reasons_of(window_ms, busy_ms, stolen_ms, thread, Arrivals::AfterReplies)
}

/// The same of a load at a rate.
fn at_rate(busy_ms: u64, stolen_ms: u64, thread: (u64, u64)) -> Vec<Reason> {
    reasons_of(5000, busy_ms, stolen_ms, thread, Arrivals::AtMoments)
}

fn reasons_of(
    window_ms: u64,
    busy_ms: u64,
    stolen_ms: u64,
    thread: (u64, u64),
    arrivals: Arrivals,
) -> Vec<Reason> {
    let at = Instant::now();
    let (ran_ms, waited_ms) = thread;
    let machine = |at, used| Machine {
        cpus: CpuTimes::new(at, BTreeMap::from([(0, used), (1, Used::default())])),
        throttled: Throttled::default(),
        generator: Threads::new(at, &[]),
        wake_up_ns: 2_500,
    };
    let end = at + Duration::from_millis(window_ms);
    let before = machine(at, Used { busy_ns: 7, stolen_ns: 7, idle_ns: 0 });
    let used = Used { busy_ns: 7 + busy_ms * MS, stolen_ns: 7 + stolen_ms * MS, idle_ns: 0 };
    let after = machine(end, used);
    let threads =
        (Threads::new(at, &[(0, 0, 0)]), Threads::new(end, &[(ran_ms * MS, waited_ms * MS, 10)]));
    let placement = Placement {
        server_cpus: vec![0],
        generator_cpus: vec![1],
        pinned: true,
        disjoint: true,
        ..Placement::default()
    };
    let threads = (&threads.0, &threads.1);
    after.used(&before, &placement, (ran_ms * MS, 0), threads).reasons(arrivals)
}

/// The one reason, with its figure in thousandths.
fn only(reasons: &[Reason]) -> (ReasonKind, Weight, u32) {
    assert_eq!(reasons.len(), 1, "{reasons:#?}");
    (reasons[0].kind, reasons[0].weight, (reasons[0].figure.unwrap() * 1e3).round() as u32)
}

#[test]
fn only_what_others_took_of_a_sides_cpus_is_complained_of() {
    assert_eq!(reasons(1000, 990, 0, (980, 5)), []);
    assert_eq!(reasons(1000, 990, 0, (900, 5)), []);
    let others = reasons(1000, 990, 0, (500, 0));
    let (kind, weight, figure) = only(&others);
    assert_eq!((kind, weight), (ReasonKind::Neighbour, Weight::Invalid));
    assert_eq!(figure, 490);
    let both = reasons(1000, 990, 0, (500, 400));
    let detail = both[0].detail.as_deref();
    assert_eq!((only(&both).2, detail), (490, Some("which waited 40.0 % of the window for it")));
}

#[test]
fn in_a_short_window_only_waiting_is_a_reason_and_ticks_are_not() {
    assert_eq!(reasons(400, 400, 0, (100, 5)), []);
    let waited = reasons(400, 400, 0, (200, 180));
    let (kind, weight, figure) = only(&waited);
    assert_eq!((kind, weight), (ReasonKind::Neighbour, Weight::Invalid));
    assert_eq!((figure, waited[0].side), (450, Some(RunSide::Server)));
}

#[test]
fn a_wait_that_began_before_the_window_is_at_most_all_of_it() {
    let waited = reasons(200, 200, 0, (20, 790));
    assert_eq!(only(&waited).2, 1000);
}

#[test]
fn a_little_waiting_is_a_note() {
    assert_eq!(reasons(1000, 950, 0, (900, 29)), []);
    assert_eq!(only(&reasons(1000, 950, 0, (900, 50))).1, Weight::Note);
}

#[test]
fn at_a_rate_half_a_hundredth_of_the_window_is_the_99th_percentile() {
    assert_eq!(at_rate(4950, 0, (4900, 24)), []);
    let waited = at_rate(4950, 0, (4900, 62));
    let (kind, weight, figure) = only(&waited);
    assert_eq!((kind, weight), (ReasonKind::Neighbour, Weight::Tail));
    assert_eq!(figure, 12);
    assert_eq!(only(&at_rate(4950, 60, (4900, 0))).1, Weight::Tail);
    assert_eq!(only(&at_rate(4950, 0, (4000, 800))).1, Weight::Invalid);
}

#[test]
fn ticks_of_few_looks_must_show_more() {
    // 13 % of 600 ms are eight ticks, which may be chance; of five seconds they are not.
    assert_eq!(reasons(600, 580, 0, (500, 0)), []);
    assert_eq!(only(&reasons(5000, 4500, 0, (3850, 0))).0, ReasonKind::Neighbour);
}

#[test]
fn stolen_time_weighs_by_its_share() {
    assert_eq!(reasons(1000, 500, 20, (500, 0)), []);
    assert_eq!(reasons(5000, 500, 40, (500, 0)), []);
    let noted = reasons(1000, 500, 30, (500, 0));
    assert_eq!((only(&noted).0, only(&noted).1), (ReasonKind::Stolen, Weight::Note));
    let spoilt = reasons(1000, 500, 300, (500, 0));
    assert_eq!(only(&spoilt).1, Weight::Invalid);
    assert_eq!(only(&spoilt).2, 300);
}
