//! A session over a protocol that names its requests: replies in any order, requests that end alone, and bytes of the
//! protocol's own.

use super::*;
use crate::codec::{
    Cancelled, Check, Event, Fed, Persistence, Reply, ReplyError, RequestId, Ticket,
};

/// Frames of two bytes: a kind, and the number of a request. The client greets with `h`, and may begin as many requests
/// as the last `S` of the server says.
#[derive(Clone, Debug)]
struct Frames;

#[derive(Debug, Default)]
struct FramesConnection {
    outgoing: Vec<u8>,
    room: usize,
}

const REPLY: Reply = Reply {
    status: Some(200),
    is_refusal: false,
    interim_replies: 0,
    persistence: Persistence::Keep,
    check: Check::Fast,
};

impl Codec for Frames {
    type Connection = FramesConnection;
    const SPEAKS: bool = true;

    fn connection(&self, _: usize) -> FramesConnection {
        FramesConnection::default()
    }

    fn restart(&mut self, connection: &mut FramesConnection) {
        *connection = FramesConnection { outgoing: b"h0".to_vec(), room: 0 };
    }

    fn room(&self, connection: &FramesConnection, depth: usize) -> usize {
        connection.room.min(depth)
    }

    fn begin(&mut self, connection: &mut FramesConnection, _: RequestId, Ticket(ticket): Ticket) {
        connection.outgoing.extend([b'q', b'0' + u8::try_from(ticket).unwrap()]);
    }

    fn unsent_bytes(&self, connection: &FramesConnection) -> u64 {
        connection.outgoing.len() as u64
    }

    fn outgoing<'a>(&'a self, connection: &'a FramesConnection) -> &'a [u8] {
        &connection.outgoing
    }

    fn sent(&mut self, connection: &mut FramesConnection, bytes: usize) {
        connection.outgoing.drain(..bytes);
    }

    fn cancel(&mut self, connection: &mut FramesConnection, Ticket(ticket): Ticket) -> Cancelled {
        connection.outgoing.extend([b'c', b'0' + u8::try_from(ticket).unwrap()]);
        Cancelled::Alone
    }

    fn reply_bytes_hint(&self) -> usize {
        2
    }

    fn feed(&mut self, connection: &mut FramesConnection, bytes: &[u8]) -> Result<Fed, ReplyError> {
        let number = bytes[1] - b'0';
        let ticket = Ticket(u32::from(number));
        let event = match bytes[0] {
            b'R' => Some(Event::ReplyTo(ticket, REPLY)),
            b'X' => Some(Event::Refused(ticket)),
            b'F' => Some(Event::Failed(ticket, Box::new(ReplyError::Framing("broken")))),
            b'G' => Some(Event::Closing),
            b'S' => {
                connection.room = usize::from(number);
                Some(Event::Ready)
            }
            b'P' => {
                connection.outgoing.extend([b'p', bytes[1]]);
                None
            }
            _ => return Err(ReplyError::Framing("unknown frame")),
        };
        Ok(Fed { consumed: 2, event })
    }

    fn finish(&mut self, _: &mut FramesConnection) -> Result<Option<Event>, ReplyError> {
        Ok(None)
    }
}

fn session_with(config: &LoadConfig) -> Session<Frames> {
    let plan = Plan::new(config).unwrap();
    let mut session = Session::new(&plan.shares[0], plan.params.clone(), &Frames, || 0);
    for command in commands(&mut session, 0) {
        let Command::Connect(slot) = command else { panic!("{command:?}") };
        assert_eq!(session.connected(slot, 1), Action::Send);
    }
    session
}

/// One connection in a closed loop of three requests; the server lets as many be in flight as `room` says.
fn started_with(room: &[u8]) -> Session<Frames> {
    let mut session = session_with(&LoadConfig { pipeline: 3, ..config(1) });
    assert_eq!(said(&mut session, 0), "h0");
    session.start(EDGES);
    assert_eq!(commands(&mut session, EDGES.start_ns), []);
    assert_eq!(session.received(0, room, EDGES.start_ns), Action::Send);
    session
}

/// Takes all that is to be sent.
fn said(session: &mut Session<Frames>, slot: usize) -> String {
    let bytes = session.outgoing(slot).to_vec();
    assert!(session.outgoing_is_all(slot, bytes.len()));
    session.sent(slot, bytes.len());
    String::from_utf8(bytes).unwrap()
}

#[test]
fn requests_begin_when_the_server_lets_them_and_each_reply_ends_its_own() {
    let mut session = started_with(b"S2");
    assert_eq!(said(&mut session, 0), "q0q1");
    assert_eq!(session.received(0, b"S3", 20 * MS), Action::Send);
    assert_eq!(said(&mut session, 0), "q2");
    // The second was begun at 10 ms and the third at 20.
    assert_eq!(session.received(0, b"R2", 21 * MS), Action::Send);
    assert_eq!(session.received(0, b"R1", 30 * MS), Action::Send);
    assert_eq!(said(&mut session, 0), "q2q1");
    let left = left(session);
    assert_eq!((left.requests, left.errors.total()), (2, 0));
    let took_ms = [left.latency.min(), left.latency.max()].map(|it| (it + MS / 2) / MS);
    assert_eq!(took_ms, [1, 20]);
}

