//! Servers with known delays and whole loads in virtual time, whose results can be computed by
//! hand.

use std::{cmp::Reverse, collections::BinaryHeap, time::Duration};

use super::*;
use wirebench_schema::load::Stop;

/// The reply time of a server for a request that arrives at a given time.
type Server = fn(u64) -> u64;

/// An engine in virtual time. Sending, receiving and connecting take no time.
struct Simulation {
    now_ns: u64,
    server: Server,
    replies: BinaryHeap<Reverse<(u64, u64, usize)>>,
    sent: u64,
    /// Numbers of connections made and closed.
    connects: usize,
    closes: usize,
}

impl Simulation {
    const fn new(server: Server) -> Self {
        Self { now_ns: 0, server, replies: BinaryHeap::new(), sent: 0, connects: 0, closes: 0 }
    }

    fn act(&mut self, session: &mut Session<Http1>, slot: usize, action: Action) {
        match action {
            Action::Wait => {}
            Action::Close => self.closes += 1,
            Action::Send => {
                let mut bytes = 0;
                while !session.outgoing(slot).is_empty() {
                    let piece = session.outgoing(slot).len();
                    session.sent(slot, piece);
                    bytes += piece;
                }
                for _ in 0..bytes / REQUEST.len() {
                    self.sent += 1;
                    self.replies.push(Reverse(((self.server)(self.now_ns), self.sent, slot)));
                }
            }
        }
    }

    fn turn(&mut self, session: &mut Session<Http1>) {
        session.tick(self.now_ns);
        while let Some(command) = session.next_command(self.now_ns) {
            let (slot, action) = match command {
                Command::Connect(slot) => {
                    self.connects += 1;
                    (slot, session.connected(slot, self.now_ns))
                }
                Command::Send(slot) => (slot, Action::Send),
                Command::Close(slot) => (slot, Action::Close),
            };
            self.act(session, slot, action);
        }
        let next_ns = self.replies.peek().map_or(u64::MAX, |Reverse((at_ns, ..))| *at_ns);
        self.now_ns = self.now_ns.max(next_ns.min(session.wakes_at()));
        while let Some(Reverse((at_ns, _, slot))) = self.replies.peek().copied()
            && at_ns <= self.now_ns
        {
            self.replies.pop();
            let action = session.received(slot, HELLO, self.now_ns);
            self.act(session, slot, action);
        }
    }

    fn run(&mut self, mut session: Session<Http1>, edges: Edges) -> Left {
        while !session.is_settled() {
            self.turn(&mut session);
        }
        // The last turn waited for something to happen; the start does not lie behind that.
        self.now_ns = 0;
        session.start(edges);
        let mut collector = collector(&session);
        while !session.is_over() {
            self.turn(&mut session);
            collect(&mut session, &mut collector);
        }
        left_with(session, collector)
    }
}

/// A second of window behind 100 ms of warm-up.
const SECOND: Edges =
    Edges { start_ns: 100 * MS, window_start_ns: 200 * MS, window_end_ns: 1200 * MS };

fn simulate(config: &LoadConfig, server: Server, edges: Edges) -> Left {
    let quota = Plan::new(config).unwrap().shares[0].quota;
    Simulation::new(server).run(session_of(config, quota), edges)
}

fn at_rate(connections: usize, curve: RateCurve) -> LoadConfig {
    LoadConfig {
        model: LoadModel::rate(curve),
        warmup: Duration::from_millis(100),
        stop: Stop::After(Duration::from_secs(1)),
        ..config(connections)
    }
}

const AFTER_2_MS: Server = |now_ns| now_ns + 2 * MS;

/// Answers after 1 ms, except from 700 to 900 ms, in the middle of the window: then when that ends.
const STALLING: Server = |now_ns| {
    let at_ns = now_ns + MS;
    if (700 * MS..900 * MS).contains(&at_ns) { 900 * MS } else { at_ns }
};

fn assert_near(histogram: &Histogram<u64>, quantile: f64, expected_ns: u64) {
    let found_ns = histogram.value_at_quantile(quantile);
    let off_ns = found_ns.abs_diff(expected_ns);
    assert!(off_ns <= expected_ns / 100 + MS / 100, "p{quantile}: {found_ns}, not {expected_ns}");
}

