//! The bytes that one connection owes its peer. Pure: an engine does the I/O.
//!
//! For `hello` the debt is a number, because the bytes are static. For `echo` it is the bytes that
//! could not be sent at once. The engine sets the limit and stops receiving while too much is owed.

use std::hint::black_box;

use crate::head::HeadCounter;
use crate::reply::Replies;
use crate::service::Service;

#[derive(Debug)]
pub(crate) enum Connection {
    Hello {
        heads: HeadCounter,
        replies: Replies,
        /// Steps of extra work for each head.
        extra_work: u32,
        /// Bytes of replies that are not sent yet; always ends at the end of a reply.
        owed: usize,
    },
    /// Bytes that came in and have not gone out again.
    Echo(Backlog),
}

/// Bytes to be sent back, in two parts so that the part that the kernel may be reading never moves.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    /// The older bytes. They stay where they are from `next_output` until all of them are sent.
    sending: Vec<u8>,
    /// How many of the older bytes are sent.
    sent: usize,
    /// The younger bytes, which may still grow.
    waiting: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(service: Service) -> Self {
        match service {
            Service::Hello { replies, extra_work } => {
                Self::Hello { heads: HeadCounter::default(), replies, extra_work, owed: 0 }
            }
            Service::Echo => Self::Echo(Backlog::default()),
        }
    }

    /// Takes the peer's bytes, and owes the replies to them.
    pub(crate) fn receive(&mut self, input: &[u8]) {
        match self {
            Self::Hello { heads, replies, extra_work, owed } => {
                let requests = heads.count(input);
                work(requests as u64 * u64::from(*extra_work));
                *owed += requests * replies.reply_bytes();
            }
            Self::Echo(backlog) => backlog.waiting.extend_from_slice(input),
        }
    }

    /// Whether the next input is itself the next output, so that it can be sent without being taken
    /// in first.
    pub(crate) fn input_is_output(&self) -> bool {
        matches!(self, Self::Echo(_)) && self.owed() == 0
    }

    /// Whether `next_output` is static memory, valid whatever becomes of the connection.
    pub(crate) fn output_is_static(&self) -> bool {
        matches!(self, Self::Hello { .. })
    }

    /// How many bytes are still to be sent.
    pub(crate) fn owed(&self) -> usize {
        match self {
            Self::Hello { owed, .. } => *owed,
            Self::Echo(backlog) => backlog.sending.len() - backlog.sent + backlog.waiting.len(),
        }
    }

    /// The next bytes to send: empty only when nothing is owed, and not necessarily everything that
    /// is owed.
    ///
    /// They stay valid and in place until `sent` is called, whatever is received in between.
    pub(crate) fn next_output(&mut self) -> &[u8] {
        match self {
            Self::Hello { replies, owed, .. } => replies.next(*owed),
            Self::Echo(backlog) => {
                if backlog.sent == backlog.sending.len() {
                    backlog.sending.clear();
                    backlog.sent = 0;
                    std::mem::swap(&mut backlog.sending, &mut backlog.waiting);
                }
                &backlog.sending[backlog.sent..]
            }
        }
    }

    /// Notes that the first `count` bytes of `next_output` are sent.
    pub(crate) fn sent(&mut self, count: usize) {
        match self {
            Self::Hello { owed, .. } => {
                assert!(count <= *owed, "more was sent than was owed");
                *owed -= count;
            }
            Self::Echo(backlog) => {
                assert!(
                    count <= backlog.sending.len() - backlog.sent,
                    "more was sent than was owed"
                );
                backlog.sent += count;
            }
        }
    }

    /// Takes back the last bytes that were noted as sent, because they were not. Only replies can
    /// be taken back.
    pub(crate) fn unsent(&mut self, count: usize) {
        match self {
            Self::Hello { owed, .. } => *owed += count,
            Self::Echo(_) => unreachable!("an echo is noted as sent only once it is"),
        }
    }
}

/// Does steps of arithmetic, each of which needs the result of the one before, and of which a compiler cannot join
/// several. Unlike a wait for a clock, a few of them take a few nanoseconds.
fn work(steps: u64) {
    let mut state = black_box(1_u64);
    for _ in 0..steps {
        state = (state ^ (state >> 29)).wrapping_mul(6_364_136_223_846_793_005);
    }
    black_box(state);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::BODY_BYTES;
    use proptest::prelude::*;

    /// A connection of `hello`, and one of its replies.
    fn hello() -> (Connection, &'static [u8]) {
        let replies = Replies::with_body_of(BODY_BYTES);
        let one = replies.next(replies.reply_bytes());
        (Connection::new(Service::Hello { replies, extra_work: 3 }), one)
    }

    /// Sends up to `limit` bytes of what comes next.
    fn send_some(connection: &mut Connection, limit: usize, output: &mut Vec<u8>) {
        let next = connection.next_output();
        let count = next.len().min(limit);
        output.extend_from_slice(&next[..count]);
        connection.sent(count);
    }

    #[test]
    fn half_a_head_owes_nothing() {
        let (mut connection, reply) = hello();
        connection.receive(b"GET / HTTP/1.1\r\n");
        assert_eq!(connection.owed(), 0);
        connection.receive(b"\r\n");
        assert_eq!(connection.owed(), reply.len());
    }

    #[test]
    fn replies_taken_back_are_sent_again_from_where_they_stopped() {
        let (mut connection, reply) = hello();
        connection.receive(b"\r\n\r\n\r\n\r\n");
        let mut output = connection.next_output()[..100].to_vec();
        connection.sent(2 * reply.len());
        connection.unsent(2 * reply.len() - 100);
        send_some(&mut connection, usize::MAX, &mut output);
        assert_eq!(output, reply.repeat(2));
    }

    #[test]
    fn an_echo_can_skip_the_backlog_only_while_it_is_empty() {
        let mut connection = Connection::new(Service::Echo);
        assert!(connection.input_is_output());
        connection.receive(b"x");
        assert!(!connection.input_is_output());
        send_some(&mut connection, 1, &mut Vec::new());
        assert!(connection.input_is_output());
        assert!(!hello().0.input_is_output());
    }

    #[test]
    fn output_stays_in_place_while_more_is_received() {
        let mut connection = Connection::new(Service::Echo);
        connection.receive(b"first");
        let before = connection.next_output().as_ptr();
        connection.receive(&[0; 1 << 16]);
        assert_eq!(connection.next_output().as_ptr(), before);
        assert_eq!(connection.next_output(), b"first");
    }

    proptest! {
        #[test]
        fn an_echo_returns_every_byte_in_order(
            steps in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), 0_usize..60), 0..40),
        ) {
            let mut connection = Connection::new(Service::Echo);
            let (mut input, mut output) = (Vec::new(), Vec::new());
            for (piece, limit) in steps {
                connection.receive(&piece);
                input.extend_from_slice(&piece);
                send_some(&mut connection, limit, &mut output);
                prop_assert_eq!(connection.owed(), input.len() - output.len());
            }
            while connection.owed() > 0 {
                send_some(&mut connection, usize::MAX, &mut output);
            }
            prop_assert_eq!(input, output);
        }
    }
}
