//! Echo: each connection sends a stream of bytes of its own and compares every byte that comes back.
//!
//! All streams run through one block of random bytes, each from a place of its own, again and again.
//! Nothing is made, copied or kept for a message, however large it is, and what is sent is what is
//! compared. The length of the block is a prime number, so that no two neighbouring messages are
//! alike and a part that is missing, doubled or exchanged for another is found, unless it is as long
//! as the block or a multiple of it.

use std::sync::Arc;

use crate::codec::{Check, Codec, Fed, Persistence, Reply, ReplyError};

/// After so many bytes a stream repeats itself: the largest prime number below 2^16.
const PERIOD_BYTES: usize = 65_521;

/// The longest piece that is sent or compared at a time. The block goes on for so long behind its
/// period, so that no piece has to be put together.
const PIECE_BYTES: usize = 256 * 1024;

const ECHOED: Reply =
    Reply { status: None, interim_replies: 0, persistence: Persistence::Keep, check: Check::Fast };

/// What the echo of a whole load has in common.
#[derive(Clone, Debug)]
pub(crate) struct Echo {
    payload_bytes: u64,
    seed: u64,
    block: Arc<[u8]>,
}

impl Echo {
    /// Messages of so many bytes, at least one, out of a random block that comes from `seed`.
    pub(crate) fn new(payload_bytes: usize, seed: u64) -> Self {
        let mut block = vec![0; PERIOD_BYTES + PIECE_BYTES];
        fastrand::Rng::with_seed(seed).fill(&mut block[..PERIOD_BYTES]);
        for index in PERIOD_BYTES..block.len() {
            block[index] = block[index - PERIOD_BYTES];
        }
        Self { payload_bytes: payload_bytes as u64, seed, block: Arc::from(block) }
    }

    /// Messages of another length out of the same block, which takes long to make.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn with_length(&self, payload_bytes: usize) -> Self {
        Self { payload_bytes: payload_bytes as u64, ..self.clone() }
    }

    /// The stream of a connection from `position` on, at most `wanted` bytes.
    fn stream(&self, connection: &EchoConnection, position: u64, wanted: u64) -> &[u8] {
        let place = (connection.origin + position) % PERIOD_BYTES as u64;
        // Both are smaller than the block.
        let start = usize::try_from(place).unwrap_or(0);
        let length = usize::try_from(wanted.min(PIECE_BYTES as u64)).unwrap_or(0);
        &self.block[start..start + length]
    }
}

/// The messages of one connection.
#[derive(Debug)]
pub(crate) struct EchoConnection {
    /// Where in the block the stream begins.
    origin: u64,
    /// How much of the stream has come back.
    position: u64,
}

impl Codec for Echo {
    type Connection = EchoConnection;

    fn connection(&self, number: usize) -> EchoConnection {
        // Two odd constants keep the places of neighbouring connections far apart.
        let mixed = self.seed ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = fastrand::Rng::with_seed(mixed.wrapping_mul(0xd6e8_feb8_6659_fd93));
        EchoConnection { origin: random.u64(..PERIOD_BYTES as u64), position: 0 }
    }

    fn restart(&self, connection: &mut EchoConnection) {
        // What an earlier connection in this place has sent is not what this one expects.
        connection.origin = (connection.origin + connection.position + 1) % PERIOD_BYTES as u64;
        connection.position = 0;
    }

    fn request_bytes(&self) -> u64 {
        self.payload_bytes
    }