#[test]
fn a_closed_loop_over_a_server_of_known_delay_gives_the_rate_that_arithmetic_gives() {
    let left = simulate(&config(3), AFTER_2_MS, EDGES);
    // Replies come every 2 ms from 12 ms on; those from 20 to 118 ms lie in the window: 50 for each
    // connection.
    assert_eq!(left.requests, 150);
    assert_eq!(left.outcome.replies_per_connection, [50, 50, 50]);
    assert_eq!(left.collected.reply_series.replies, [150]);
    assert_eq!(left.outcome.in_flight, 3);
    assert_near(&left.latency, 0.0, 2 * MS);
    assert_near(&left.latency, 1.0, 2 * MS);
}

#[test]
fn a_pipeline_keeps_its_depth_in_flight() {
    let deep = LoadConfig { pipeline: 16, ..config(2) };
    let left = simulate(&deep, AFTER_2_MS, EDGES);
    assert_eq!((left.requests, left.outcome.in_flight), (2 * 16 * 50, 2 * 16));
    assert_near(&left.latency, 0.5, 2 * MS);
}

#[test]
fn with_think_time_a_connection_sends_so_long_after_each_reply() {
    let model = LoadModel::Think { delay: Duration::from_millis(3) };
    let left = simulate(&LoadConfig { model, ..config(4) }, AFTER_2_MS, EDGES);
    // A cycle of 5 ms in a window of 100 ms.
    assert_eq!(left.outcome.replies_per_connection, [20, 20, 20, 20]);
    assert_near(&left.latency, 0.5, 2 * MS);
    let times = left.collected.total.schedule.unwrap();
    assert_eq!((times.lag.max(), times.lag.len()), (0, 80));
}

#[test]
fn at_a_constant_rate_all_that_was_due_was_sent_when_it_was() {
    let left = simulate(&at_rate(10, RateCurve::per_second(1000)), AFTER_2_MS, SECOND);
    let counts = &left.collected.total.counts;
    assert_eq!((counts.due, counts.unsent), (1000, 0));
    // Two are in flight at the end, and are waited for; as many were at the beginning, and are no
    // samples.
    assert_eq!((left.requests, left.censored, left.latency.len()), (1000, 0, 1000));
    assert_eq!(left.outcome.in_flight, 2);
    assert_near(&left.latency, 0.0, 2 * MS);
    assert_near(&left.latency, 0.5, 2 * MS);
    assert_eq!(left.collected.total.schedule.unwrap().lag.max(), 0);
    assert_eq!(left.outcome.replies_per_connection.iter().max(), Some(&100));
}

#[test]
fn a_stall_is_seen_by_every_request_that_was_due_in_it() {
    let left = simulate(&at_rate(200, RateCurve::per_second(500)), STALLING, SECOND);
    // A fifth of the second: waits spread evenly from 200 ms down to nothing.
    assert_near(&left.latency, 0.79, MS);
    assert_near(&left.latency, 0.90, 101 * MS);
    assert_near(&left.latency, 0.99, 191 * MS);
}

#[test]
fn a_connection_alone_cannot_hide_a_stall_behind_the_one_request_that_it_had_sent() {
    let left = simulate(&at_rate(1, RateCurve::per_second(500)), STALLING, SECOND);
    let times = left.collected.total.schedule.unwrap();
    assert_near(&times.service.replies, 0.99, MS);
    assert_near(&times.service.replies, 1.0, 200 * MS);
    // 100 requests became due in the stall, and 100 more while the connection caught up.
    assert_near(&left.latency, 0.55, MS);
    assert!(left.latency.value_at_quantile(0.7) > 20 * MS);
    assert!(times.lag.value_at_quantile(0.7) > 20 * MS);
}

