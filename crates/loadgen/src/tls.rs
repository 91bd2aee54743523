//! TLS between the sessions and the engines: engines move ciphertext, sessions see plaintext.
//!
//! This file has what all connections of a load share: trusted authorities, resumable sessions, and
//! negotiated parameters. `trust` judges certificates, `channel` is one connection without its
//! socket, `director` connects a session with its engine.
//!
//! Three thousand idle connections (TLS 1.3, AES-256-GCM) take 4.5 KiB each, of which 0.4 KiB are
//! needed without TLS as well; kernel socket memory is not included. A sending connection keeps a
//! buffer of up to 4 KiB, and up to 64 KiB while a large request is in flight; one in the middle of
//! a record of the server keeps that, up to 16 KiB.
//!
//! Deliberately absent: early data, HTTP/2, and TLS in the kernel.

mod channel;
mod director;
mod identity;
mod trust;

pub(crate) use channel::{Channel, Room};
pub(crate) use director::TlsDirector;
pub(crate) use trust::is_of_authority;

use rustls::{
    ClientConfig, HandshakeKind, ProtocolVersion, client::Resumption, crypto::ring,
    pki_types::ServerName,
};
use std::sync::{Arc, Mutex, PoisonError};
use wirebench_schema::load::{LoadConfig, TlsSummary};

use self::identity::Identity;
use crate::error::LoadError;

/// State shared by all connections of a load.
#[derive(Debug)]
pub(crate) struct Connector {
    config: Arc<ClientConfig>,
    /// The same, but nothing is remembered.
    without_memory: Arc<ClientConfig>,
    name: ServerName<'static>,
    identity: Arc<Identity>,
    /// Observations of the threads that have ended.
    tally: Mutex<Tally>,
}

/// The negotiated parameters, and their counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    first: Option<(ProtocolVersion, rustls::CipherSuite)>,
    handshakes: u64,
    resumed: u64,
}

impl Tally {
    /// The handshake of this channel has succeeded.
    pub(crate) fn count(&mut self, channel: &Channel) {
        self.first = self.first.or_else(|| channel.agreed());
        self.handshakes += 1;
        self.resumed += u64::from(channel.kind() == Some(HandshakeKind::Resumed));
    }

    fn add(&mut self, other: &Self) {
        self.first = self.first.or(other.first);
        self.handshakes += other.handshakes;
        self.resumed += other.resumed;
    }
}

impl Connector {
    /// The TLS state for the target; none without TLS.
    pub(crate) fn new(config: &LoadConfig) -> Result<Option<Self>, LoadError> {
        if !config.target.is_tls() {
            return Ok(None);
        }
        let host = config.target.host_without_zone();
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            LoadError::Configuration(format!(
                "`{host}` is not a valid name for a certificate: write the name in the \
                 certificate of the server, or an address"
            ))
        })?;
        let provider = Arc::new(ring::default_provider());
        let verifier = trust::verifier(&config.trust, &provider)?;
        let identity = Arc::new(Identity::new(config.client_certificate.as_ref())?);
        let mut shared = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| LoadError::Configuration(format!("TLS cannot be set up: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_client_cert_resolver(Arc::clone(&identity) as _);
        shared.alpn_protocols = vec![b"http/1.1".to_vec()];
        let mut without_memory = shared.clone();
        without_memory.resumption = Resumption::disabled();
        Ok(Some(Self {
            config: Arc::new(shared),
            without_memory: Arc::new(without_memory),
            name,
            identity,
            tally: Mutex::default(),
        }))
    }

    /// What explains a failure, if the server has asked for a certificate of the client in vain.
    pub(crate) fn missing_certificate(&self) -> Option<&'static str> {
        let sentence = "the server asks for a certificate of the client: give --cert and --key";
        self.identity.is_missing().then_some(sentence)
    }

    /// The client's side of another connection of the load.
    pub(crate) fn channel(&self) -> Result<Channel, rustls::Error> {
        Channel::new(Arc::clone(&self.config), self.name.clone())
    }

    /// The client's side of the connection that comes before the load, and leaves it nothing to
    /// resume.
    pub(crate) fn first_channel(&self) -> Result<Channel, rustls::Error> {
        Channel::new(Arc::clone(&self.without_memory), self.name.clone())
    }

    /// A thread has ended and has seen this.
    fn add(&self, tally: &Tally) {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).add(tally);
    }

    /// The negotiated parameters; none without a connection.
    pub(crate) fn summary(&self) -> Option<TlsSummary> {
        let tally = *self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let (version, suite) = tally.first?;
        Some(TlsSummary {
            version: match version {
                ProtocolVersion::TLSv1_2 => "TLS 1.2".to_owned(),
                ProtocolVersion::TLSv1_3 => "TLS 1.3".to_owned(),
                other => format!("{other:?}"),
            },
            cipher_suite: format!("{suite:?}").replace("TLS13_", "TLS_"),
            handshakes: tally.handshakes,
            resumed: tally.resumed,
        })
    }
}

#[cfg(test)]
mod tests;
