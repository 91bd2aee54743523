//! One connection as a pure state machine: which requests were started, sent and answered, and
//! when.
//!
//! It knows nothing of sockets, of the meaning of bytes, or of when to send a request.

use std::collections::VecDeque;

/// The times of a request in flight.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Stamp {
    /// Its due time; in a closed loop, its start.
    pub(crate) due_ns: u64,
    /// Its start, just before it is sent.
    pub(crate) begun_ns: u64,
    pub(crate) is_sample: bool,
}

/// The requests in flight, oldest first. The oldest is separate, so that nothing is allocated if
/// there is never more than one.
#[derive(Debug, Default)]
struct InFlight {
    oldest: Option<Stamp>,
    others: VecDeque<Stamp>,
}

impl InFlight {
    fn push(&mut self, stamp: Stamp) {
        match self.oldest {
            None => self.oldest = Some(stamp),
            Some(_) => self.others.push_back(stamp),
        }
    }

    fn pop(&mut self) -> Option<Stamp> {
        let oldest = self.oldest.take();
        self.oldest = self.others.pop_front();
        oldest
    }

    fn len(&self) -> usize {
        usize::from(self.oldest.is_some()) + self.others.len()
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Origin {
    /// It is the first one in its place.
    Start,
    /// Either side closed the previous one in an orderly way.
    Renewal,
    Failure,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ConnState {
    /// There is none; it may be made at once, later, or never.
    Closed,
    Connecting {
        since_ns: u64,
    },
    Open,
}

#[derive(Debug)]
pub(crate) struct Connection {
    state: ConnState,
    origin: Origin,
    in_flight: InFlight,
    begun: u64,
    /// Bytes of them that have been sent.
    sent_bytes: u64,
}

impl Connection {
    /// A place for a connection that is yet to be made.
    pub(crate) fn new() -> Self {
        Self {
            state: ConnState::Closed,
            origin: Origin::Start,
            in_flight: InFlight::default(),
            begun: 0,
            sent_bytes: 0,
        }
    }

    pub(crate) fn connect(&mut self, now_ns: u64) {
        debug_assert_eq!(self.state, ConnState::Closed, "only what is closed is made again");
        self.state = ConnState::Connecting { since_ns: now_ns };
    }

    /// The connection is established. Returns why it was made.
    pub(crate) fn connected(&mut self) -> Origin {
        self.state = ConnState::Open;
        self.origin
    }

    /// The connection and its requests in flight have ended; another one is made for this reason,
    /// if at all.
    pub(crate) fn close(&mut self, origin: Origin) {
        self.state = ConnState::Closed;
        self.origin = origin;
        self.in_flight.oldest = None;
        self.in_flight.others.clear();
        self.begun = 0;
        self.sent_bytes = 0;
    }

    /// The server has closed the connection; its requests in flight are sent again on the next one.
    pub(crate) fn close_to_retry(&mut self) {
        self.state = ConnState::Closed;
        self.origin = Origin::Renewal;
        self.begun = self.in_flight.len() as u64;
        self.sent_bytes = 0;
    }

    /// Another request is to be sent, behind those that are, or as the first one of a connection that
    /// is to be made.
    pub(crate) fn begin(&mut self, stamp: Stamp) {
        debug_assert_eq!(self.connecting_since(), None, "it is there, or yet to be made");
        self.in_flight.push(stamp);
        self.begun += 1;
    }

    pub(crate) const fn begun(&self) -> u64 {
        self.begun
    }

    /// Bytes of the request stream that have been sent, and bytes left to send.
    pub(crate) const fn outgoing(&self, request_bytes: u64) -> (u64, u64) {
        (self.sent_bytes, self.begun * request_bytes - self.sent_bytes)
    }

    /// This many more bytes have been sent.
    pub(crate) const fn sent(&mut self, bytes: usize) {
        self.sent_bytes += bytes as u64;
    }

    /// Whether the oldest request in flight has been sent whole.
    pub(crate) fn is_oldest_sent(&self, request_bytes: u64) -> bool {
        let answered = self.begun - self.in_flight.len() as u64;
        self.sent_bytes >= (answered + 1) * request_bytes
    }

    /// The oldest request in flight has been answered. Says when it was due and begun.
    pub(crate) fn answered(&mut self) -> Option<Stamp> {
        self.in_flight.pop()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// The times of the requests without an answer, oldest first.
    pub(crate) fn stamps(&self) -> impl Iterator<Item = Stamp> + '_ {
        self.in_flight.oldest.into_iter().chain(self.in_flight.others.iter().copied())
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state == ConnState::Open
    }

    /// Whether there is neither a connection nor one being made.
    pub(crate) fn is_closed(&self) -> bool {
        self.state == ConnState::Closed
    }

    /// Since when the connection is being made, if it is.
    pub(crate) const fn connecting_since(&self) -> Option<u64> {
        match self.state {
            ConnState::Connecting { since_ns } => Some(since_ns),
            ConnState::Closed | ConnState::Open => None,
        }
    }

    /// Since when the server owes something: a connection or a reply.
    pub(crate) fn waiting_since(&self) -> Option<u64> {
        match self.state {
            ConnState::Closed => None,
            // A request that waits for the connection, or is sent again, began before.
            ConnState::Connecting { since_ns } => {
                Some(self.in_flight.oldest.map_or(since_ns, |stamp| stamp.begun_ns))
            }
            ConnState::Open => self.in_flight.oldest.map(|stamp| stamp.begun_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST_BYTES: u64 = 10;

    fn stamp(begun_ns: u64) -> Stamp {
        Stamp { due_ns: begun_ns, begun_ns, is_sample: true }
    }

    fn open() -> Connection {
        let mut connection = Connection::new();
        connection.connect(5);
        assert_eq!(connection.waiting_since(), Some(5));
        assert_eq!(connection.connected(), Origin::Start);
        connection
    }

    #[test]
    fn a_request_that_is_sent_in_parts_is_sent_only_when_its_last_byte_is() {
        let mut connection = open();
        assert_eq!(connection.waiting_since(), None);
        connection.begin(stamp(10));
        connection.sent(3);
        assert_eq!(connection.outgoing(REQUEST_BYTES), (3, 7));
        assert!(!connection.is_oldest_sent(REQUEST_BYTES));
        connection.sent(7);
        assert_eq!(connection.outgoing(REQUEST_BYTES), (10, 0));
        assert!(connection.is_oldest_sent(REQUEST_BYTES));
        assert_eq!((connection.in_flight(), connection.waiting_since()), (1, Some(10)));
        assert_eq!(connection.answered(), Some(stamp(10)));
        assert_eq!((connection.in_flight(), connection.answered()), (0, None));
    }

    #[test]
    fn the_second_of_two_requests_is_not_sent_with_the_first() {
        let mut connection = open();
        connection.begin(stamp(10));
        connection.begin(stamp(11));
        connection.sent(15);
        assert!(connection.is_oldest_sent(REQUEST_BYTES));
        connection.answered();
        assert!(!connection.is_oldest_sent(REQUEST_BYTES));
        assert_eq!(connection.outgoing(REQUEST_BYTES), (15, 5));
    }

    #[test]
    fn closing_drops_requests_in_flight_and_records_the_reason() {
        let mut connection = open();
        connection.begin(stamp(10));
        connection.begin(stamp(11));
        connection.close(Origin::Failure);
        assert!(connection.is_closed());
        assert_eq!((connection.in_flight(), connection.outgoing(REQUEST_BYTES)), (0, (0, 0)));
        connection.connect(20);
        assert_eq!(connection.connected(), Origin::Failure);
    }

    #[test]
    fn a_request_that_is_sent_again_keeps_its_times_and_is_the_first_of_the_next_connection() {
        let mut connection = open();
        connection.begin(stamp(10));
        connection.answered();
        connection.begin(stamp(11));
        connection.sent(20);
        connection.close_to_retry();
        assert_eq!((connection.is_closed(), connection.waiting_since()), (true, None));
        connection.connect(20);
        assert_eq!(connection.waiting_since(), Some(11));
        assert_eq!(connection.connected(), Origin::Renewal);
        assert_eq!((connection.begun(), connection.outgoing(REQUEST_BYTES)), (1, (0, 10)));
        connection.sent(10);
        assert!(connection.is_oldest_sent(REQUEST_BYTES));
        assert_eq!(connection.answered(), Some(stamp(11)));
    }

    #[test]
    fn stamps_come_back_in_the_order_in_which_they_were_set() {
        let mut connection = open();
        for round in 0..4 {
            for offset in 0..3 {
                connection.begin(stamp(round * 10 + offset));
            }
            assert_eq!(connection.stamps().count(), 3);
            for offset in 0..3 {
                assert_eq!(connection.answered(), Some(stamp(round * 10 + offset)));
            }
            assert_eq!(connection.answered(), None);
        }
    }
}
