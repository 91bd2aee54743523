//! One connection as a pure state machine: what has been sent, what is due, and since when.
//!
//! It knows nothing of sockets, of what the bytes mean, or of when a request should be sent.

/// How many requests may be in flight on one connection.
pub(crate) const DEPTH: usize = 1;

/// The times at which the requests in flight were sent, oldest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamps<const N: usize> {
    times_ns: [u64; N],
    oldest: usize,
    length: usize,
}

impl<const N: usize> Stamps<N> {
    const fn new() -> Self {
        Self { times_ns: [0; N], oldest: 0, length: 0 }
    }

    fn push(&mut self, now_ns: u64) {
        assert!(self.length < N, "a request was begun although as many as allowed are in flight");
        self.times_ns[(self.oldest + self.length) % N] = now_ns;
        self.length += 1;
    }

    fn pop(&mut self) -> Option<u64> {
        let oldest = self.oldest()?;
        self.oldest = (self.oldest + 1) % N;
        self.length -= 1;
        Some(oldest)
    }

    fn oldest(&self) -> Option<u64> {
        (self.length > 0).then(|| self.times_ns[self.oldest])
    }
}

/// Why a connection is made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Origin {
    /// It is the first one in its place.
    Start,
    /// The server ended the one before in an orderly way.
    Renewal,
    /// The one before failed.
    Failure,
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    /// There is none; it may be made at once, later, or never.
    Closed,
    /// It is being made.
    Connecting { since_ns: u64 },
    /// It stands.
    Open,
}

/// What a connection has to do next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Next {
    /// Bytes of the request are left to send.
    Send,
    /// All has been sent; a reply is due.
    Await,
}

/// One connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection {
    stage: Stage,
    origin: Origin,
    /// How much of the newest request has been sent; nothing once it was sent whole.
    sent: Option<usize>,
    stamps: Stamps<DEPTH>,
}

impl Connection {
    /// A place for a connection that is yet to be made.
    pub(crate) const fn new() -> Self {
        Self { stage: Stage::Closed, origin: Origin::Start, sent: None, stamps: Stamps::new() }
    }

    /// The connection is being made.
    pub(crate) fn connect(&mut self, now_ns: u64) {
        debug_assert_eq!(self.stage, Stage::Closed, "only what is closed is made again");
        self.stage = Stage::Connecting { since_ns: now_ns };
    }

    /// The connection stands. Says why it was made.
    pub(crate) fn connected(&mut self) -> Origin {
        self.stage = Stage::Open;
        self.origin
    }

    /// The connection is over, and with it what was in flight; another one is made for this reason,
    /// if at all.
    pub(crate) fn close(&mut self, origin: Origin) {
        *self = Self { origin, ..Self::new() };
    }

    /// A request is to be sent from its first byte on.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        debug_assert_eq!(self.stage, Stage::Open, "only an open connection sends");
        self.stamps.push(now_ns);
        self.sent = Some(0);
    }

    /// How much of the request has been sent; nothing when none is being sent.
    pub(crate) const fn sending_from(&self) -> Option<usize> {
        self.sent
    }

    /// So many more bytes of a request of this length have been sent.
    pub(crate) fn sent(&mut self, bytes: usize, request_bytes: usize) -> Next {
        let total = self.sent.unwrap_or(request_bytes) + bytes;
        if total < request_bytes {
            self.sent = Some(total);
            return Next::Send;
        }
        self.sent = None;
        Next::Await
    }

    /// The oldest request in flight has been answered. Says when it was begun.
    pub(crate) fn answered(&mut self) -> Option<u64> {
        self.stamps.pop()
    }

    /// Requests without an answer.
    pub(crate) const fn in_flight(&self) -> usize {
        self.stamps.length
    }

    /// Whether there is a connection.
    pub(crate) fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// Whether there is neither a connection nor one being made.
    pub(crate) fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// Whether the connection is being made.
    pub(crate) const fn is_connecting(&self) -> bool {
        matches!(self.stage, Stage::Connecting { .. })
    }

    /// Since when the server owes something: a connection or a reply.
    pub(crate) fn waiting_since(&self) -> Option<u64> {
        match self.stage {
            Stage::Closed => None,
            Stage::Connecting { since_ns } => Some(since_ns),
            Stage::Open => self.stamps.oldest(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Connection {
        let mut connection = Connection::new();
        connection.connect(5);
        assert_eq!(connection.waiting_since(), Some(5));
        assert_eq!(connection.connected(), Origin::Start);
        connection
    }

    #[test]
    fn a_request_that_is_sent_in_parts_is_awaited_only_when_it_is_sent_whole() {
        let mut connection = open();
        assert_eq!(connection.waiting_since(), None);
        connection.begin(10);
        assert_eq!(connection.sent(3, 10), Next::Send);
        assert_eq!(connection.sending_from(), Some(3));
        assert_eq!(connection.sent(7, 10), Next::Await);
        assert_eq!(connection.sending_from(), None);
        assert_eq!((connection.in_flight(), connection.waiting_since()), (1, Some(10)));
        assert_eq!(connection.answered(), Some(10));
        assert_eq!((connection.in_flight(), connection.answered()), (0, None));
    }

    #[test]
    fn closing_forgets_what_was_in_flight_and_remembers_why() {
        let mut connection = open();
        connection.begin(10);
        connection.close(Origin::Failure);
        assert!(connection.is_closed());
        assert_eq!((connection.in_flight(), connection.sending_from()), (0, None));
        connection.connect(20);
        assert_eq!(connection.connected(), Origin::Failure);
    }

    #[test]
    fn stamps_come_back_in_the_order_in_which_they_were_set() {
        let mut stamps = Stamps::<3>::new();
        for round in 0..4 {
            for offset in 0..3 {
                stamps.push(round * 10 + offset);
            }
            for offset in 0..3 {
                assert_eq!(stamps.pop(), Some(round * 10 + offset));
            }
            assert_eq!(stamps.pop(), None);
        }
    }
}
