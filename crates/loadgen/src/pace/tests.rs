//! Tests of the pacer with virtual time.

use super::*;
use proptest::prelude::*;
use wirebench_schema::load::{Arrivals, LatencyOrigin};

const SECOND_NS: u64 = 1_000_000_000;

fn constant(rate: f64) -> Vec<Part> {
    vec![Part { seconds: 1.0, from: rate, to: rate }]
}

fn schedule(parts: Vec<Part>, arrivals: Arrivals, threads: (usize, usize)) -> Schedule {
    Schedule::new(parts, arrivals, LatencyOrigin::Due, threads, 1)
}

/// The moments of all requests in this time, counted from the start.
fn moments(mut schedule: Schedule, until_ns: u64) -> Vec<u64> {
    schedule.start(0);
    std::iter::from_fn(|| schedule.take_before(until_ns)).collect()
}

fn pacer(rule: Rule, quota: Option<u64>, connections: u32) -> Pacer {
    let mut pacer = Pacer::new(rule, Supply::new(quota));
    assert_eq!(pacer.next(5), Pace::Wait);
    pacer.start(10, 0..connections);
    pacer
}

/// Requests of one thread that are due every 10 ns.
fn scheduled(latency_from: LatencyOrigin, connections: u32) -> Pacer {
    let schedule = Schedule::new(constant(1e8), Arrivals::Even, latency_from, (0, 1), 1);
    pacer(Rule::Schedule(schedule), None, connections)
}

#[test]
fn nothing_is_sent_before_the_start() {
    let mut pacer = pacer(Rule::Closed, None, 2);
    assert_eq!((pacer.pop(9), pacer.wakes_at()), (None, 10));
    assert_eq!(pacer.pop(10), Some((0, 10)));
    assert_eq!(pacer.pop(11), Some((1, 11)));
    assert_eq!((pacer.pop(12), pacer.wakes_at()), (None, u64::MAX));
    assert_eq!(pacer.next(12), Pace::Send { due_ns: 12 });
}

#[test]
fn a_quota_is_given_out_once_and_includes_requests_left_in_flight_by_the_warm_up() {
    let mut pacer = pacer(Rule::Closed, Some(5), 0);
    for _ in 0..100 {
        assert_eq!(pacer.next(11), Pace::Send { due_ns: 11 });
    }
    pacer.enter_window(12, 2);
    assert_eq!([pacer.next(12), pacer.next(12)], [Pace::Send { due_ns: 12 }; 2]);
    assert!(pacer.left() > 0);
    assert!(pacer.cancel_one());
    assert_eq!(pacer.left(), 0);
    assert_eq!(pacer.next(12), Pace::Wait);
    assert!(!pacer.cancel_one());
}

#[test]
fn without_a_quota_a_closed_loop_never_ends_by_itself() {
    let mut pacer = pacer(Rule::Closed, None, 0);
    pacer.enter_window(12, 3);
    assert!(pacer.cancel_one());
    assert_eq!(pacer.next(u64::MAX - 1), Pace::Send { due_ns: u64::MAX - 1 });
    assert!(pacer.left() > 0);
}

#[test]
fn with_think_time_first_requests_are_spread_and_later_ones_follow_their_replies() {
    let mut pacer = pacer(Rule::Think { delay_ns: 100 }, None, 4);
    let first: Vec<_> = std::iter::from_fn(|| pacer.pop(1000)).collect();
    assert_eq!(first, [(0, 10), (1, 35), (2, 60), (3, 85)]);
    assert_eq!(pacer.next(1000), Pace::Wait);
    pacer.park(2, 1000);
    assert_eq!((pacer.pop(1099), pacer.wakes_at()), (None, 1100));
    assert_eq!(pacer.pop(1150), Some((2, 1100)));
}

