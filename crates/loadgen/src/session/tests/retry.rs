//! A request that is sent once more, in every phase and with its new connection in trouble.

use super::*;
use wirebench_schema::load::ClosedPolicy;

fn retrying(config: LoadConfig) -> LoadConfig {
    LoadConfig { on_closed: ClosedPolicy::Retry, ..config }
}

#[test]
fn a_request_is_repeated_after_the_window_and_keeps_the_time_when_it_was_due() {
    let mut session = running(&retrying(rate(1, 1000)), None, EDGES);
    let end = EDGES.window_end_ns;
    for now in [EDGES.window_start_ns, end - 2 * MS] {
        send_all(&mut session, now);
        if now < end - 2 * MS {
            session.received(0, HELLO, now);
            send(&mut session, 0);
            session.received(0, HELLO, now);
        }
    }
    commands(&mut session, end);
    assert_eq!(session.finished(0, end + MS), Action::Close);
    assert_eq!(commands(&mut session, end + MS), [Command::Connect(0)]);
    assert_eq!(session.connected(0, end + 2 * MS), Action::Send);
    assert_eq!(session.outgoing(0), REQUEST);
    send(&mut session, 0);
    assert!(!session.is_over());
    session.received(0, HELLO, end + 3 * MS);
    assert!(session.is_over());
    let left = left(session);
    assert_eq!((left.errors.total(), left.collected.total.counts.retried), (0, 1));
    assert!(left.latency.max() >= 4 * MS, "{}", left.latency.max());
}

#[test]
fn a_repeated_request_that_finds_no_connection_in_time_has_timed_out() {
    let mut session = running(&retrying(config(1)), Some(3), COUNT_EDGES);
    commands(&mut session, EDGES.start_ns);
    send(&mut session, 0);
    exchange(&mut session, 0, 30 * MS);
    assert_eq!(session.finished(0, 31 * MS), Action::Close);
    assert_eq!(commands(&mut session, 31 * MS), [Command::Connect(0)]);
    let late_ns = 30 * MS + TIMEOUT_NS + 200 * MS;
    assert_eq!(commands(&mut session, late_ns), [Command::Close(0)]);
    let left = left(session);
    assert_eq!((left.errors.timeout, left.errors.total(), left.requests), (1, 1, 1));
}

#[test]
fn the_last_request_of_a_count_is_repeated_although_nothing_is_left_to_send() {
    let edges = Edges { window_start_ns: COUNT_EDGES.start_ns, ..COUNT_EDGES };
    let mut session = running(&retrying(config(1)), Some(2), edges);
    commands(&mut session, EDGES.start_ns);
    send(&mut session, 0);
    assert_eq!(exchange(&mut session, 0, 30 * MS), Action::Send);
    assert_eq!(session.failed(0, Errno::CONNRESET, 31 * MS), Action::Close);
    assert!(session.wakes_at() <= 31 * MS);
    assert_eq!(commands(&mut session, 31 * MS), [Command::Connect(0)]);
    assert_eq!(session.connected(0, 32 * MS), Action::Send);
    send(&mut session, 0);
    session.received(0, HELLO, 33 * MS);
    assert!(session.is_over());
    let left = left(session);
    assert_eq!(
        (left.requests, left.errors.total(), left.collected.total.counts.retried),
        (2, 0, 1)
    );
    assert_eq!((left.outcome.in_flight, left.latency.max() / MS), (0, 20));
}

#[test]
fn it_sleeps_while_draining_whether_or_not_it_repeats_requests() {
    for config in [rate(2, 1000), retrying(rate(2, 1000))] {
        let mut session = running(&config, None, EDGES);
        let end = EDGES.window_end_ns;
        send_all(&mut session, end - 5 * MS);
        commands(&mut session, end);
        // Its first request is not repeated, and no connection is made for later ones.
        session.failed(1, Errno::CONNRESET, end + MS);
        assert_eq!(commands(&mut session, end + 2 * MS), []);
        assert!(!session.is_over());
        assert!(session.wakes_at() > end + 2 * MS, "busy loop: wakes at {}", session.wakes_at());
    }
}

