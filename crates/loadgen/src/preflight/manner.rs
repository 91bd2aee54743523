//! Single requests that arrive in an unusual manner, each on a connection of its own. The reply must be the usual one.

use std::{
    cell::{Cell, RefCell},
    sync::atomic::AtomicBool,
    time::Duration,
};
use wirebench_schema::load::{LoadConfig, SampleReply};

use super::{Exchange, Found, Route, WaitLimit, connect, pace::RequestPace, transport::Transport};
use crate::{
    codec::{
        Codec, RequestId,
        http1::{FirstUse, Http1},
    },
    dial::{first::First, sources::Sources},
    error::LoadError,
    plan::{CodecKind, Plan},
    resolve,
    tls::Connector,
};

/// The most requests that are asked; a list of thousands of URLs says nothing more.
const REQUESTS_MOST: usize = 32;
/// In how many pieces a request arrives.
const PIECES: usize = 16;

/// How a request arrives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Manner {
    /// As fast as it can be sent.
    Whole,
    /// In 16 pieces, each with its own segment.
    InPieces,
    /// Whole, and then the client closes its side.
    HalfClosed,
}

impl Manner {
    /// The most bytes that are sent at once of a request of this size.
    pub(super) const fn piece_bytes(self, request_bytes: usize) -> usize {
        match self {
            Self::InPieces => request_bytes.div_ceil(PIECES),
            Self::Whole | Self::HalfClosed => usize::MAX,
        }
    }
}

/// Sends each request of an HTTP load once in this manner, and checks its reply. What the first reply decides is
/// learned from a whole request before. Requests beyond the first 32 are left out, and with a rate those beyond 2 s.
pub fn ask_each(config: &LoadConfig, manner: Manner, stop: &AtomicBool) -> Result<(), LoadError> {
    ask(config, manner, |_| true, stop).map(drop)
}

/// The replies to the requests of an HTTP load that may change something on the server, each sent once, as far as
/// [`ask_each`] would.
pub fn sample_unsafe(
    config: &LoadConfig,
    stop: &AtomicBool,
) -> Result<Vec<SampleReply>, LoadError> {
    ask(config, Manner::Whole, |it| !it.is_safe, stop)
}

fn ask(
    config: &LoadConfig,
    manner: Manner,
    is_asked: fn(FirstUse) -> bool,
    stop: &AtomicBool,
) -> Result<Vec<SampleReply>, LoadError> {
    config.check().map_err(LoadError::Configuration)?;
    let CodecKind::Http1(mut http) = Plan::new(config)?.codec else {
        return Err(LoadError::Configuration("only requests of HTTP can be asked".to_owned()));
    };
    let sources = Sources::new(&config.sources);
    let endpoints = sources.check(resolve::resolve(config)?, 1)?;
    let connector = Connector::new(config)?;
    let route = Route { endpoints: &endpoints, sources: &sources, connector: connector.as_ref() };
    let requests = http.all_requests().filter(|it| is_asked(http.first_use(*it)));
    let requests: Vec<RequestId> = requests.take(REQUESTS_MOST).collect();
    let (mut samples, mut turns) = (Vec::new(), RequestPace::new(config));
    for request in requests {
        let FirstUse { learns_body, .. } = http.first_use(request);
        let before = learns_body.then_some(Manner::Whole);
        for manner in before.into_iter().chain([manner]) {
            if !turns.next(stop) {
                return Ok(samples);
            }
            let Some((exchange, _)) = Exchange::begin(config, route, manner, stop)? else {
                return Ok(samples);
            };
            exchange.ask(&mut http, request).map_err(|error| exchange.naming(request, error))?;
            samples.append(&mut exchange.samples.borrow_mut());
        }
    }
    Ok(samples)
}

impl<'a> Exchange<'a> {
    /// On a new connection, and the time to make it; none if the load was stopped.
    pub(super) fn begin(
        config: &'a LoadConfig,
        Route { endpoints, sources, connector }: Route<'a>,
        manner: Manner,
        stop: &'a AtomicBool,
    ) -> Result<Option<(Self, Duration)>, LoadError> {
        let limit = WaitLimit { timeout: config.timeout, stop };
        let first = connect(endpoints, sources, limit)?;
        Ok(first.map(|First { socket, endpoint, took }| {
            let exchange = Self {
                config,
                connector,
                endpoint,
                socket,
                manner,
                stop,
                requests: Cell::new(0),
                body_bytes: Cell::new(0),
                samples: RefCell::default(),
            };
            (exchange, took)
        }))
    }
}

impl Exchange<'_> {
    fn ask(&self, http: &mut Http1, request: RequestId) -> Result<(), LoadError> {
        let mut transport = self.transport()?;
        let mut connection = http.connection(0);
        http.learn(&mut connection);
        let found = self.run(http, &mut connection, &mut transport, Some(request))?;
        // A server may answer before it has read the body (RFC 9112, 9.5).
        if http.unsent_bytes(&connection) > self.body_bytes.get() {
            let sentence = format!("{} answers before the request was complete", self.endpoint);
            return Err(LoadError::Preflight(sentence));
        }
        let learned = http.take_learned(request, &mut connection);
        let FirstUse { learns_body, .. } = http.first_use(request);
        if let (Found::Reply(reply), Some(learned), Manner::Whole) = (found, learned, self.manner) {
            self.take_sample(request, &reply, &learned, learns_body);
            if learns_body {
                http.expect(request, learned.body);
            }
        }
        Ok(())
    }

    pub(super) fn transport(&self) -> Result<Transport, LoadError> {
        Transport::new(self.connector).map_err(|error| {
            LoadError::Configuration(format!("TLS cannot begin ({error}): check the target"))
        })
    }
}
