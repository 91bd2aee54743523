//! The client side of one TLS connection, without its socket: ciphertext in, plaintext out, and
//! vice versa. It knows nothing of sessions, time or counters.

use rustls::{
    CipherSuite, ClientConfig, Error, HandshakeKind, ProtocolVersion,
    client::UnbufferedClientConnection,
    pki_types::ServerName,
    unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus},
};
use std::sync::Arc;

/// Maximum plaintext sealed in one piece: sealed data must be kept until it is sent.
const SEALED_LIMIT_BYTES: usize = 64 * 1024;

/// The largest buffer that a connection keeps while it has nothing to send.
const KEPT_BYTES: usize = 4 * 1024;

/// The most plaintext in one record (RFC 8446, 5.1).
const RECORD_BYTES: usize = 16 * 1024;

/// An upper bound of the bytes that sealing adds to a record.
const RECORD_OVERHEAD_BYTES: usize = 64;

/// A buffer for received bytes, shared by all connections of a thread.
#[derive(Debug, Default)]
pub(crate) struct Room {
    ciphertext: Vec<u8>,
    /// The plaintext of the last arrival.
    pub(crate) plaintext: Vec<u8>,
}

pub(crate) struct Channel {
    tls: UnbufferedClientConnection,
    /// The received part of a record or handshake message.
    partial: Vec<u8>,
    /// Ciphertext that is to be sent. It grows at its end only.
    outgoing: Vec<u8>,
    /// The part of it that has been sent.
    gone_bytes: usize,
    ending: Ending,
}

/// Whether the server has said that it sends nothing more.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ending {
    Open,
    Announced,
}

impl Channel {
    /// A connection whose first message is ready to be sent.
    pub(super) fn new(config: Arc<ClientConfig>, name: ServerName<'static>) -> Result<Self, Error> {
        let mut channel = Self {
            tls: UnbufferedClientConnection::new(config, name)?,
            partial: Vec::new(),
            outgoing: Vec::new(),
            gone_bytes: 0,
            ending: Ending::Open,
        };
        channel.receive(&[], &mut Room::default())?;
        Ok(channel)
    }

    /// Whether the handshake is over, so that plaintext can be sealed.
    pub(crate) fn is_established(&self) -> bool {
        !self.tls.is_handshaking()
    }

    /// Whether the server has announced that it sends nothing more.
    pub(crate) fn is_ended(&self) -> bool {
        self.ending == Ending::Announced
    }

    pub(super) fn agreed(&self) -> Option<(ProtocolVersion, CipherSuite)> {
        Some((self.tls.protocol_version()?, self.tls.negotiated_cipher_suite()?.suite()))
    }

    pub(super) fn kind(&self) -> Option<HandshakeKind> {
        self.tls.handshake_kind()
    }

    /// Ciphertext that is to be sent.
    pub(crate) fn outgoing(&self) -> &[u8] {
        &self.outgoing[self.gone_bytes..]
    }

    /// So much of it was sent.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.gone_bytes += bytes;
        if self.gone_bytes >= self.outgoing.len() {
            self.gone_bytes = 0;
            self.outgoing.clear();
            if self.outgoing.capacity() > KEPT_BYTES {
                self.outgoing = Vec::new();
            }
        }
    }

    /// Processes received bytes. The plaintext and the server's announcements count even if an
    /// error follows them; an alert about it is then sent.
    pub(crate) fn receive(&mut self, bytes: &[u8], room: &mut Room) -> Result<(), Error> {
        let Room { ciphertext, plaintext } = room;
        plaintext.clear();
        ciphertext.clear();
        ciphertext.append(&mut self.partial);
        ciphertext.extend_from_slice(bytes);
        let mut done_bytes = 0;
        let result = loop {
            let UnbufferedStatus { mut discard, state, .. } =
                self.tls.process_tls_records(&mut ciphertext[done_bytes..]);
            let step = match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    let mut step = Step::Further;
                    while let Some(record) = traffic.next_record() {
                        match record {
                            Ok(record) => {
                                discard += record.discard;
                                plaintext.extend_from_slice(record.payload);
                            }
                            Err(error) => step = Step::End(Err(error)),
                        }
                    }
                    step
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    append(&mut self.outgoing, 0, |space| data.encode(space))
                        .map_or_else(|error| Step::End(Err(error)), |()| Step::Further)
                }
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    Step::Further
                }
                Ok(ConnectionState::PeerClosed) => {
                    self.ending = Ending::Announced;
                    Step::Further
                }
                Ok(_) => Step::End(Ok(())),
                Err(error) => Step::End(Err(error)),
            };
            done_bytes += discard;
            if let Step::End(result) = step {
                break result;
            }
        };
        if result.is_err() {
            let state = self.tls.process_tls_records(&mut ciphertext[done_bytes..]).state;
            if let Ok(ConnectionState::EncodeTlsData(mut data)) = state {
                // The error counts, whether it can be reported to the server or not.
                let _ = append(&mut self.outgoing, 0, |space| data.encode(space));
            }
        } else if done_bytes < ciphertext.len() {
            self.partial = ciphertext[done_bytes..].to_vec();
        }
        result
    }

    /// Seals plaintext, and says how much of it.
    pub(crate) fn seal(&mut self, plaintext: &[u8]) -> Result<usize, Error> {
        let piece = &plaintext[..plaintext.len().min(SEALED_LIMIT_BYTES)];
        self.write(Written::Plaintext(piece))?;
        Ok(piece.len())
    }

    /// Announces that nothing more is sent.
    pub(crate) fn announce_end(&mut self) -> Result<(), Error> {
        self.write(Written::End)
    }

    fn write(&mut self, written: Written<'_>) -> Result<(), Error> {
        loop {
            let UnbufferedStatus { discard, state, .. } =
                self.tls.process_tls_records(&mut self.partial);
            match state? {
                ConnectionState::WriteTraffic(mut traffic) => {
                    let hint_bytes = written.hint_bytes();
                    return append(&mut self.outgoing, hint_bytes, |space| match written {
                        Written::Plaintext(piece) => traffic.encrypt(piece, space),
                        Written::End => traffic.queue_close_notify(space),
                    });
                }
                ConnectionState::EncodeTlsData(mut data) => {
                    append(&mut self.outgoing, 0, |space| data.encode(space))?;
                }
                ConnectionState::TransmitTlsData(data) => data.done(),
                _ => return Err(Error::HandshakeNotComplete),
            }
            self.partial.drain(..discard);
        }
    }
}

