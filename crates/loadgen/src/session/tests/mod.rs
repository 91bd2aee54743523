//! Tests with virtual time: no clock, no socket, every nanosecond given. `events` feeds the session
//! single events, `connecting` makes connections with delays, `simulation` lets it talk to servers
//! with known delays.

mod connecting;
mod events;
mod moments;
mod multiplexed;
mod on_demand;
mod retry;
mod simulation;

use super::*;
use crate::{
    codec::http1::Http1,
    collector::{Collected, Collector},
    director::Director,
    plan::{CodecKind, Plan},
};
use hdrhistogram::Histogram;
use rustix::io::Errno;
use wirebench_schema::load::{ErrorCounts, LoadConfig, LoadModel, RateCurve};

pub(crate) const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
pub(crate) const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: h:1\r\n\r\n";
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const TIMEOUT_NS: u64 = 1000 * MS;

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

fn rate(connections: usize, per_second: u64) -> LoadConfig {
    let model = LoadModel::rate(RateCurve::per_second(per_second));
    LoadConfig { model, ..config(connections) }
}

fn session(connections: usize, quota: Option<u64>) -> Session<Http1> {
    session_of(&config(connections), quota)
}

fn session_of(config: &LoadConfig, quota: Option<u64>) -> Session<Http1> {
    let mut plan = Plan::new(config).unwrap();
    plan.shares[0].quota = quota;
    session_of_plan(&plan)
}

fn session_of_plan(plan: &Plan) -> Session<Http1> {
    let CodecKind::Http1(codec) = &plan.codec else { panic!("an http target speaks HTTP") };
    Session::new(&plan.shares[0], plan.params.clone(), codec, || 0)
}

/// The combined results of a session.
struct Left {
    outcome: Outcome,
    collected: Collected,
    requests: u64,
    censored: u64,
    errors: ErrorCounts,
    latency: Histogram<u64>,
}

fn collector<C: Codec>(session: &Session<C>) -> Collector {
    let mut collector = Collector::new(session.params.histograms, Some(60_000 * MS), 1);
    collector.start(session.edges.start_ns, session.edges.window_start_ns);
    collector
}

fn collect<C: Codec>(session: &mut Session<C>, collector: &mut Collector) {
    for mut segment in session.recorder.take_full().collect::<Vec<_>>() {
        collector.add(0, &segment);
        segment.clear();
        session.recorder.give_spare(segment);
    }
}

fn left<C: Codec>(session: Session<C>) -> Left {
    let collector = collector(&session);
    left_with(session, collector)
}

fn left_with<C: Codec>(mut session: Session<C>, mut collector: Collector) -> Left {
    // A load that is still running is cut off here.
    session.recorder.close_window(20_000 * MS);
    collect(&mut session, &mut collector);
    let outcome = session.take_outcome();
    outcome.rest.iter().for_each(|segment| collector.add(0, segment));
    let collected = collector.finish().1;
    let counts = collected.total.counts.clone();
    let samples = &collected.total.latency;
    let censored = samples.ages().map_or(0, Histogram::len);
    let latency = samples.estimate().histogram;
    let (requests, errors) = (counts.requests, counts.errors);
    Left { outcome, collected, requests, censored, errors, latency }
}

pub(crate) fn commands(director: &mut impl Director, now_ns: u64) -> Vec<Command> {
    director.tick(now_ns);
    std::iter::from_fn(|| director.next_command(now_ns)).collect()
}

/// Makes the connections that the session asks for.
fn stand<C: Codec>(session: &mut Session<C>) {
    while !session.is_settled() {
        let connects = commands(session, 0);
        assert!(!connects.is_empty(), "it waits for nothing");
        for command in connects {
            let Command::Connect(slot) = command else { panic!("{command:?}") };
            assert_eq!(session.connected(slot, 1), Action::Wait);
        }
    }
}

/// A session whose connections are made and whose load begins.
fn running(config: &LoadConfig, quota: Option<u64>, edges: Edges) -> Session<Http1> {
    let mut session = session_of(config, quota);
    stand(&mut session);
    session.start(edges);
    session
}

/// Sends the requests that are due, and says on which connections.
fn send_all(session: &mut Session<Http1>, now_ns: u64) -> Vec<usize> {
    let sends = commands(session, now_ns).into_iter().filter_map(|command| match command {
        Command::Send(slot) => Some(slot),
        _ => None,
    });
    let slots = sends.collect::<Vec<_>>();
    slots.iter().for_each(|slot| send(session, *slot));
    slots
}

/// A session whose connections have all sent their first request at the start of the load.
fn started(connections: usize, quota: Option<u64>, edges: Edges) -> Session<Http1> {
    let mut session = running(&config(connections), quota, edges);
    assert_eq!(session.made(), connections);
    send_all(&mut session, edges.start_ns);
    session
}

fn send<C: Codec>(session: &mut Session<C>, slot: usize) {
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
