//! Tests with virtual time: no clock, no socket, every nanosecond given.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::*;
use crate::{
    codec::http1::Http1,
    collector::{Collected, Collector},
    director::Director,
    plan::{Plan, Speech},
};
use hdrhistogram::Histogram;
use rustix::io::Errno;
use wirebench_schema::load::{ErrorCounts, LoadConfig};

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: h:1\r\n\r\n";
const MS: u64 = 1_000_000;
const TIMEOUT_NS: u64 = 1000 * MS;

/// The load starts at 10 ms, the window goes from 20 to 120 ms.
const EDGES: Edges = Edges { start_ns: 10 * MS, window_start_ns: 20 * MS, window_end_ns: 120 * MS };
const COUNT_EDGES: Edges = Edges { window_end_ns: u64::MAX, ..EDGES };

fn config(connections: usize) -> LoadConfig {
    let mut config = LoadConfig::new("http://h:1/".parse().unwrap());
    config.timeout = std::time::Duration::from_nanos(TIMEOUT_NS);
    config.threads = 1;
    config.connections = connections;
    config
}

fn session(connections: usize, quota: Option<u64>) -> Session<Http1> {
    session_of(&config(connections), quota)
}

fn session_of(config: &LoadConfig, quota: Option<u64>) -> Session<Http1> {
    let plan = Plan::new(config).unwrap();
    let Speech::Http1(codec) = &plan.speech else { panic!("an http target speaks HTTP") };
    let share = Share { quota, ..plan.shares[0] };
    Session::new(&share, plan.conduct, codec, || 0)
}

/// What is left of a session: what it handed over, added up.
struct Left {
    outcome: Outcome,
    collected: Collected,
    requests: u64,
    censored: u64,
    errors: ErrorCounts,
    latency: Histogram<u64>,
}

fn left(mut session: Session<Http1>) -> Left {
    let edges = session.edges;
    let histograms = session.conduct.histograms;
    // A load that is still running is cut off here.
    session.recorder.close_window(20_000 * MS);
    let mut outcome = session.into_outcome();
    let mut collector = Collector::new(histograms, 60_000 * MS, 1);
    collector.start(edges.start_ns, edges.window_start_ns);
    for slice in outcome.rest.drain(..) {
        collector.add(0, &slice);
    }
    let collected = collector.finish().1;
    let (latency, counts) = (collected.total.latency.clone(), collected.total.counts.clone());
    let (requests, censored, errors) = (counts.requests, counts.censored, counts.errors);
    Left { outcome, collected, requests, censored, errors, latency }
}

fn commands(session: &mut Session<Http1>, now_ns: u64) -> Vec<Command> {
    session.tick(now_ns);
    std::iter::from_fn(|| session.next_command(now_ns)).collect()
}

/// A session whose connections all stand and have been told to send at the start of the load.
fn started(connections: usize, quota: Option<u64>, edges: Edges) -> Session<Http1> {
    let mut session = session(connections, quota);
    for command in commands(&mut session, 0) {
        let Command::Connect(slot) = command else { panic!("{command:?}") };
        assert_eq!(session.connected(slot, 1), Action::Wait);
    }
    assert!(session.is_settled());
    assert_eq!(session.made(), connections);
    session.start(edges);
    for command in commands(&mut session, edges.start_ns) {
        let Command::Send(slot) = command else { panic!("{command:?}") };
        send(&mut session, slot);
    }
    session
}

/// Everything that is outgoing goes.
fn send(session: &mut Session<Http1>, slot: usize) {
    let mut action = Action::Send;
    while action == Action::Send {
        let bytes = session.outgoing(slot).len();
        action = session.sent(slot, bytes);
    }
    assert_eq!(action, Action::Wait);
}

/// A reply arrives, and the next request is sent whole.
fn exchange(session: &mut Session<Http1>, slot: usize, now_ns: u64) -> Action {
    let action = session.received(slot, HELLO, now_ns);
    if action == Action::Send {
        assert_eq!(session.sent(slot, REQUEST.len()), Action::Wait);
    }
    action
}

#[test]
fn no_more_connections_are_made_at_a_time_than_a_backlog_takes() {
    let mut session = session(300, None);
    assert_eq!(commands(&mut session, 0).len(), PENDING_LIMIT);
    session.connected(0, 1);
    session.failed(1, Errno::CONNREFUSED, 1);
    assert_eq!(commands(&mut session, 1).len(), 2);
}