#[test]
fn counted_from_the_sending_the_same_stall_is_seen_by_one_request() {
    let curve = RateCurve::per_second(500);
    let slipping = LoadConfig { model: LoadModel::slipping(curve.clone()), ..at_rate(1, curve) };
    let left = simulate(&slipping, STALLING, SECOND);
    assert_near(&left.latency, 0.99, MS);
    assert_near(&left.latency, 1.0, 200 * MS);
    // A tenth of a second's requests, less the one, was never sent.
    assert!(left.requests.abs_diff(400) <= 2, "{}", left.requests);
    assert_eq!(left.collected.total.counts.unsent, 0);
}

#[test]
fn requests_unsent_because_of_a_slow_server_are_samples_with_their_age() {
    let left = simulate(&at_rate(1, RateCurve::per_second(1000)), AFTER_2_MS, SECOND);
    let counts = &left.collected.total.counts;
    assert_eq!(left.requests, 500);
    // A backlog of 50 of the warm-up is worked off first.
    assert!(counts.unsent.abs_diff(550) <= 2, "{}", counts.unsent);
    assert_eq!(counts.due, 1000);
    assert_near(&left.latency, 1.0, 551 * MS);
    assert_eq!(left.latency.len(), 1000);
}

#[test]
fn a_backlog_that_grows_is_counted_whether_it_was_sent_or_not() {
    // A latency that is the time since the start of the load: half of the requests are answered.
    let half: Server = |now_ns| now_ns + (now_ns - 100 * MS);
    for (connections, server) in [(1, AFTER_2_MS), (2000, half)] {
        let left = simulate(&at_rate(connections, RateCurve::per_second(1000)), server, SECOND);
        let counts = &left.collected.total.counts;
        assert!(left.requests.abs_diff(500) <= 1 && counts.due == 1000, "{}", left.requests);
        for (waiting, expected) in counts.waiting.into_iter().zip([50, 300, 550]) {
            assert!(waiting.abs_diff(expected) <= 2, "{:?}", counts.waiting);
        }
    }
    let left = simulate(&at_rate(10, RateCurve::per_second(1000)), AFTER_2_MS, SECOND);
    // An edge may lie between a reply and the next request.
    assert!(left.collected.total.counts.waiting.iter().all(|it| [1, 2].contains(it)));
}

#[test]
fn a_ramp_and_steps_offer_the_integral_of_their_rate() {
    let ramp = simulate(&at_rate(100, RateCurve::ramp(1000, 3000)), AFTER_2_MS, SECOND);
    assert_eq!(ramp.collected.total.counts.due, 2000);
    let steps = simulate(&at_rate(100, RateCurve::steps([100, 400])), AFTER_2_MS, SECOND);
    assert_eq!(steps.collected.total.counts.due, 250);
    let pieces = &steps.collected.reply_series.replies;
    assert!(pieces[1].abs_diff(10) <= 1 && pieces[8].abs_diff(40) <= 1, "{pieces:?}");
}

#[test]
fn a_connection_that_has_carried_its_requests_is_closed_and_made_again() {
    let churning = LoadConfig { requests_per_connection: Some(5), pipeline: 2, ..config(2) };
    let mut simulation = Simulation::new(AFTER_2_MS);
    let left = simulation.run(session_of(&churning, None), EDGES);
    // Requests go in pairs, and the fifth goes alone: 5 in 6 ms.
    assert!(left.requests.abs_diff(2 * 100 / 6 * 5) <= 10, "{}", left.requests);
    assert_eq!((left.errors.total(), left.outcome.idle_lost), (0, 0));
    assert!(simulation.closes > 20 && simulation.connects - simulation.closes <= 2);
    assert!(left.collected.total.counts.client_closes.abs_diff(33) <= 2);
    assert_eq!(left.collected.total.counts.server_closes, 0);
}

#[test]
fn an_idle_crowd_is_made_and_stays_silent() {
    let crowd = LoadConfig { idle_connections: 50, ..config(2) };
    let mut simulation = Simulation::new(AFTER_2_MS);
    let left = simulation.run(session_of(&crowd, None), EDGES);
    assert_eq!((simulation.connects, left.requests), (52, 100));
    assert_eq!((left.outcome.idle_made, left.outcome.idle_lost), (50, 0));
    assert_eq!(left.outcome.replies_per_connection.len(), 2);
}
