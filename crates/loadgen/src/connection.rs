//! One connection as a pure state machine: which requests are in flight, and since when.
//!
//! It knows nothing of sockets, of bytes and their meaning, or of when to send a request.

pub(crate) use crate::in_flight::Stamp;
use crate::{codec::Ticket, in_flight::InFlight};

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
    /// Whether the server takes no further request on it.
    is_closing: bool,
    in_flight: InFlight,
    /// How many of them wait for the next connection.
    held: usize,
    begun: u64,
    heard_ns: u64,
}

impl Connection {
    /// A place for a connection that is yet to be made.
    pub(crate) fn new() -> Self {
        Self {
            state: ConnState::Closed,
            origin: Origin::Start,
            is_closing: false,
            in_flight: InFlight::new(),
            held: 0,
            begun: 0,
            heard_ns: 0,
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
        self.in_flight.clear();
        self.end(origin);
    }

    /// The server has closed the connection; its requests in flight are sent again on the next one.
    pub(crate) fn close_to_retry(&mut self) {
        self.end(Origin::Renewal);
    }

    fn end(&mut self, origin: Origin) {
        self.state = ConnState::Closed;
        self.origin = origin;
        self.is_closing = false;
        self.held = 0;
        self.begun = self.in_flight.len() as u64;
    }

    /// Another request is to be sent, behind those that are, or as the first one of a connection that
    /// is to be made.
    #[inline]
    pub(crate) fn begin(&mut self, stamp: Stamp) -> Ticket {
        debug_assert_eq!(self.connecting_since(), None, "it is there, or yet to be made");
        self.begun += 1;
        self.in_flight.push(stamp)
    }

    pub(crate) const fn begun(&self) -> u64 {
        self.begun
    }

    /// The server takes no further request.
    pub(crate) const fn announce_end(&mut self) {
        self.is_closing = true;
    }

    pub(crate) const fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// Bytes have come.
    pub(crate) const fn heard(&mut self, now_ns: u64) {
        self.heard_ns = now_ns;
    }

    /// When bytes came for the last time.
    pub(crate) const fn heard_ns(&self) -> u64 {
        self.heard_ns
    }

    /// This request in flight has been answered or given up. Says when it was due and begun.
    #[inline]
    pub(crate) fn ended(&mut self, ticket: Ticket) -> Stamp {
        self.in_flight.remove(ticket)
    }

    /// Whether the server owes no reply on this connection.
    pub(crate) const fn owes_nothing(&self) -> bool {
        self.in_flight.len() == self.held
    }

    /// The request waits for the next connection.
    pub(crate) const fn hold_one(&mut self) {
        self.held += 1;
    }

    /// The server has not processed the request. Says how often that has happened.
    pub(crate) fn refused(&mut self, ticket: Ticket) -> u8 {
        let refusals = &mut self.in_flight.stamp_mut(ticket).refusals;
        *refusals = refusals.saturating_add(1);
        *refusals
    }

    #[inline]
    pub(crate) const fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// The request that is in flight for the longest time.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<Ticket> {
        self.in_flight.oldest()
    }

    /// The times of a request in flight.
    #[inline]
    pub(crate) fn stamp(&self, ticket: Ticket) -> &Stamp {
        self.in_flight.stamp(ticket)
    }

    /// The requests without an answer, oldest first.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (Ticket, Stamp)> + '_ {
        self.in_flight.iter()
    }

    /// Their times.
    pub(crate) fn stamps(&self) -> impl Iterator<Item = Stamp> + '_ {
        self.in_flight.iter().map(|(_, stamp)| stamp)
    }

    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.state == ConnState::Open
    }

    /// Whether there is neither a connection nor one being made.
    #[inline]
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
    #[inline]
    pub(crate) fn waiting_since(&self) -> Option<u64> {
        let oldest_ns = || Some(self.in_flight.stamp(self.in_flight.oldest()?).begun_ns);
        match self.state {
            ConnState::Closed => None,
            // A request that waits for the connection, or is sent again, began before.
            ConnState::Connecting { since_ns } => Some(oldest_ns().unwrap_or(since_ns)),
            ConnState::Open => oldest_ns(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(begun_ns: u64) -> Stamp {
        Stamp { due_ns: begun_ns, begun_ns, is_sample: true, ..Stamp::default() }
    }

    fn open() -> Connection {
        let mut connection = Connection::new();
        connection.connect(5);
        assert_eq!(connection.waiting_since(), Some(5));
        assert_eq!(connection.connected(), Origin::Start);
        connection
    }

    #[test]
    fn closing_drops_requests_in_flight_and_records_the_reason() {
        let mut connection = open();
        assert_eq!(connection.waiting_since(), None);
        connection.begin(stamp(10));
        connection.begin(stamp(11));
        connection.announce_end();
        assert_eq!((connection.in_flight(), connection.waiting_since()), (2, Some(10)));
        connection.close(Origin::Failure);
        assert!(connection.is_closed() && !connection.is_closing());
        assert_eq!((connection.in_flight(), connection.begun()), (0, 0));
        connection.connect(20);
        assert_eq!(connection.connected(), Origin::Failure);
    }

    #[test]
    fn a_request_that_is_sent_again_keeps_its_times_and_is_the_first_of_the_next_connection() {
        let mut connection = open();
        let first = connection.begin(stamp(10));
        assert_eq!(connection.ended(first), stamp(10));
        let second = connection.begin(stamp(11));
        connection.close_to_retry();
        assert_eq!((connection.is_closed(), connection.waiting_since()), (true, None));
        connection.connect(20);
        assert_eq!(connection.waiting_since(), Some(11));
        assert_eq!(connection.connected(), Origin::Renewal);
        assert_eq!((connection.begun(), connection.oldest()), (1, Some(second)));
        assert_eq!(connection.ended(second), stamp(11));
    }
}