#[test]
fn a_server_that_takes_no_more_connections_delays_the_start_by_one_timeout_only() {
    let mut session = session(10_000, None);
    assert_eq!(commands(&mut session, 0).len(), PENDING_LIMIT);
    session.connected(0, MS);
    session.connected(1, MS);
    let mut now_ns = MS;
    while !session.is_settled() {
        now_ns += 100 * MS;
        assert!(now_ns < 4 * TIMEOUT_NS, "the start does not come");
        commands(&mut session, now_ns);
    }
    assert_eq!(session.made(), 2);
    session.start(Edges { start_ns: now_ns, ..COUNT_EDGES });
    let tried_again = commands(&mut session, now_ns);
    assert!(tried_again.iter().any(|command| matches!(command, Command::Connect(_))));
}

#[test]
fn nothing_is_sent_before_the_common_start() {
    let mut session = session(1, None);
    commands(&mut session, 0);
    assert_eq!(session.connected(0, 1), Action::Wait);
    session.start(EDGES);
    assert_eq!(commands(&mut session, EDGES.start_ns - 1), []);
    assert_eq!(session.wakes_at(), EDGES.start_ns);
    assert_eq!(commands(&mut session, EDGES.start_ns), [Command::Send(0)]);
    assert_eq!(session.outgoing(0), REQUEST);
}

#[test]
fn a_request_that_is_sent_in_parts_goes_on_where_it_stopped() {
    let mut session = session(1, None);
    commands(&mut session, 0);
    session.connected(0, 1);
    session.start(EDGES);
    commands(&mut session, EDGES.start_ns);
    assert_eq!(session.sent(0, 4), Action::Send);
    assert_eq!(session.outgoing(0), &REQUEST[4..]);
    assert_eq!(session.sent(0, REQUEST.len() - 4), Action::Wait);
    assert_eq!(session.outgoing(0), b"");
}

#[test]
fn a_reply_counts_when_it_arrives_in_the_window_wherever_its_request_was_sent() {
    let mut session = started(1, None, EDGES);
    assert_eq!(exchange(&mut session, 0, EDGES.window_start_ns - 1), Action::Send);
    assert_eq!(exchange(&mut session, 0, EDGES.window_start_ns), Action::Send);
    assert_eq!(exchange(&mut session, 0, EDGES.window_end_ns - 1), Action::Send);
    assert_eq!(exchange(&mut session, 0, EDGES.window_end_ns), Action::Wait);
    assert!(session.is_over());
    let left = left(session);
    assert_eq!((left.requests, left.outcome.in_flight), (2, 1));
    assert_eq!(left.latency.min(), 1);
    assert_eq!(left.outcome.window_end_ns, Some(EDGES.window_end_ns));
}

#[test]
fn what_nobody_answers_times_out_and_its_connection_is_made_again() {
    let edges = Edges { window_end_ns: 10_000 * MS, ..EDGES };
    let mut session = started(1, None, edges);
    commands(&mut session, 999 * MS);
    let overdue_ns = edges.start_ns + TIMEOUT_NS + 100 * MS;
    assert!(session.wakes_at() <= overdue_ns);
    assert_eq!(commands(&mut session, overdue_ns), [Command::Close(0), Command::Connect(0)]);
    assert_eq!(session.connected(0, overdue_ns + 1), Action::Send);
    let left = left(session);
    assert_eq!((left.censored, left.errors.timeout), (1, 1));
    assert_eq!(left.collected.total.counts.reconnects, 1);
}

#[test]
fn a_reply_that_comes_too_late_has_timed_out_although_no_scan_has_seen_it() {
    let edges = Edges { window_end_ns: 10_000 * MS, ..EDGES };
    let mut session = started(1, None, edges);
    let late_ns = edges.start_ns + TIMEOUT_NS;
    assert_eq!(session.received(0, HELLO, late_ns), Action::Close);
    let record = left(session);
    assert_eq!((record.requests, record.censored, record.errors.timeout), (0, 1, 1));
}

#[test]
fn what_was_overdue_when_the_window_ended_has_timed_out_in_it() {
    let end_ns = EDGES.start_ns + TIMEOUT_NS;
    let mut session = started(2, None, Edges { window_end_ns: end_ns, ..EDGES });
    exchange(&mut session, 0, 30 * MS);
    session.tick(end_ns + 5);
    assert!(session.is_over());
    let left = left(session);
    assert_eq!((left.errors.timeout, left.censored), (1, 1));
    assert_eq!(left.outcome.in_flight, 1);
}