#[test]
fn a_request_that_fails_or_is_overdue_ends_alone_while_other_bytes_come() {
    let mut session = started_with(b"S3");
    said(&mut session, 0);
    assert_eq!(session.received(0, b"F1", 20 * MS), Action::Send);
    assert_eq!(said(&mut session, 0), "q1");
    let late_ns = EDGES.start_ns + TIMEOUT_NS;
    let edges = Edges { window_end_ns: u64::MAX, ..EDGES };
    session.edges = edges;
    session.phase_end_ns = edges.window_end_ns;
    session.received(0, b"R2", late_ns - MS);
    said(&mut session, 0);
    assert_eq!(commands(&mut session, late_ns), [Command::Send(0)]);
    assert_eq!(said(&mut session, 0), "c0q0");
    // Nothing comes any more: the connection is gone.
    let end_ns = late_ns + 2 * TIMEOUT_NS;
    assert!(commands(&mut session, end_ns).contains(&Command::Close(0)));
    let left = left(session);
    assert_eq!((left.errors.wrong_reply, left.requests), (1, 1));
    assert!(left.errors.timeout >= 2, "{:?}", left.errors);
}

#[test]
fn what_the_server_has_not_processed_is_sent_again_three_times() {
    let mut session = started_with(b"S1");
    assert_eq!(said(&mut session, 0), "q0");
    for _ in 0..3 {
        assert_eq!(session.received(0, b"X0", 20 * MS), Action::Send);
        assert_eq!(said(&mut session, 0), "q0");
    }
    session.received(0, b"X0", 21 * MS);
    let left = left(session);
    assert_eq!((left.errors.wrong_reply, left.errors.total()), (1, 1));
    assert_eq!(left.collected.total.counts.retried, 3);
}

#[test]
fn a_closing_connection_answers_the_rest_and_the_next_one_carries_what_was_refused() {
    let mut session = started_with(b"S3");
    said(&mut session, 0);
    assert_eq!(session.received(0, b"G0X1X2", 20 * MS), Action::Wait);
    assert_eq!(session.received(0, b"R0", 22 * MS), Action::Close);
    assert_eq!(commands(&mut session, 22 * MS), [Command::Connect(0)]);
    session.connected(0, 23 * MS);
    assert_eq!(said(&mut session, 0), "h0q1q2");
    session.received(0, b"S3R1R2", 30 * MS);
    let left = left(session);
    assert_eq!((left.requests, left.errors.total()), (3, 0));
    assert_eq!((left.latency.max() + MS / 2) / MS, 20);
}

/// The share of answered requests on a connection that carries three, when each turn finds these replies.
fn ready_share(turns: &[&[u8]]) -> f64 {
    let mut session = started_with(b"S3");
    said(&mut session, 0);
    for (at_ms, replies) in (20..).zip(turns) {
        session.found(1, 1);
        session.received(0, replies, at_ms * MS);
        said(&mut session, 0);
    }
    session.found(0, 1);
    let counts = left(session).collected.total.counts.clone();
    counts.ready_found as f64 / counts.ready_possible as f64
}

#[test]
fn one_connection_with_many_requests_is_as_ready_as_its_replies() {
    // One after the other, they come from a server that is the limit; all at once, they have waited.
    let share = ready_share(&[b"R0", b"R1", b"R2", b"R0"]);
    assert!((0.33..0.34).contains(&share), "{share}");
    let share = ready_share(&[b"R0R1R2", b"R2R0R1"]);
    assert!(share > 0.99, "{share}");
}

#[test]
fn a_ping_is_answered_in_every_phase_and_on_a_silent_connection() {
    let mut session = session_with(&LoadConfig { idle_connections: 1, ..config(1) });
    for slot in 0..2 {
        assert_eq!(said(&mut session, slot), "h0");
        assert_eq!(session.received(slot, b"S0P4", 2), Action::Send);
        assert_eq!(said(&mut session, slot), "p4");
    }
    session.start(EDGES);
    assert_eq!(session.received(1, b"P5", 15 * MS), Action::Send);
    assert_eq!(said(&mut session, 1), "p5");
    assert_eq!(session.received(0, b"P6", 30 * MS), Action::Send);
    assert_eq!(said(&mut session, 0), "p6");
    // A reply to nothing is none of the protocol's own bytes.
    assert_eq!(session.received(1, b"R0", 31 * MS), Action::Close);
    assert_eq!(session.take_outcome().idle_lost, 1);
}