#[test]
fn a_schedule_waits_for_no_reply_and_owes_unsent_requests() {
    let mut pacer = scheduled(LatencyOrigin::Due, 1);
    assert_eq!(pacer.pop(10), Some((0, 10)));
    assert_eq!((pacer.pop(50), pacer.wakes_at()), (None, u64::MAX));
    assert_eq!(pacer.next(55), Pace::Send { due_ns: 20 });
    assert_eq!(pacer.next(60), Pace::Send { due_ns: 30 });
    pacer.enter_window(60, 0);
    assert_eq!(pacer.next(61), Pace::Send { due_ns: 40 });
    assert_eq!(pacer.next(62), Pace::Send { due_ns: 50 });
    assert_eq!(pacer.next(63), Pace::Send { due_ns: 60 });
    pacer.park(0, 63);
    assert_eq!(pacer.wakes_at(), 70);
    let mut unsent = Vec::new();
    assert_eq!(pacer.settle(100, |due_ns, count| unsent.push((due_ns, count))), Some(1));
    assert_eq!(unsent, [(70, 1), (80, 1), (90, 1)]);
}

#[test]
fn a_free_connection_that_waits_longer_is_first() {
    let mut pacer = scheduled(LatencyOrigin::Due, 2);
    assert_eq!(pacer.next(10), Pace::Wait);
    pacer.park(7, 10);
    let order: Vec<_> = std::iter::from_fn(|| pacer.pop(100)).map(|(slot, _)| slot).collect();
    assert_eq!(order, [0, 1, 7]);
}

#[test]
fn a_request_that_is_given_back_is_the_next_one() {
    let mut pacer = scheduled(LatencyOrigin::Due, 2);
    let (_, due_ns) = pacer.pop(10).unwrap();
    pacer.put_back(due_ns);
    assert_eq!(pacer.pop(10), Some((1, due_ns)));
}

#[test]
fn skipped_requests_are_never_sent() {
    let mut pacer = scheduled(LatencyOrigin::Sent, 1);
    assert_eq!(pacer.pop(10), Some((0, 10)));
    assert_eq!(pacer.next(55), Pace::Wait);
    pacer.park(0, 55);
    assert_eq!((pacer.pop(59), pacer.wakes_at()), (None, 60));
    assert_eq!(pacer.pop(60), Some((0, 60)));
}

/// The debt of a schedule that sends nothing at the end of a window of two seconds: moments,
/// requests.
fn given_up(parts: Vec<Part>, arrivals: Arrivals) -> (Vec<u64>, u64) {
    let mut schedule = schedule(parts, arrivals, (1, 2));
    schedule.start(0);
    schedule.enter_window(SECOND_NS);
    let (mut moments, mut all) = (Vec::new(), 0);
    schedule.give_up(3 * SECOND_NS, u64::MAX, |due_ns, count| {
        moments.push(due_ns);
        all += count;
    });
    (moments, all)
}

#[test]
fn requests_that_are_too_many_to_list_are_all_counted() {
    for (rate, requests) in [(1e9, 1_000_000_000), (4e6, 4_000_000), (1000.0, 1000)] {
        let parts = vec![Part { seconds: 1.0, from: 1.0, to: 1.0 }, constant(rate)[0]];
        for arrivals in [Arrivals::Even, Arrivals::Poisson] {
            let (moments, all) = given_up(parts.clone(), arrivals);
            let tolerance = if arrivals == Arrivals::Even { 1 } else { requests / 5 };
            assert!(all.abs_diff(requests) <= tolerance, "{rate} {arrivals:?}: {all}");
            assert!(moments.len() <= 150_000, "{}", moments.len());
            assert!(moments[0] >= SECOND_NS && *moments.last().unwrap() < 3 * SECOND_NS);
            // Half of them are due in the first half of the window.
            let first = moments.partition_point(|moment| *moment < 2 * SECOND_NS);
            assert!(first.abs_diff(moments.len() / 2) <= moments.len() / 10);
        }
    }
}