#[test]
fn a_refused_connection_waits_before_it_is_made_again() {
    let mut session = started(1, None, EDGES);
    assert_eq!(session.failed(0, Errno::CONNRESET, 30 * MS), Action::Close);
    assert_eq!(commands(&mut session, 30 * MS), [Command::Connect(0)]);
    assert_eq!(session.failed(0, Errno::CONNREFUSED, 31 * MS), Action::Close);
    assert_eq!(commands(&mut session, 40 * MS), []);
    assert!(session.wakes_at() <= 41 * MS);
    assert_eq!(commands(&mut session, 41 * MS), [Command::Connect(0)]);
    let errors = left(session).errors;
    assert_eq!((errors.reset, errors.refused, errors.total()), (1, 1, 2));
}

#[test]
fn a_count_ends_with_its_last_reply_and_connections_without_work_rest() {
    let edges = Edges { window_start_ns: COUNT_EDGES.start_ns, ..COUNT_EDGES };
    let mut session = started(3, Some(4), edges);
    assert_eq!(exchange(&mut session, 0, 30 * MS), Action::Send);
    assert_eq!(exchange(&mut session, 1, 31 * MS), Action::Wait);
    assert_eq!(exchange(&mut session, 2, 32 * MS), Action::Wait);
    assert!(!session.is_over());
    assert_eq!(exchange(&mut session, 0, 33 * MS), Action::Wait);
    assert!(session.is_over());
    let left = left(session);
    assert_eq!((left.requests, left.outcome.window_end_ns), (4, Some(33 * MS)));
    assert_eq!((left.outcome.in_flight, left.outcome.gave_up_requests), (0, 0));
}

#[test]
fn a_count_of_nothing_ends_as_the_window_begins() {
    let mut session = started(1, Some(0), COUNT_EDGES);
    session.tick(COUNT_EDGES.window_start_ns + 7);
    assert!(session.is_over());
    assert_eq!(left(session).outcome.window_end_ns, Some(COUNT_EDGES.window_start_ns));
}

#[test]
fn failures_count_against_the_quota() {
    let mut session = started(1, Some(3), COUNT_EDGES);
    assert_eq!(session.finished(0, 30 * MS), Action::Close);
    assert_eq!(commands(&mut session, 30 * MS), [Command::Connect(0)]);
    session.failed(0, Errno::CONNREFUSED, 31 * MS);
    assert_eq!(commands(&mut session, 50 * MS), [Command::Connect(0)]);
    session.failed(0, Errno::ADDRNOTAVAIL, 51 * MS);
    assert!(session.is_over());
    let errors = left(session).errors;
    assert_eq!((errors.closed_early, errors.refused, errors.connect), (1, 1, 1));
}

#[test]
fn a_connection_that_fails_with_nothing_left_to_send_does_not_end_a_count_early() {
    let edges = Edges { window_start_ns: COUNT_EDGES.start_ns, ..COUNT_EDGES };
    let mut session = started(2, Some(3), edges);
    // Two requests are in flight. One fails; while its connection is made again, the other one is
    // answered and the last request is sent.
    assert_eq!(session.failed(0, Errno::CONNRESET, 30 * MS), Action::Close);
    assert_eq!(commands(&mut session, 30 * MS), [Command::Connect(0)]);
    assert_eq!(exchange(&mut session, 1, 31 * MS), Action::Send);
    assert_eq!(session.failed(0, Errno::CONNREFUSED, 32 * MS), Action::Close);
    assert!(!session.is_over(), "the last request is still in flight");
    assert_eq!(exchange(&mut session, 1, 33 * MS), Action::Wait);
    assert!(session.is_over());
    let left = left(session);
    assert_eq!((left.requests, left.outcome.window_end_ns), (2, Some(33 * MS)));
    assert_eq!((left.outcome.in_flight, left.outcome.gave_up_requests), (0, 0));
    let errors = left.errors;
    assert_eq!((errors.reset, errors.refused, errors.total()), (1, 1, 2));
}

#[test]
fn a_count_is_given_up_when_no_reply_has_come_for_three_timeouts() {
    let mut session = started(1, Some(1000), COUNT_EDGES);
    exchange(&mut session, 0, 100 * MS);
    session.failed(0, Errno::CONNRESET, 101 * MS);
    let mut now_ns = 101 * MS;
    while !session.is_over() {
        now_ns += 50 * MS;
        assert!(now_ns < 4000 * MS, "the load does not end");
        for command in commands(&mut session, now_ns) {
            let Command::Connect(slot) = command else { panic!("{command:?}") };
            session.failed(slot, Errno::CONNREFUSED, now_ns);
        }
    }
    assert!(now_ns >= 100 * MS + 3 * TIMEOUT_NS);
    let left = left(session);
    let ended = left.requests + left.errors.total();
    assert_eq!(left.outcome.gave_up_requests, 1000 - ended);
}

