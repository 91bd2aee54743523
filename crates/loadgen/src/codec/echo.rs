//! Echo over TCP: each connection sends random bytes of its own, numbered per message, and compares
//! every byte.
//!
//! The number stands in the first bytes of the message, as many as fit, so that a reply that
//! belongs to an earlier message or to another connection does not pass.

use crate::codec::{Codec, ConnectionCodec, Fed, Persistence, Reply, ReplyError};

/// Bytes of the message number.
const NUMBER_BYTES: usize = 8;

const ECHOED: Reply = Reply { status: None, interim_replies: 0, persistence: Persistence::Keep };

/// What the echo of a whole load has in common.
#[derive(Clone, Debug)]
pub(crate) struct Echo {
    /// Bytes of a message, at least one.
    pub(crate) payload_bytes: usize,
    /// Where the random payload comes from.
    pub(crate) seed: u64,
}

/// The messages of one connection.
#[derive(Debug)]
pub(crate) struct EchoConnection {
    /// The message as it is sent: number, then random bytes.
    message: Box<[u8]>,
    /// How many of the first bytes are the number.
    number_bytes: usize,
    /// The number of the next message to send.
    next_number: u64,
    /// The number of the message whose echo is due.
    due_number: u64,
    /// How much of that echo has come.
    position: usize,
}

impl Codec for Echo {
    type Connection = EchoConnection;

    fn connection(&self, number: usize) -> EchoConnection {
        // Two odd constants keep the seeds of neighbouring connections far apart.
        let mixed = self.seed ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = fastrand::Rng::with_seed(mixed.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let mut message = vec![0; self.payload_bytes].into_boxed_slice();
        random.fill(&mut message);
        EchoConnection {
            message,
            number_bytes: NUMBER_BYTES.min(self.payload_bytes),
            next_number: 0,
            due_number: 0,
            position: 0,
        }
    }
}

impl ConnectionCodec for EchoConnection {
    fn restart(&mut self) {
        self.position = 0;
        self.due_number = self.next_number;
    }

    fn begin(&mut self) {
        let number = self.next_number.to_le_bytes();
        self.message[..self.number_bytes].copy_from_slice(&number[..self.number_bytes]);
        self.next_number = self.next_number.wrapping_add(1);
    }

    fn request(&self) -> &[u8] {
        &self.message
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<Fed, ReplyError> {
        let consumed = bytes.len().min(self.message.len() - self.position);
        let number = self.due_number.to_le_bytes();
        let numbered = self.number_bytes.saturating_sub(self.position).min(consumed);
        let (head, tail) = bytes[..consumed].split_at(numbered);
        self.compare(head, &number[self.position.min(NUMBER_BYTES)..][..numbered], 0)?;
        let start = self.position + numbered;
        self.compare(tail, &self.message[start..start + tail.len()], numbered)?;
        self.position += consumed;
        if self.position < self.message.len() {
            return Ok(Fed { consumed, reply: None });
        }
        self.position = 0;
        self.due_number = self.due_number.wrapping_add(1);
        Ok(Fed { consumed, reply: Some(ECHOED) })
    }

    fn finish(&mut self) -> Result<Option<Reply>, ReplyError> {
        Ok(None)
    }
}

impl EchoConnection {
    fn compare(&self, received: &[u8], sent: &[u8], offset: usize) -> Result<(), ReplyError> {
        if received == sent {
            return Ok(());
        }
        // The position of the difference is looked for only once there is one.
        let at = received.iter().zip(sent).position(|(a, b)| a != b).unwrap_or(0);
        Err(ReplyError::EchoDiffers {
            at: self.position + offset + at,
            sent: sent[at],
            received: received[at],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn connection(payload_bytes: usize, number: usize) -> EchoConnection {
        Echo { payload_bytes, seed: 7 }.connection(number)
    }

    #[test]
    fn two_connections_send_different_bytes_and_two_messages_differ() {
        let (mut a, mut b) = (connection(64, 0), connection(64, 1));
        a.begin();
        b.begin();
        let first = a.request().to_vec();
        assert_ne!(first, b.request());
        a.begin();
        assert_ne!(first, a.request());
        assert_eq!(first[8..], a.request()[8..]);
    }

    #[test]
    fn the_echo_of_an_earlier_message_does_not_pass() {
        let mut connection = connection(16, 0);
        connection.begin();
        let first = connection.request().to_vec();
        assert_eq!(connection.feed(&first), Ok(Fed { consumed: 16, reply: Some(ECHOED) }));
        connection.begin();
        assert_eq!(
            connection.feed(&first),
            Err(ReplyError::EchoDiffers { at: 0, sent: 1, received: 0 })
        );
    }

    #[test]
    fn a_message_that_was_cut_off_is_not_due_after_a_restart() {
        let mut connection = connection(16, 0);
        connection.begin();
        let half = connection.request()[..8].to_vec();
        connection.feed(&half).unwrap();
        connection.restart();
        connection.begin();
        let message = connection.request().to_vec();
        assert!(connection.feed(&message).unwrap().reply.is_some());
    }

    #[test]
    fn bytes_behind_the_echo_are_left_to_the_caller() {
        let mut connection = connection(3, 0);
        connection.begin();
        let mut bytes = connection.request().to_vec();
        bytes.push(9);
        assert_eq!(connection.feed(&bytes).unwrap().consumed, 3);
    }

    proptest! {
        #[test]
        fn any_split_of_an_echo_gives_the_same_verdict(
            size in 1usize..200, cut in 0usize..200, spoiled in proptest::option::of(0usize..200)
        ) {
            let mut whole = connection(size, 3);
            let mut parts = connection(size, 3);
            whole.begin();
            parts.begin();
            let mut bytes = whole.request().to_vec();
            if let Some(at) = spoiled {
                bytes[at % size] ^= 0x40;
            }
            let at_once = whole.feed(&bytes).map(|fed| fed.reply);
            let (a, b) = bytes.split_at(cut % size);
            let in_parts = parts.feed(a).and_then(|_| parts.feed(b)).map(|fed| fed.reply);
            prop_assert_eq!(at_once, in_parts);
        }
    }
}
