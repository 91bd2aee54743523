//! Single events in sequence.

use super::*;
use wirebench_schema::load::Stop;

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
fn an_unanswered_request_times_out_and_its_connection_is_made_again() {
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
fn a_request_overdue_at_the_end_of_the_window_has_timed_out_in_it() {
    let end_ns = EDGES.start_ns + TIMEOUT_NS;
    let mut session = started(2, None, Edges { window_end_ns: end_ns, ..EDGES });
    exchange(&mut session, 0, 30 * MS);
    session.tick(end_ns + 5);
    assert!(session.is_over());
    let left = left(session);
    // The other one is in flight.
    assert_eq!((left.errors.timeout, left.censored), (1, 2));
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
fn a_count_per_connection_is_the_same_for_each_whichever_is_faster() {
    let counted = LoadConfig { stop: Stop::RequestsPerConnection(2), ..config(2) };
    let edges = Edges { window_start_ns: COUNT_EDGES.start_ns, ..COUNT_EDGES };
    let mut session = running(&counted, Some(4), edges);
    send_all(&mut session, edges.start_ns);
    let actions = [0, 0, 1].map(|slot| exchange(&mut session, slot, 30 * MS));
    assert_eq!(actions, [Action::Send, Action::Wait, Action::Send]);
    assert!(!session.is_over());
    assert_eq!(exchange(&mut session, 1, 31 * MS), Action::Wait);
    assert!(session.is_over());
    assert_eq!(left(session).outcome.replies_per_connection, [2, 2]);
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
    assert_eq!((errors.closed_early, errors.refused, errors.no_port), (1, 1, 1));
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
fn a_reply_counts_from_the_first_byte_of_its_request_on() {
    let mut session = started(1, None, EDGES);
    assert_eq!(session.received(0, HELLO, 30 * MS), Action::Send);
    assert_eq!(session.sent(0, 3), Action::Send);
    assert_eq!(session.received(0, HELLO, 31 * MS), Action::Send);
    assert_eq!(session.received(0, HELLO, 32 * MS), Action::Close);
    let left = left(session);
    assert_eq!((left.requests, left.errors.wrong_reply), (2, 1));
}

#[test]
fn bytes_that_come_while_nothing_is_due_are_surplus() {
    for reply in [HELLO, LAST] {
        let mut session = started(1, None, EDGES);
        assert_eq!(session.received(0, &[reply, HELLO].concat(), 30 * MS), Action::Close);
        let record = left(session);
        assert_eq!((record.requests, record.errors.surplus, record.errors.total()), (1, 1, 1));
    }
}

#[test]
fn requests_behind_one_that_fails_are_lost() {
    let mut session = running(&LoadConfig { pipeline: 3, ..config(1) }, None, EDGES);
    send_all(&mut session, EDGES.start_ns);
    assert_eq!(session.finished(0, 30 * MS), Action::Close);
    let errors = left(session).errors;
    assert_eq!((errors.closed_early, errors.lost, errors.total()), (1, 2, 3));
}

#[test]
fn a_silent_connection_that_the_server_closes_is_lost_and_not_made_again() {
    let mut session = running(&LoadConfig { idle_connections: 1, ..config(1) }, None, EDGES);
    assert_eq!(session.finished(1, 30 * MS), Action::Close);
    assert!(!commands(&mut session, 90 * MS).contains(&Command::Connect(1)));
    let outcome = session.take_outcome();
    assert_eq!((outcome.idle_made, outcome.idle_lost), (1, 1));
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

#[test]
fn a_connection_takes_little_memory() {
    let bytes = size_of::<Slot<<Http1 as Codec>::Connection>>();
    assert!(bytes <= 512, "{bytes} bytes");
}
