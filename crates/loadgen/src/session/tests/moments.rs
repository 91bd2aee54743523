//! Coincidences: an edge and an event, a start and a connection.

use super::*;
use wirebench_schema::load::{LoadModel, Stop};

#[test]
fn a_connection_made_between_start_and_start_ns_is_used() {
    let mut session = session(2, None);
    commands(&mut session, 0);
    session.connected(0, 1);
    session.failed(1, Errno::CONNREFUSED, 1);
    assert!(session.is_settled());
    session.start(EDGES);
    // The coordinator sets the start 2 ms ahead.
    assert_eq!(commands(&mut session, EDGES.start_ns - 2 * MS), [Command::Connect(1)]);
    session.connected(1, EDGES.start_ns - MS);
    let mut sent = commands(&mut session, EDGES.start_ns);
    sent.extend(commands(&mut session, EDGES.start_ns + 50 * MS));
    assert_eq!(sent, [Command::Send(0), Command::Send(1)]);
}

#[test]
fn a_pause_longer_than_three_timeouts_is_not_the_servers_silence() {
    let mut config = config(1);
    config.model = LoadModel::Think { delay: std::time::Duration::from_secs(5) };
    config.stop = Stop::Requests(3);
    let mut session = running(&config, Some(3), COUNT_EDGES);
    let mut now = COUNT_EDGES.start_ns;
    let mut replies = 0;
    while now < 30_000 * MS && !session.is_over() {
        for slot in send_all(&mut session, now) {
            session.received(slot, HELLO, now + 1000);
            replies += 1;
        }
        now = session.wakes_at().max(now + 1);
    }
    let left = left(session);
    assert_eq!((replies, left.requests, left.outcome.gave_up_requests), (4, 3, 0));
}

#[test]
fn a_connection_that_fails_while_draining_is_no_drained_request() {
    let mut session = running(&rate(2, 1000), None, EDGES);
    let now = EDGES.window_end_ns - 5 * MS;
    assert_eq!(send_all(&mut session, now), [0, 1]);
    // One fails and is being made again when the window ends.
    session.failed(1, Errno::CONNRESET, now);
    assert_eq!(commands(&mut session, now), [Command::Connect(1)]);
    commands(&mut session, EDGES.window_end_ns);
    assert!(!session.is_over());
    session.failed(1, Errno::CONNREFUSED, EDGES.window_end_ns + 1);
    assert!(!session.is_over(), "the request on connection 0 is still waited for");
}

#[test]
fn an_event_of_a_connection_that_has_just_expired_is_not_a_second_failure() {
    let end = EDGES.start_ns + TIMEOUT_NS + 5 * MS;
    let edges = Edges { window_end_ns: end, ..EDGES };
    let mut session = running(&rate(2, 1000), None, edges);
    send_all(&mut session, EDGES.start_ns);
    // The other one is younger.
    send_all(&mut session, EDGES.start_ns + 100 * MS);
    // The last look before the end is before the timeout, then the reply comes behind the end.
    commands(&mut session, EDGES.start_ns + TIMEOUT_NS - 1);
    session.received(0, HELLO, end + 1);
    let left = left(session);
    assert_eq!((left.errors.timeout, left.errors.total()), (1, 1), "{:?}", left.errors);
}

#[test]
fn a_count_that_is_stopped_in_the_warm_up_has_not_given_up() {
    let mut config = config(1);
    config.stop = Stop::Requests(100);
    let mut session =
        running(&config, Some(100), Edges { window_start_ns: 1000 * MS, ..COUNT_EDGES });
    commands(&mut session, 20 * MS);
    session.limit_end(30 * MS);
    commands(&mut session, 31 * MS);
    assert!(session.is_over());
    assert_eq!(session.take_outcome().gave_up_requests, 0);
}