/// The plaintext to write after the handshake.
#[derive(Clone, Copy, Debug)]
enum Written<'a> {
    Plaintext(&'a [u8]),
    /// The announcement that nothing follows.
    End,
}

impl Written<'_> {
    /// At least the space that it takes, but for rare messages in front of it.
    const fn hint_bytes(self) -> usize {
        match self {
            Self::Plaintext(piece) => {
                piece.len() + (piece.len() / RECORD_BYTES + 1) * RECORD_OVERHEAD_BYTES
            }
            Self::End => RECORD_OVERHEAD_BYTES,
        }
    }
}

/// The step after a piece of work.
enum Step {
    Further,
    End(Result<(), Error>),
}

/// Why nothing could be written.
enum Refusal {
    Space(usize),
    /// Nothing can be written any more.
    Never,
}

impl From<EncodeError> for Refusal {
    fn from(error: EncodeError) -> Self {
        match error {
            EncodeError::InsufficientSize(error) => Self::Space(error.required_size),
            EncodeError::AlreadyEncoded => Self::Never,
        }
    }
}

impl From<EncryptError> for Refusal {
    fn from(error: EncryptError) -> Self {
        match error {
            EncryptError::InsufficientSize(error) => Self::Space(error.required_size),
            EncryptError::EncryptExhausted => Self::Never,
        }
    }
}

/// Appends the written bytes, with initially this much space and more if needed.
fn append<E: Into<Refusal>>(
    outgoing: &mut Vec<u8>,
    hint_bytes: usize,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, E>,
) -> Result<(), Error> {
    let end = outgoing.len();
    let mut space_bytes = hint_bytes;
    loop {
        outgoing.resize(end + space_bytes, 0);
        match write(&mut outgoing[end..]).map_err(Into::into) {
            Ok(written) => {
                outgoing.truncate(end + written);
                return Ok(());
            }
            Err(Refusal::Space(needed)) if needed > space_bytes => space_bytes = needed,
            Err(Refusal::Space(_) | Refusal::Never) => {
                outgoing.truncate(end);
                return Err(Error::EncryptError);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::Connector;
    use proptest::prelude::*;
    use wirebench_schema::load::{LoadConfig, Trust};

    fn channel() -> Channel {
        let mut config = LoadConfig::new("https://h:1/".parse().unwrap());
        config.trust = Trust::Anybody;
        Connector::new(&config).unwrap().unwrap().channel().unwrap()
    }

    #[test]
    fn a_buffer_that_was_large_once_does_not_stay() {
        let mut channel = channel();
        channel.outgoing.resize(KEPT_BYTES + 1, 0);
        channel.sent(KEPT_BYTES);
        assert_eq!(channel.outgoing(), [0]);
        channel.sent(1);
        assert_eq!((channel.outgoing().len(), channel.outgoing.capacity()), (0, 0));
    }

    #[test]
    fn nothing_is_sealed_before_the_handshake_is_over() {
        let mut channel = channel();
        assert!(!channel.outgoing().is_empty());
        assert_eq!(channel.seal(b"x"), Err(Error::HandshakeNotComplete));
    }

    proptest! {
        #[test]
        fn whatever_comes_is_an_error_or_waited_for(
            records in prop::collection::vec(
                (0x14..0x19_u8, prop::collection::vec(any::<u8>(), 0..300), 0..3_usize),
                1..6,
            ),
            piece_bytes in 1..500_usize,
        ) {
            let mut all = Vec::new();
            for (kind, payload, missing) in records {
                let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
                all.extend([kind, 3, 3]);
                all.extend(length);
                all.extend(&payload[..payload.len().saturating_sub(missing)]);
            }
            let (mut channel, mut room) = (channel(), Room::default());
            for piece in all.chunks(piece_bytes) {
                if channel.receive(piece, &mut room).is_err() {
                    break;
                }
            }
            prop_assert!(!channel.is_established());
            prop_assert_eq!(room.plaintext.len(), 0);
        }
    }
}
