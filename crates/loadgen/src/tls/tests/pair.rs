//! A director and a server in memory, and the transport between them. It knows nothing of the
//! tests.

use rcgen::{CertificateParams, KeyPair};
use rustls::{
    ServerConfig, ServerConnection,
    pki_types::{PrivateKeyDer, pem::PemObject},
};
use std::io::{Read, Write};
use wirebench_schema::load::{ErrorCounts, Trust};

use crate::{
    codec::http1::Http1,
    director::{Action, Command, Director},
    plan::{CodecKind, Plan},
    segment::Counts,
    session::{
        Edges, Session,
        tests::{MS, TIMEOUT_NS, commands},
    },
    tls::{Arc, Connector, LoadConfig, TlsDirector, ring},
    worker::SessionOwner,
};

pub(super) const EDGES: Edges =
    Edges { start_ns: 100 * MS, window_start_ns: 100 * MS, window_end_ns: 20_000 * MS };

/// A server without a trusted certificate, and all that its clients share.
pub(super) struct World {
    pub(super) server: Arc<ServerConfig>,
    pub(super) connector: Arc<Connector>,
    pub(super) plan: Plan,
}

impl World {
    pub(super) fn new(trust: Trust, change: impl FnOnce(&mut LoadConfig)) -> Self {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(vec!["h".to_owned()]).unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
        let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let mut config = LoadConfig::new("https://h:1/".parse().unwrap());
        (config.threads, config.connections, config.trust) = (1, 1, trust);
        config.timeout = std::time::Duration::from_nanos(TIMEOUT_NS);
        change(&mut config);
        let plan = Plan::new(&config).unwrap();
        let connector = Arc::new(Connector::new(&config).unwrap().unwrap());
        Self { server: Arc::new(server), connector, plan }
    }

    pub(super) fn open() -> Self {
        Self::new(Trust::Anybody, |_| {})
    }

    pub(super) fn director(&self) -> TlsDirector<Http1> {
        let CodecKind::Http1(codec) = &self.plan.codec else {
            panic!("an https target speaks HTTP")
        };
        let session = Session::new(&self.plan.shares[0], self.plan.params.clone(), codec, || 0);
        TlsDirector::new(session, Arc::clone(&self.connector))
    }

    /// One connection, whose handshake has not begun.
    pub(super) fn begin(&self) -> Pair {
        let mut director = self.director();
        assert_eq!(commands(&mut director, 0), [Command::Connect(0)]);
        assert_eq!(director.connected(0, MS), Action::Send);
        Pair { director, server: self.server(), piece_bytes: usize::MAX }
    }

    /// One connection whose first request has just been begun, of which nothing is sent.
    pub(super) fn begun(&self) -> Pair {
        let mut pair = self.begin();
        pair.shake_hands(2 * MS);
        pair.director.session().start(EDGES);
        assert_eq!(commands(&mut pair.director, EDGES.start_ns), [Command::Send(0)]);
        pair
    }

    pub(super) fn server(&self) -> ServerConnection {
        ServerConnection::new(Arc::clone(&self.server)).unwrap()
    }
}

/// A director with one connection, and its server.
pub(super) struct Pair {
    pub(super) director: TlsDirector<Http1>,
    pub(super) server: ServerConnection,
    /// Number of bytes that the network carries at once.
    pub(super) piece_bytes: usize,
}

impl Pair {
    /// Carries all output to the server. Returns the director's next order.
    pub(super) fn send(&mut self) -> Action {
        let mut action = Action::Send;
        while action == Action::Send && !self.director.outgoing(0).is_empty() {
            let outgoing = self.director.outgoing(0);
            let mut piece = &outgoing[..outgoing.len().min(self.piece_bytes)];
            let bytes = piece.len();
            self.server.read_tls(&mut piece).unwrap();
            let _ = self.server.process_new_packets();
            action = self.director.sent(0, bytes);
        }
        action
    }

    /// Carries all output of the server to the director, and its answers.
    pub(super) fn receive(&mut self, now_ns: u64) -> Action {
        let mut all = Vec::new();
        while self.server.wants_write() {
            self.server.write_tls(&mut all).unwrap();
        }
        let mut action = Action::Wait;
        for piece in all.chunks(self.piece_bytes.min(all.len().max(1))) {
            action = self.director.received(0, piece, now_ns);
            if action == Action::Send {
                action = self.send();
            }
            if action == Action::Close {
                break;
            }
        }
        action
    }

    pub(super) fn shake_hands(&mut self, now_ns: u64) {
        assert_eq!(self.send(), Action::Wait);
        assert_eq!(self.receive(now_ns), Action::Wait);
        assert!(!self.server.is_handshaking());
        assert!(self.director.session().is_settled());
        // Tickets and the end of the handshake cross.
        assert_eq!(self.receive(now_ns), Action::Wait);
    }

    /// The bytes that have reached the server.
    pub(super) fn heard(&mut self) -> Vec<u8> {
        let mut heard = Vec::new();
        let _ = self.server.reader().read_to_end(&mut heard);
        heard
    }

    pub(super) fn say(&mut self, bytes: &[u8]) {
        self.server.writer().write_all(bytes).unwrap();
    }

    /// The counts, in the window and before.
    pub(super) fn counts(mut self) -> Counts {
        let outcome = self.director.take_outcome();
        let mut sum = outcome.rest[0].clone();
        outcome.rest[1..].iter().for_each(|segment| sum.add(segment));
        sum.counts
    }

    pub(super) fn errors(self) -> ErrorCounts {
        self.counts().errors
    }
}