#[test]
fn a_timeout_of_a_request_of_the_warm_up_is_no_sample_of_service() {
    let edges = Edges { window_end_ns: 3000 * MS, ..EDGES };
    let mut session = running(&rate(1, 1000), None, edges);
    send_all(&mut session, EDGES.start_ns);
    commands(&mut session, EDGES.start_ns + TIMEOUT_NS - 1);
    commands(&mut session, EDGES.start_ns + TIMEOUT_NS + 200 * MS);
    let left = left(session);
    let service = left.collected.total.schedule.unwrap().service;
    assert_eq!((left.errors.timeout, service.replies.len(), service.ages()), (1, 0, None));
}

#[test]
fn a_thread_that_came_late_while_connecting_is_no_stall_of_the_load() {
    let mut session = session(2, None);
    commands(&mut session, 0);
    session.connected(0, 1);
    commands(&mut session, 5 * MS);
    commands(&mut session, 80 * MS);
    session.connected(1, 80 * MS);
    session.start(Edges { start_ns: 82 * MS, window_start_ns: 82 * MS, window_end_ns: u64::MAX });
    commands(&mut session, 82 * MS);
    assert_eq!(left(session).collected.total.counts.stall_ns_max, 0);
}

/// A load at one request per millisecond, in which the engine comes at these moments after the
/// start, each time after a request for the next time. Every request is answered at once, until the
/// server pauses.
fn stalls(connections: usize, moments_ms: &[u64], pauses_at_ms: u64) -> (u64, u64) {
    let edges = Edges { window_start_ns: EDGES.start_ns, ..EDGES };
    let mut session = running(&rate(connections, 1000), None, edges);
    for moment_ms in moments_ms {
        let now_ns = EDGES.start_ns + moment_ms * MS;
        for slot in send_all(&mut session, now_ns) {
            if *moment_ms < pauses_at_ms {
                session.received(slot, HELLO, now_ns);
            }
        }
        session.wakes_at();
    }
    let counts = left(session).collected.total.counts;
    (counts.stall_ns_max, counts.stall_ns_total)
}

#[test]
fn the_time_in_which_an_engine_did_not_come_although_a_request_was_due_is_added_up() {
    assert_eq!(stalls(2, &(0..50).collect::<Vec<_>>(), u64::MAX), (0, 0));
    // It should have come after 3, 12 and 21 ms.
    assert_eq!(stalls(20, &[0, 1, 2, 10, 11, 20, 26], u64::MAX), (8 * MS, 20 * MS));
}

#[test]
fn an_engine_that_waits_because_the_server_pauses_is_not_late() {
    // From 2 ms on both connections wait for a reply, and nothing is to be done.
    assert_eq!(stalls(2, &[0, 1, 2, 3, 50], 2), (0, 0));
}

/// A closed loop whose engine looks at a batch of a thousand replies, 5 us each, over the end of a
/// record of 100 ms. Before the reply of this number something takes the thread's CPU for 8 ms.
fn stall_of_a_batch(interrupted_at: Option<usize>) -> u64 {
    let mut session = started(1000, None, Edges { window_end_ns: 10_000 * MS, ..EDGES });
    commands(&mut session, EDGES.window_start_ns);
    let edge_ns = session.wakes_at();
    let mut now_ns = edge_ns - MS;
    for slot in 0..1000 {
        now_ns += if interrupted_at == Some(slot) { 8 * MS } else { 5000 };
        exchange(&mut session, slot, now_ns);
    }
    assert!(now_ns > edge_ns + 3 * MS);
    session.tick(now_ns + 5000);
    left(session).collected.total.counts.stall_ns_total
}

#[test]
fn a_batch_of_replies_is_work_and_a_stall_within_it_is_seen() {
    assert_eq!(stall_of_a_batch(None), 0);
    // Minus the maximum time of one send.
    let stall_ns = stall_of_a_batch(Some(900));
    assert!((8 * MS - 20_000..=8 * MS).contains(&stall_ns), "{stall_ns}");
}