    fn outgoing<'a>(
        &'a self,
        connection: &'a EchoConnection,
        position: u64,
        wanted: u64,
    ) -> &'a [u8] {
        self.stream(connection, position, wanted)
    }

    fn reply_bytes_hint(&self) -> usize {
        usize::try_from(self.payload_bytes).unwrap_or(usize::MAX)
    }

    fn feed(&mut self, connection: &mut EchoConnection, bytes: &[u8]) -> Result<Fed, ReplyError> {
        let in_message = connection.position % self.payload_bytes;
        let left = self.payload_bytes - in_message;
        let sent = self.stream(connection, connection.position, left.min(bytes.len() as u64));
        let received = &bytes[..sent.len()];
        if received != sent {
            // The position of the difference is looked for only once there is one.
            let at = received.iter().zip(sent).position(|(a, b)| a != b).unwrap_or(0);
            return Err(ReplyError::EchoDiffers {
                at: in_message + at as u64,
                sent: sent[at],
                received: received[at],
            });
        }
        connection.position += sent.len() as u64;
        let complete = sent.len() as u64 == left;
        Ok(Fed { consumed: sent.len(), reply: complete.then_some(ECHOED) })
    }

    fn finish(&mut self, _: &mut EchoConnection) -> Result<Option<Reply>, ReplyError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(echo: &Echo, connection: &EchoConnection, number: u64) -> Vec<u8> {
        let length = echo.request_bytes();
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < length {
            let done = bytes.len() as u64;
            let piece = echo.outgoing(connection, number * length + done, length - done).to_vec();
            bytes.extend(piece);
        }
        bytes
    }

    #[test]
    fn two_connections_send_different_bytes_and_two_messages_differ() {
        let echo = Echo::new(64, 7);
        let (a, b) = (echo.connection(0), echo.connection(1));
        assert_ne!(message(&echo, &a, 0), message(&echo, &b, 0));
        assert_ne!(message(&echo, &a, 0), message(&echo, &a, 1));
    }

    #[test]
    fn the_echo_of_an_earlier_message_does_not_pass() {
        let mut echo = Echo::new(16, 7);
        let mut connection = echo.connection(0);
        let first = message(&echo, &connection, 0);
        let fed = echo.feed(&mut connection, &first).unwrap();
        assert_eq!(fed, Fed { consumed: 16, reply: Some(ECHOED) });
        let error = echo.feed(&mut connection, &first).unwrap_err();
        assert!(matches!(error, ReplyError::EchoDiffers { .. }), "{error}");
    }

    #[test]
    fn a_message_that_was_cut_off_is_not_due_after_a_restart() {
        let mut echo = Echo::new(16, 7);
        let mut connection = echo.connection(0);
        let half = message(&echo, &connection, 0)[..8].to_vec();
        assert!(echo.feed(&mut connection, &half).unwrap().reply.is_none());
        echo.restart(&mut connection);
        let whole = message(&echo, &connection, 0);
        assert!(echo.feed(&mut connection, &whole).unwrap().reply.is_some());
    }

    #[test]
    fn bytes_behind_the_echo_are_left_to_the_caller() {
        let mut echo = Echo::new(3, 7);
        let mut connection = echo.connection(0);
        let two = [message(&echo, &connection, 0), message(&echo, &connection, 1)].concat();
        assert_eq!(echo.feed(&mut connection, &two).unwrap().consumed, 3);
        assert_eq!(echo.feed(&mut connection, &two[3..]).unwrap().reply, Some(ECHOED));
    }

    #[test]
    fn a_message_of_a_gibibyte_is_sent_and_compared_in_pieces() {
        let mut echo = Echo::new(1 << 30, 7);
        let mut connection = echo.connection(0);
        let mut position = 0;
        let reply = loop {
            let piece = echo.outgoing(&connection, position, (1 << 30) - position).to_vec();
            assert!(piece.len() <= PIECE_BYTES);
            let fed = echo.feed(&mut connection, &piece).unwrap();
            assert_eq!(fed.consumed, piece.len());
            position += piece.len() as u64;
            if fed.reply.is_some() {
                break fed.reply;
            }
        };
        assert_eq!((position, reply), (1 << 30, Some(ECHOED)));
    }

    proptest! {
        #[test]
        fn any_split_of_an_echo_gives_the_same_verdict(
            size in 1usize..200, cut in 0usize..200, spoiled in proptest::option::of(0usize..200)
        ) {
            let echo = Echo::new(size, 3);
            let mut bytes = message(&echo, &echo.connection(3), 0);
            if let Some(at) = spoiled {
                bytes[at % size] ^= 0x40;
            }
            let verdict = |pieces: &[&[u8]]| {
                let (mut echo, mut connection) = (echo.clone(), echo.connection(3));
                let mut reply = None;
                for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                    reply = echo.feed(&mut connection, piece)?.reply;
                }
                Ok::<_, ReplyError>(reply)
            };
            let (a, b) = bytes.split_at(cut % size);
            prop_assert_eq!(verdict(&[&bytes]), verdict(&[a, b]));
        }
    }
}
