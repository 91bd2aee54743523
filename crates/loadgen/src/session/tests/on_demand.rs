//! Connections that are made when a request needs them.

use super::*;
use std::time::Duration;

/// A session whose server announces the end of a connection behind each reply.
fn closing(config: &LoadConfig) -> Session<Http1> {
    let mut plan = Plan::new(config).unwrap();
    plan.params.one_request_each = true;
    session_of_plan(&plan)
}

/// The connection is made, and its request sent and answered.
fn serve(session: &mut Session<Http1>, slot: usize, now_ns: u64) {
    assert_eq!(session.connected(slot, now_ns), Action::Send);
    assert_eq!(session.outgoing(slot), REQUEST);
    send(session, slot);
    assert_eq!(session.received(slot, LAST, now_ns + MS / 2), Action::Close);
}

#[test]
fn where_each_carries_one_request_it_is_made_when_the_request_is_due_and_not_before() {
    let mut session = closing(&rate(2, 100));
    assert_eq!((session.is_settled(), session.made()), (true, 2));
    assert_eq!(commands(&mut session, 0), []);
    session.start(EDGES);
    for (number, slot) in [0, 1, 0, 1].into_iter().enumerate() {
        let due_ns = EDGES.start_ns + 10 * MS * number as u64;
        assert_eq!(commands(&mut session, due_ns - 1), []);
        assert_eq!(session.wakes_at(), due_ns);
        assert_eq!(commands(&mut session, due_ns), [Command::Connect(slot)]);
        serve(&mut session, slot, due_ns + MS);
    }
    let left = left(session);
    assert_eq!((left.requests, left.errors.total()), (3, 0));
    // Connecting belongs to the latency and to the service, and is not a lag.
    assert_eq!((left.latency.len(), left.latency.max() / 100_000), (3, 15));
    assert_eq!(left.collected.total.schedule.unwrap().lag.max(), 0);
}

#[test]
fn a_closed_loop_makes_them_all_before_it_begins() {
    let mut session = closing(&config(2));
    assert_eq!(commands(&mut session, 0), [Command::Connect(0), Command::Connect(1)]);
    assert!(!session.is_settled());
}

#[test]
fn a_free_connection_that_the_server_closes_is_made_again_when_its_turn_comes() {
    let mut session = running(&rate(2, 100), None, EDGES);
    assert_eq!(session.finished(0, EDGES.start_ns - MS), Action::Close);
    assert_eq!(commands(&mut session, EDGES.start_ns - MS), []);
    assert_eq!(commands(&mut session, EDGES.start_ns), [Command::Connect(0)]);
    assert_eq!(session.connected(0, EDGES.start_ns + MS), Action::Send);
    assert_eq!(commands(&mut session, EDGES.start_ns + 10 * MS), [Command::Send(1)]);
}

#[test]
fn a_request_whose_connection_is_not_made_in_time_has_timed_out_once() {
    let mut session = closing(&rate(1, 1));
    session.start(Edges { window_start_ns: EDGES.start_ns, ..COUNT_EDGES });
    assert_eq!(commands(&mut session, EDGES.start_ns), [Command::Connect(0)]);
    let late_ns = EDGES.start_ns + TIMEOUT_NS + 100 * MS;
    assert_eq!(commands(&mut session, late_ns), [Command::Close(0)]);
    let left = left(session);
    assert_eq!((left.errors.timeout, left.errors.total(), left.censored), (1, 1, 1));
}

#[test]
fn with_think_time_the_pause_begins_with_the_reply_and_the_connection_is_made_behind_it() {
    let model = LoadModel::Think { delay: Duration::from_millis(5) };
    let mut session = closing(&LoadConfig { model, ..config(1) });
    session.start(EDGES);
    assert_eq!(commands(&mut session, EDGES.start_ns), [Command::Connect(0)]);
    serve(&mut session, 0, EDGES.start_ns + MS);
    let next_ns = EDGES.start_ns + MS + MS / 2 + 5 * MS;
    assert_eq!(commands(&mut session, next_ns - 1), []);
    assert_eq!(commands(&mut session, next_ns), [Command::Connect(0)]);
}

#[test]
fn between_two_windows_all_are_made_again() {
    let mut session = session_of(&rate(2, 100), None);
    session.params.keeps_connections = true;
    stand(&mut session);
    session.start(EDGES);
    for slot in [0, 1] {
        assert_eq!(session.finished(slot, EDGES.start_ns - MS), Action::Close);
    }
    session.limit_end(EDGES.start_ns);
    session.tick(EDGES.start_ns);
    assert!(session.is_done());
    session.begin_rest();
    let made = commands(&mut session, EDGES.start_ns + MS);
    assert_eq!(made, [Command::Connect(0), Command::Connect(1)]);
}

#[test]
fn over_several_windows_those_of_one_request_each_are_made_only_within_them() {
    let mut plan = Plan::new(&rate(2, 100)).unwrap();
    plan.params.one_request_each = true;
    plan.params.keeps_connections = true;
    let mut session = session_of_plan(&plan);
    assert_eq!((session.is_settled(), session.made()), (true, 2));
    session.begin_rest();
    assert_eq!((commands(&mut session, 0), session.is_rested()), (Vec::new(), true));
    for model in [LoadModel::Closed, rate(2, 100).model] {
        let is_closed_loop = model == LoadModel::Closed;
        let other = LoadConfig { model, ..rate(2, 100) };
        plan.renew(&other, false);
        session.prepare(plan.params.clone(), None);
        assert_eq!(session.made(), 2);
        session.start(EDGES);
        let made = commands(&mut session, EDGES.start_ns);
        let all = [Command::Connect(0), Command::Connect(1)];
        assert_eq!(made, if is_closed_loop { &all[..] } else { &all[..1] });
        serve(&mut session, 0, EDGES.start_ns);
        let again = commands(&mut session, EDGES.start_ns + MS);
        assert_eq!(again, if is_closed_loop { &all[..1] } else { &[] });
        if is_closed_loop {
            assert_eq!(session.connected(1, EDGES.start_ns + MS), Action::Send);
            send(&mut session, 1);
        }
        let end_ns = EDGES.start_ns + 2 * MS;
        session.limit_end(end_ns);
        session.tick(end_ns);
        session.begin_rest();
        if is_closed_loop {
            assert_eq!(session.connected(0, end_ns + MS), Action::Close);
            assert_eq!(session.received(1, LAST, end_ns + MS), Action::Close);
        }
        let made = commands(&mut session, end_ns + 2 * MS);
        assert_eq!((made, session.is_rested()), (Vec::new(), true));
    }
}