#[test]
fn sending_a_batch_in_one_system_call_is_work_and_not_a_stall() {
    let mut session = started(1000, None, Edges { window_end_ns: 10_000 * MS, ..EDGES });
    commands(&mut session, EDGES.window_start_ns);
    let edge_ns = session.wakes_at();
    let mut replied_ns = edge_ns - 5 * MS;
    for slot in 0..1000 {
        replied_ns += 1000;
        assert_eq!(session.received(slot, HELLO, replied_ns), Action::Send);
    }
    session.tick(replied_ns);
    session.wakes_at();
    // As a ring does it: the time is known again only when all is sent.
    (0..1000).for_each(|slot| send(&mut session, slot));
    session.tick(edge_ns + 4 * MS);
    assert_eq!(left(session).collected.total.counts.stall_ns_total, 0);
}

#[test]
fn overdue_requests_are_looked_for_a_few_connections_at_a_time() {
    let mut session = started(10_000, None, Edges { window_end_ns: 60_000 * MS, ..EDGES });
    let mut now_ns = EDGES.start_ns + TIMEOUT_NS;
    let mut closed = 0;
    while closed < 10_000 {
        assert!(now_ns < EDGES.start_ns + TIMEOUT_NS + 400 * MS, "only {closed} were found");
        let is_close = |command: &&Command| matches!(command, Command::Close(_));
        let found = commands(&mut session, now_ns).iter().filter(is_close).count();
        assert!(found <= 2048, "{found} at once");
        closed += found;
        now_ns = session.wakes_at().max(now_ns + 1);
    }
}

#[test]
fn nothing_breaks_when_a_send_of_an_expired_connection_is_reported() {
    let end = EDGES.start_ns + TIMEOUT_NS + 5 * MS;
    let mut session = running(&rate(2, 1000), None, Edges { window_end_ns: end, ..EDGES });
    commands(&mut session, EDGES.start_ns);
    commands(&mut session, EDGES.start_ns + 100 * MS);
    commands(&mut session, EDGES.start_ns + TIMEOUT_NS - 1);
    // As from the send of another connection that met an error in the same round.
    session.failed(1, Errno::CONNRESET, end + 1);
    session.sent(0, REQUEST.len());
}

/// A window that ends with nothing in flight is over at once: no event would wake the engine.
#[test]
fn a_window_over_kept_connections_is_not_slept_past() {
    let mut session = session_of(&rate(1, 100), None);
    session.params.keeps_connections = true;
    let [Command::Connect(slot)] = commands(&mut session, 0)[..] else { panic!("one place") };
    session.connected(slot, 0);
    session.start(EDGES);
    let mut now_ns = EDGES.start_ns;
    while !session.is_done() {
        for _ in commands(&mut session, now_ns) {
            send(&mut session, slot);
            exchange(&mut session, slot, now_ns);
        }
        if session.is_done() {
            break;
        }
        let wakes_at_ns = session.wakes_at();
        assert!(wakes_at_ns <= EDGES.window_end_ns, "{wakes_at_ns}");
        now_ns = wakes_at_ns.max(now_ns + 1);
    }
    assert_eq!(session.wakes_at(), 0);
    assert!(session.wakes_at() > now_ns);
}

#[test]
fn a_rest_waits_for_replies_while_some_come_and_makes_silent_connections_again() {
    let mut config = config(2);
    config.timeout = std::time::Duration::from_secs(60);
    let mut session = session_of(&config, None);
    session.params.keeps_connections = true;
    stand(&mut session);
    session.start(EDGES);
    send_all(&mut session, EDGES.start_ns);
    let end = EDGES.window_end_ns;
    commands(&mut session, end);
    session.begin_rest();
    assert!(commands(&mut session, end).is_empty());
    session.received(0, HELLO, end + 900 * MS);
    assert!(commands(&mut session, end + 1899 * MS).is_empty() && !session.is_answered());
    let again = [Command::Close(1), Command::Connect(1)];
    assert_eq!(commands(&mut session, end + 1900 * MS), again);
    assert!(session.is_answered());
    // Before the next window it is waited for, but not for a whole timeout.
    session.begin_rest();
    commands(&mut session, end + 2000 * MS);
    assert!(!session.is_rested());
    commands(&mut session, end + 2999 * MS);
    assert!(!session.is_rested());
    commands(&mut session, end + 3000 * MS);
    assert!(session.is_rested());
}
