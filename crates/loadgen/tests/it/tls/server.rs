//! TLS servers on threads. Their certificates are made on demand; none is stored.

use rcgen::{CertificateParams, IsCa, KeyPair};
use rustls::{
    ServerConfig, ServerConnection, SupportedProtocolVersion,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::{CertifiedKey, SingleCertAndKey},
    version::{TLS12, TLS13},
};
use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};

use crate::server::Server;

/// A certificate, its key, and a file with the certificate.
pub(super) struct Identity {
    certificate: CertificateDer<'static>,
    key: String,
    file: tempfile::NamedTempFile,
}

impl Identity {
    /// Signed by itself, for these names.
    pub(super) fn new(names: &[&str], is_ca: IsCa) -> Self {
        Self::until(4096, names, is_ca)
    }

    /// The same, valid until the beginning of a year.
    pub(super) fn until(year: i32, names: &[&str], is_ca: IsCa) -> Self {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut parameters = CertificateParams::new(names).unwrap();
        parameters.is_ca = is_ca;
        parameters.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(certificate.pem().as_bytes()).unwrap();
        Self { certificate: certificate.der().clone(), key: key.serialize_pem(), file }
    }

    pub(super) fn local() -> Self {
        Self::new(&["localhost", "127.0.0.1"], IsCa::NoCa)
    }

    /// The same certificate with a key that does not belong to it.
    pub(super) fn with_the_key_of(self, other: &Self) -> Self {
        Self { key: other.key.clone(), ..self }
    }

    /// Where its certificate can be read.
    pub(super) fn path(&self) -> String {
        self.file.path().to_str().unwrap().to_owned()
    }

    /// Where its key can be read.
    pub(super) fn key_file(&self) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(self.key.as_bytes()).unwrap();
        file
    }

    /// Answers clients that show the certificate of this authority.
    pub(super) fn serve_only(
        &self,
        client: &Self,
        version: &'static SupportedProtocolVersion,
    ) -> Server {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(client.certificate.clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let builder = rustls::server::WebPkiClientVerifier::builder_with_provider(
            Arc::new(roots),
            Arc::clone(&provider),
        );
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_client_cert_verifier(builder.build().unwrap())
            .with_single_cert(vec![self.certificate.clone()], key)
            .unwrap();
        let config = Arc::new(config);
        Server::start(move |_, stream, _| {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            Tls { connection, stream, unread: Vec::new() }.answer(crate::server::HELLO);
        })
    }

    fn config(&self, versions: &[&'static SupportedProtocolVersion]) -> Arc<ServerConfig> {
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap();
        let key = ring::sign::any_supported_type(&key).unwrap();
        // Whether the two belong together is not looked at.
        let shown = CertifiedKey::new(vec![self.certificate.clone()], key);
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(shown)));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Arc::new(config)
    }

    /// Serves every connection by the function, which gets the number of the connection.
    pub(super) fn serve(
        &self,
        serve: impl Fn(usize, &mut Tls<'_>) + Send + Sync + 'static,
    ) -> Server {
        self.serve_versions(&[&TLS12, &TLS13], serve)
    }

    /// The same with these versions of TLS.
    pub(super) fn serve_versions(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        serve: impl Fn(usize, &mut Tls<'_>) + Send + Sync + 'static,
    ) -> Server {
        let config = self.config(versions);
        Server::start(move |number, stream, _| {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            serve(number, &mut Tls { connection, stream, unread: Vec::new() });
        })
    }
}

pub(super) struct Tls<'a> {
    connection: ServerConnection,
    stream: &'a TcpStream,
    unread: Vec<u8>,
}

impl Tls<'_> {
    pub(super) fn stream(&self) -> &TcpStream {
        self.stream
    }

    /// Reads one request without a body, although others may come with it. Says whether there was
    /// one.
    pub(super) fn read_request(&mut self) -> bool {
        const END: &[u8] = b"\r\n\r\n";
        loop {
            let found = self.unread.windows(END.len()).position(|window| window == END);
            if let Some(start) = found {
                self.unread.drain(..start + END.len());
                return true;
            }
            if !self.read_more() {
                return false;
            }
        }
    }

    fn read_more(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let mut stream = rustls::Stream::new(&mut self.connection, &mut self.stream);
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => false,
            Ok(bytes) => {
                self.unread.extend_from_slice(&buffer[..bytes]);
                true
            }
        }
    }

    /// Says whether it could be sent.
    pub(super) fn write(&mut self, bytes: &[u8]) -> bool {
        let mut stream = rustls::Stream::new(&mut self.connection, &mut self.stream);
        stream.write_all(bytes).is_ok() && stream.flush().is_ok()
    }

    /// Answers every request with these bytes.
    pub(super) fn answer(&mut self, reply: &[u8]) {
        while self.read_request() && self.write(reply) {}
    }

    /// Announces that nothing more is sent.
    pub(super) fn announce_end(&mut self) {
        self.connection.send_close_notify();
        let _ = self.connection.write_tls(&mut self.stream);
    }

    /// An end without an announcement looks like a truncation.
    pub(super) fn answer_once(&mut self, reply: &[u8]) {
        if self.read_request() && self.write(reply) {
            self.announce_end();
        }
    }
}