#[test]
fn skipping_far_ahead_keeps_the_grid() {
    for threads in [(0, 1), (2, 3)] {
        let mut near =
            Schedule::new(constant(1e6), Arrivals::Even, LatencyOrigin::Sent, threads, 1);
        near.start(0);
        let mut far = near.clone();
        for now_ns in (0..3 * SECOND_NS).step_by(100_000) {
            near.take_overdue(now_ns);
        }
        far.take_overdue(2_999_900_000);
        assert_eq!(near.next_ns(), far.next_ns());
    }
    for arrivals in [Arrivals::Even, Arrivals::Poisson] {
        // Requests of a whole hour one by one would take hours.
        let mut far = Schedule::new(constant(1e9), arrivals, LatencyOrigin::Sent, (0, 1), 1);
        far.start(0);
        assert_eq!(far.take_overdue(3600 * SECOND_NS), None);
        assert!(far.next_ns() > 3600 * SECOND_NS);
    }
}

#[test]
fn an_hour_at_a_constant_rate_has_exactly_its_requests() {
    let all = moments(schedule(constant(3000.0), Arrivals::Even, (0, 1)), 3600 * SECOND_NS);
    assert_eq!(all.len(), 3600 * 3000);
    assert_eq!(all[3000 * 1800], 1800 * SECOND_NS);
}

#[test]
fn threads_share_a_schedule_as_if_they_were_one() {
    let one = moments(schedule(constant(777.0), Arrivals::Even, (0, 1)), SECOND_NS);
    let mut three: Vec<u64> = (0..3)
        .flat_map(|thread| {
            moments(schedule(constant(777.0), Arrivals::Even, (thread, 3)), SECOND_NS)
        })
        .collect();
    three.sort_unstable();
    assert_eq!(one, three);
}

#[test]
fn a_ramp_has_the_rate_of_each_moment() {
    let ramp = vec![
        Part { seconds: 1.0, from: 1000.0, to: 1000.0 },
        Part { seconds: 10.0, from: 1000.0, to: 3000.0 },
    ];
    let all = moments(schedule(ramp, Arrivals::Even, (0, 1)), 12 * SECOND_NS);
    let between = |from_ns: u64, to_ns: u64| {
        all.iter().filter(|moment| (from_ns..to_ns).contains(*moment)).count()
    };
    assert_eq!(between(0, SECOND_NS), 1000);
    assert_eq!(between(SECOND_NS, 11 * SECOND_NS), 20_000);
    // The middle of the ramp: 2000 a second.
    assert!(
        between(5 * SECOND_NS + SECOND_NS / 2, 6 * SECOND_NS + SECOND_NS / 2).abs_diff(2000) <= 1
    );
    assert_eq!(between(11 * SECOND_NS, 12 * SECOND_NS), 3000);
}

#[test]
fn random_arrivals_have_the_mean_and_the_spread_of_a_poisson_process() {
    let all: Vec<u64> = (0..2)
        .flat_map(|thread| {
            moments(schedule(constant(1000.0), Arrivals::Poisson, (thread, 2)), 100 * SECOND_NS)
        })
        .collect();
    // 100,000 expected, with a standard deviation of 316.
    assert!(all.len().abs_diff(100_000) < 1600, "{}", all.len());
    let mut per_second = [0_f64; 100];
    for moment in &all {
        per_second[usize::try_from(moment / SECOND_NS).unwrap()] += 1.0;
    }
    let mean = per_second.iter().sum::<f64>() / 100.0;
    let variance = per_second.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 99.0;
    // Variance over mean is 1; its own standard deviation over 100 intervals is 0.14.
    assert!((0.4..1.8).contains(&(variance / mean)), "{}", variance / mean);
}

proptest! {
    #[test]
    fn moments_never_go_back(
        rates in proptest::collection::vec((1_u32..100_000, 1_u32..100_000), 1..5), poisson: bool
    ) {
        let parts = rates
            .iter()
            .map(|(from, to)| Part { seconds: 0.02, from: f64::from(*from), to: f64::from(*to) })
            .collect();
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Even };
        let all = moments(schedule(parts, arrivals, (0, 1)), SECOND_NS / 10);
        prop_assert!(all.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