#[test]
fn requests_behind_an_announced_close_go_out_first_on_the_next_connection() {
    let mut session = running(
        &LoadConfig { pipeline: 3, ..config(1) },
        Some(4),
        Edges { window_start_ns: EDGES.start_ns, ..COUNT_EDGES },
    );
    commands(&mut session, EDGES.start_ns);
    send(&mut session, 0);
    assert_eq!(session.received(0, LAST, 30 * MS), Action::Close);
    assert_eq!(commands(&mut session, 30 * MS), [Command::Connect(0)]);
    assert_eq!(session.connected(0, 31 * MS), Action::Send);
    // Those two, and the last of the count.
    assert_eq!(session.outgoing(0), [REQUEST; 3].concat());
    send(&mut session, 0);
    session.received(0, &[HELLO, HELLO].concat(), 40 * MS);
    session.received(0, HELLO, 40 * MS);
    assert!(session.is_over());
    let left = left(session);
    assert_eq!((left.requests, left.errors.total()), (4, 0));
    assert_eq!(left.collected.total.counts.retried, 2);
    assert_eq!(left.collected.total.counts.server_closes, 1);
    // Since the start at 10 ms for the first two that were sent again.
    let latencies: Vec<_> =
        left.latency.iter_recorded().map(|it| it.value_iterated_to() / MS).collect();
    assert_eq!(latencies, [9, 20, 30]);
}

#[test]
fn requests_behind_an_announced_close_are_sent_again_after_the_window_too() {
    let mut session = running(&LoadConfig { pipeline: 2, ..rate(1, 1000) }, None, EDGES);
    let end = EDGES.window_end_ns;
    assert_eq!(commands(&mut session, end - 5 * MS), [Command::Send(0)]);
    send(&mut session, 0);
    commands(&mut session, end);
    assert_eq!(session.received(0, LAST, end + MS), Action::Close);
    assert_eq!(commands(&mut session, end + MS), [Command::Connect(0)]);
    assert_eq!(session.connected(0, end + 2 * MS), Action::Send);
    assert_eq!(session.outgoing(0), REQUEST);
    send(&mut session, 0);
    session.received(0, HELLO, end + 3 * MS);
    assert!(session.is_over());
    assert_eq!(left(session).errors.total(), 0);
}

#[test]
fn a_request_is_repeated_once_and_only_between_two_replies() {
    // What the server sends; nothing is the end of the connection.
    for (name, config, server, retried) in [
        ("unless it is asked for", config(1), &[HELLO, b""][..], 0),
        ("at the first request of a connection", retrying(config(1)), &[b""], 0),
        ("within a reply", retrying(config(1)), &[HELLO, &HELLO[..9], b""], 0),
        ("again", retrying(config(1)), &[HELLO, b"", b""], 1),
    ] {
        let mut session = running(&config, None, EDGES);
        send_all(&mut session, EDGES.start_ns);
        for (now_ns, bytes) in (EDGES.start_ns + 1..).zip(server) {
            let action = match *bytes {
                [] => session.finished(0, now_ns),
                _ => session.received(0, bytes, now_ns),
            };
            if action == Action::Close {
                assert_eq!(commands(&mut session, now_ns), [Command::Connect(0)], "{name}");
                assert_eq!(session.connected(0, now_ns), Action::Send, "{name}");
            }
            if action != Action::Wait {
                send(&mut session, 0);
            }
        }
        commands(&mut session, EDGES.window_start_ns);
        let outcome = session.take_outcome();
        let counts =
            outcome.rest.iter().map(|it| (it.counts.errors.closed_early, it.counts.retried));
        let sum = counts.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        assert_eq!(sum, (1, retried), "{name}");
    }
}
