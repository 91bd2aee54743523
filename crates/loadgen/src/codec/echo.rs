//! Echo: each connection sends its own stream of bytes and compares every byte that returns.
//!
//! All streams cycle through one block of random bytes, each from its own offset. No data is made,
//! copied or kept per message, however large it is, and the sent block is the one compared: a
//! changed byte is always found.
//!
//! A missing, duplicated or exchanged part shifts the bytes after it to another place of the block,
//! or to another connection's stream. Random bytes differ there: eight of them are equal by chance
//! once in 2^64 times, a single one once in 256. Messages of a few bytes may therefore be confused,
//! and a shift is found some messages later. The length of the block is a prime number, so only a
//! shift by a multiple of it is never found.

use std::sync::Arc;

use crate::codec::{
    Check, Codec, Event, Fed, Persistence, Reply, ReplyError, RequestId, Ticket,
    equal::EqualRequests,
};

/// The period of a stream: the largest prime number below 2^16.
const PERIOD_BYTES: usize = 65_521;

/// The longest piece that is sent or compared at a time. The block goes on for so long behind its
/// period, so that no piece has to be put together.
const PIECE_BYTES: usize = 256 * 1024;

const ECHOED: Reply = Reply {
    status: None,
    is_refusal: false,
    interim_replies: 0,
    persistence: Persistence::Keep,
    check: Check::Fast,
};

/// State shared by all echo connections of a load.
#[derive(Clone, Debug)]
pub(crate) struct Echo {
    payload_bytes: u64,
    seed: u64,
    block: Arc<[u8]>,
}

impl Echo {
    /// Messages of this length, at least one byte, out of a random block that comes from `seed`.
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
    pub(crate) fn stream(&self, connection: &EchoConnection, position: u64, wanted: u64) -> &[u8] {
        let place = (connection.origin + position) % PERIOD_BYTES as u64;
        // Both are smaller than the block.
        let start = usize::try_from(place).unwrap_or(0);
        let length = usize::try_from(wanted.min(PIECE_BYTES as u64)).unwrap_or(0);
        &self.block[start..start + length]
    }
}

#[derive(Debug)]
pub(crate) struct EchoConnection {
    /// Offset of the stream's start in the block.
    origin: u64,
    /// Number of bytes that have come back.
    position: u64,
    /// Remaining bytes of the message that is coming back.
    left: u64,
    requests: EqualRequests,
}

impl Codec for Echo {
    type Connection = EchoConnection;

    fn connection(&self, number: usize) -> EchoConnection {
        // Two odd constants keep the places of neighbouring connections far apart.
        let mixed = self.seed ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = fastrand::Rng::with_seed(mixed.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let origin = random.u64(..PERIOD_BYTES as u64);
        EchoConnection {
            origin,
            position: 0,
            left: self.payload_bytes,
            requests: EqualRequests::default(),
        }
    }

    fn restart(&mut self, connection: &mut EchoConnection) {
        // The bytes of an earlier connection in this place differ from those that this one expects.
        connection.origin = (connection.origin + connection.position + 1) % PERIOD_BYTES as u64;
        connection.position = 0;
        connection.left = self.payload_bytes;
        connection.requests = EqualRequests::default();
    }

    fn begin(&mut self, connection: &mut EchoConnection, _: RequestId, _: Ticket) {
        connection.requests.begin();
    }

    fn unsent_bytes(&self, connection: &EchoConnection) -> u64 {
        connection.requests.unsent_bytes(self.payload_bytes)
    }

    fn outgoing<'a>(&'a self, connection: &'a EchoConnection) -> &'a [u8] {
        let requests = &connection.requests;
        let unsent_bytes = requests.unsent_bytes(self.payload_bytes);
        self.stream(connection, requests.position(), unsent_bytes)
    }

    fn sent(&mut self, connection: &mut EchoConnection, bytes: usize) {
        connection.requests.sent(bytes);
    }

    fn is_answered_begun(&self, connection: &EchoConnection) -> bool {
        connection.requests.is_answered_begun(self.payload_bytes)
    }

    fn reply_bytes_hint(&self) -> usize {
        usize::try_from(self.payload_bytes).unwrap_or(usize::MAX)
    }

    fn feed(&mut self, connection: &mut EchoConnection, bytes: &[u8]) -> Result<Fed, ReplyError> {
        let wanted = connection.left.min(bytes.len() as u64);
        let sent = self.stream(connection, connection.position, wanted);
        let received = &bytes[..sent.len()];
        if received != sent {
            // The place of the difference is looked for only once there is one.
            let at = received.iter().zip(sent).position(|(a, b)| a != b).unwrap_or(0);
            return Err(ReplyError::EchoDiffers {
                at: self.payload_bytes - connection.left + at as u64,
                sent: sent[at],
                received: received[at],
            });
        }
        let consumed = sent.len();
        connection.position += consumed as u64;
        connection.left -= consumed as u64;
        let event = (connection.left == 0).then_some(Event::Reply(ECHOED));
        if event.is_some() {
            connection.left = self.payload_bytes;
            connection.requests.answer();
        }
        Ok(Fed { consumed, event })
    }

    fn finish(&mut self, _: &mut EchoConnection) -> Result<Option<Event>, ReplyError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