#[test]
fn a_reply_before_the_whole_request_is_wrong() {
    let mut session = started(1, None, EDGES);
    assert_eq!(session.received(0, HELLO, 30 * MS), Action::Send);
    assert_eq!(session.sent(0, 3), Action::Send);
    assert_eq!(session.received(0, HELLO, 31 * MS), Action::Close);
    assert_eq!(left(session).errors.wrong_reply, 1);
}

#[test]
fn bytes_that_come_while_nothing_is_due_are_surplus() {
    let mut session = started(1, None, EDGES);
    let two = [HELLO, HELLO].concat();
    assert_eq!(session.received(0, &two, 30 * MS), Action::Close);
    let record = left(session);
    assert_eq!((record.requests, record.errors.surplus, record.errors.total()), (1, 1, 1));
}

#[test]
fn an_earlier_end_shortens_the_window_and_an_end_before_it_leaves_none() {
    let mut session = started(1, None, EDGES);
    exchange(&mut session, 0, 30 * MS);
    session.limit_end(50 * MS);
    assert!(session.wakes_at() <= 50 * MS);
    session.tick(50 * MS);
    assert_eq!(left(session).outcome.window_end_ns, Some(50 * MS));

    let mut session = started(1, None, EDGES);
    session.limit_end(15 * MS);
    session.tick(15 * MS);
    assert!(session.is_over());
    assert_eq!(left(session).outcome.window_end_ns, None);
}

/// An engine of virtual time: every request is answered after the same time, in order.
struct Simulation {
    now_ns: u64,
    delay_ns: u64,
    replies: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Simulation {
    fn act(&mut self, session: &mut Session<Http1>, slot: usize, action: Action) {
        if action == Action::Send {
            let mut bytes = 0;
            while !session.outgoing(slot).is_empty() {
                let piece = session.outgoing(slot).len();
                session.sent(slot, piece);
                bytes += piece;
            }
            for _ in 0..bytes / REQUEST.len() {
                self.replies.push(Reverse((self.now_ns + self.delay_ns, slot)));
            }
        }
    }

    fn turn(&mut self, session: &mut Session<Http1>) {
        session.tick(self.now_ns);
        while let Some(command) = session.next_command(self.now_ns) {
            let (slot, action) = match command {
                Command::Connect(slot) => (slot, session.connected(slot, self.now_ns)),
                Command::Send(slot) => (slot, Action::Send),
                Command::Close(slot) => (slot, Action::Close),
            };
            self.act(session, slot, action);
        }
        let next_ns = self.replies.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns);
        self.now_ns = self.now_ns.max(next_ns.min(session.wakes_at()));
        while let Some(Reverse((at_ns, slot))) = self.replies.peek().copied()
            && at_ns <= self.now_ns
        {
            self.replies.pop();
            let action = session.received(slot, HELLO, self.now_ns);
            self.act(session, slot, action);
        }
    }
}

fn simulate(mut session: Session<Http1>, delay_ns: u64, edges: Edges) -> Left {
    let mut engine = Simulation { now_ns: 0, delay_ns, replies: BinaryHeap::new() };
    while !session.is_settled() {
        engine.turn(&mut session);
    }
    // The last turn waited for something to happen; the start does not lie behind that.
    engine.now_ns = 0;
    session.start(edges);
    while !session.is_over() {
        engine.turn(&mut session);
    }
    left(session)
}

#[test]
fn a_closed_loop_over_a_server_of_known_delay_gives_the_rate_that_arithmetic_gives() {
    let left = simulate(session(3, None), 2 * MS, EDGES);
    // Replies come every 2 ms from 12 ms on; those from 20 to 118 ms lie in the window: 50 for each
    // connection.
    assert_eq!(left.requests, 150);
    assert_eq!(left.outcome.replies_per_connection, [50, 50, 50]);
    assert_eq!(left.collected.requests_per_100ms, [150]);
    assert_eq!(left.outcome.in_flight, 3);
    let latency = &left.latency;
    assert!(latency.equivalent(latency.min(), 2 * MS) && latency.equivalent(latency.max(), 2 * MS));
}

#[test]
fn a_simulated_count_ends_exactly() {
    let left = simulate(session(3, Some(100)), 2 * MS, COUNT_EDGES);
    assert_eq!((left.requests, left.outcome.gave_up_requests), (100, 0));
    assert_eq!(left.errors.total(), 0);
}

#[test]
fn a_connection_takes_little_memory() {
    let bytes = size_of::<Slot<<Http1 as Codec>::Connection>>();
    assert!(bytes <= 512, "{bytes} bytes");
}
