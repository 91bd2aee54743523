//! The layer between the first exchange and its socket: plain, or TLS with its error messages. It
//! never touches the socket.

use rustls::{AlertDescription, CertificateError, Error};
use wirebench_schema::{
    load::{LoadConfig, Trust},
    target::Target,
};

use crate::{
    codec::excerpt,
    dial::Endpoint,
    tls::{Channel, Connector, Room, is_of_authority},
};

/// Maximum piece of a request handed over at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// Length of the received bytes kept for an error message.
const KEPT_BYTES: usize = 256;

/// The kinds of records (RFC 8446, 5.1).
const RECORD_KINDS: std::ops::RangeInclusive<u8> = 0x14..=0x17;

/// Converts outgoing plaintext to the bytes on the socket, and received bytes to plaintext.
pub(super) enum Transport {
    Plain {
        outgoing: Vec<u8>,
        incoming: Vec<u8>,
    },
    Tls {
        channel: Box<Channel>,
        room: Room,
        /// The first bytes that have come, as they came.
        start: Vec<u8>,
    },
}

impl Transport {
    /// With TLS if there is a connector.
    pub(super) fn new(connector: Option<&Connector>) -> Result<Self, Error> {
        Ok(match connector {
            None => Self::Plain { outgoing: Vec::new(), incoming: Vec::new() },
            Some(connector) => Self::Tls {
                channel: Box::new(connector.first_channel()?),
                room: Room::default(),
                start: Vec::new(),
            },
        })
    }

    /// Whether TLS is still to be agreed upon.
    pub(super) fn is_handshaking(&self) -> bool {
        matches!(self, Self::Tls { channel, .. } if !channel.is_established())
    }

    /// Takes the next piece to send when the previous one is gone, and returns its length.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        if self.is_handshaking() || !self.outgoing().is_empty() || bytes.is_empty() {
            return Ok(0);
        }
        match self {
            Self::Plain { outgoing, .. } => {
                let piece = &bytes[..bytes.len().min(PIECE_BYTES)];
                outgoing.extend_from_slice(piece);
                Ok(piece.len())
            }
            Self::Tls { channel, .. } => channel.seal(bytes),
        }
    }

    /// The next bytes for the socket.
    pub(super) fn outgoing(&self) -> &[u8] {
        match self {
            Self::Plain { outgoing, .. } => outgoing,
            Self::Tls { channel, .. } => channel.outgoing(),
        }
    }

    /// So much of it is gone.
    pub(super) fn sent(&mut self, bytes: usize) {
        match self {
            Self::Plain { outgoing, .. } => drop(outgoing.drain(..bytes)),
            Self::Tls { channel, .. } => channel.sent(bytes),
        }
    }

    /// These bytes came through the socket. What they say is in [`Self::said`], also when an error
    /// follows it.
    pub(super) fn receive(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::Plain { incoming, .. } => {
                incoming.clear();
                incoming.extend_from_slice(bytes);
                Ok(())
            }
            Self::Tls { channel, room, start } => {
                let kept = bytes.len().min(KEPT_BYTES.saturating_sub(start.len()));
                start.extend_from_slice(&bytes[..kept]);
                channel.receive(bytes, room)
            }
        }
    }

    /// The plaintext of the last arrival.
    pub(super) fn said(&self) -> &[u8] {
        match self {
            Self::Plain { incoming, .. } => incoming,
            Self::Tls { room, .. } => &room.plaintext,
        }
    }

    /// Whether the server has announced that it says no more.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self, Self::Tls { channel, .. } if channel.is_ended())
    }

    /// Whether the end of the connection is an orderly end rather than a truncation.
    pub(super) fn may_end(&self) -> bool {
        matches!(self, Self::Plain { .. }) || self.has_ended()
    }

    /// Announces that nothing more is said.
    pub(super) fn announce_end(&mut self) {
        if let Self::Tls { channel, .. } = self {
            // The exchange has succeeded; the server would only have liked to know.
            let _ = channel.announce_end();
        }
    }

    /// The TLS error, and the next step.
    pub(super) fn sentence(
        &self,
        error: &Error,
        address: &Endpoint,
        config: &LoadConfig,
    ) -> String {
        let start = match self {
            Self::Tls { start, .. } if self.is_handshaking() => start.as_slice(),
            Self::Tls { .. } | Self::Plain { .. } => &[],
        };
        if start.first().is_some_and(|kind| !RECORD_KINDS.contains(kind)) {
            return format!(
                "{address} answers, but not with TLS: the reply starts with \"{}\"; write {}, or \
                 check the port",
                excerpt(start),
                without_tls(&config.target)
            );
        }
        match error {
            Error::InvalidCertificate(reason) => {
                let next_step = next_step(reason, &config.trust);
                let reason = match reason {
                    CertificateError::Other(_) if is_of_authority(reason) => {
                        "it claims to be an authority, as `openssl req -x509` makes it".to_owned()
                    }
                    CertificateError::Other(other) => other.to_string(),
                    known => known.to_string(),
                };
                format!("the certificate of {address} is not accepted ({reason}): {next_step}")
            }
            Error::AlertReceived(AlertDescription::NoApplicationProtocol) => format!(
                "{address} speaks TLS, but not HTTP/1.1 in it: turn HTTP/1.1 on in the server"
            ),
            other => format!(
                "TLS with {address} fails ({other}): check the server's TLS, or write {}",
                without_tls(&config.target)
            ),
        }
    }
}

/// The next step for a rejected certificate.
fn next_step(reason: &CertificateError, trust: &Trust) -> &'static str {
    match (reason, trust) {
        (_, Trust::Anybody) => "give the server the key that belongs to its certificate",
        (CertificateError::NotValidForNameContext { presented, .. }, _) if presented.is_empty() => {
            "make it with names, as with -addext subjectAltName=DNS:localhost,IP:127.0.0.1 of openssl req, or give \
             --insecure"
        }
        (
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            _,
        ) => "write a name that it is for, or give --insecure",
        (
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
            _,
        ) => "renew it, or give --insecure",
        (reason, _) if is_of_authority(reason) => {
            "give --ca FILE with this certificate itself, or --insecure"
        }
        _ => "give --ca FILE with the certificate of its authority, or --insecure",
    }
}

pub(super) fn without_tls(target: &Target) -> String {
    format!("http://{}{}", target.authority(), target.path())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;
    use rustls::AlertDescription as Alert;

    #[test]
    fn each_failure_of_tls_names_its_next_step() {
        let address = &Endpoint::Ip("127.0.0.1:443".parse().unwrap());
        let mut config = LoadConfig::new("https://localhost:443/a".parse().unwrap());
        let transport = Transport::new(None).unwrap();
        let certificate = Error::InvalidCertificate;
        let rows = [
            certificate(CertificateError::UnknownIssuer),
            certificate(CertificateError::NotValidForName),
            certificate(CertificateError::Expired),
            Error::AlertReceived(Alert::NoApplicationProtocol),
            Error::AlertReceived(Alert::HandshakeFailure),
        ];
        let sentences = rows.map(|error| transport.sentence(&error, address, &config) + "\n");
        expect_file!["golden/transport.txt"].assert_eq(&sentences.concat());
        config.trust = Trust::Anybody;
        let sentence =
            transport.sentence(&certificate(CertificateError::BadSignature), address, &config);
        assert_eq!(
            sentence,
            "the certificate of 127.0.0.1:443 is not accepted (BadSignature): give the server the \
             key that belongs to its certificate"
        );
    }
}
