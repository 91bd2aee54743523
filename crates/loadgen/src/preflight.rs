//! The preflight: before the load, one connection sends a request and its reply is checked, so that
//! a mistake gets one clear message at once instead of a report full of errors.
//!
//! It also finds out which of several addresses answers, and learns the expected body of HTTP
//! replies. It requests that body twice, to detect a varying one. A request that may change something
//! on the server (RFC 9110, 9.2.1) is not sent: the connection ends after the TLS handshake, and the
//! load learns the body from its own first reply. `manner` uses the same exchange for requests that
//! arrive in an unusual way; `transport` is the layer between it and its socket.

mod learn;
mod manner;
mod pace;
mod sentences;
mod transport;

use memchr::memmem;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    io::Errno,
    net::{SendFlags, Shutdown},
};
use std::{
    cell::{Cell, RefCell},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_schema::{
    load::{LoadConfig, SampleReply},
    scenario::Protocol,
    units::write_duration,
};

use crate::{
    codec::{Codec, Event, Fed, Persistence, Reply, ReplyError, RequestId, Ticket, excerpt},
    dial::{
        Endpoint,
        first::{WaitLimit, connect},
        sources::Sources,
    },
    error::LoadError,
    plan::CodecKind,
    tls::Connector,
};
pub use manner::{Manner, ask_each, sample_unsafe};
use transport::Transport;

/// Interval of the check whether to give up a wait.
const SLICE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The time between two pieces of a request, so that each has a segment of its own.
const BETWEEN_PIECES: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// The result of the first exchange.
#[derive(Debug)]
pub(crate) enum Preflight {
    Answered {
        endpoint: Endpoint,
        /// The time to make a connection.
        took: Duration,
        /// Whether the connection may carry further requests.
        persistence: Persistence,
        /// Number of requests that were sent.
        requests: u64,
        samples: Vec<SampleReply>,
    },
    Interrupted,
}

/// The route of the first connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route<'a> {
    /// The endpoints; the first that answers is used.
    pub(crate) endpoints: &'a [Endpoint],
    pub(crate) sources: &'a Sources,
    /// Through which TLS, if any.
    pub(crate) connector: Option<&'a Connector>,
}

/// Finds the endpoint that answers, and completes the codec's expectation.
pub(crate) fn preflight(
    config: &LoadConfig,
    route: Route<'_>,
    codec: &mut CodecKind,
    stop: &AtomicBool,
) -> Result<Preflight, LoadError> {
    let Some((exchange, took)) = Exchange::begin(config, route, Manner::Whole, stop)? else {
        return Ok(Preflight::Interrupted);
    };
    let mut transport = exchange.transport()?;
    let found = match codec {
        CodecKind::Echo(echo) => {
            let mut connection = echo.connection(usize::MAX);
            let request = Some(RequestId::default());
            exchange.run(echo, &mut connection, &mut transport, request)?
        }
        CodecKind::Http1(http) => exchange.learn(http, &mut transport)?,
    };
    transport.announce_end();
    // Best effort: the reply has already arrived.
    let _ = exchange.send(&mut transport);
    let persistence = match found {
        Found::Interruption => return Ok(Preflight::Interrupted),
        Found::Reply(Reply { persistence, .. }) => persistence,
        Found::Connection => Persistence::Keep,
    };
    let (requests, samples) = (exchange.requests.get(), exchange.samples.take());
    let endpoint = exchange.endpoint;
    Ok(Preflight::Answered { endpoint, took, persistence, requests, samples })
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Found {
    Reply(Reply),
    Connection,
    Interruption,
}

/// One request and its reply on one connection.
struct Exchange<'a> {
    config: &'a LoadConfig,
    connector: Option<&'a Connector>,
    endpoint: Endpoint,
    socket: OwnedFd,
    manner: Manner,
    stop: &'a AtomicBool,
    /// Number of requests that were begun.
    requests: Cell<u64>,
    /// Length of the body of the last one.
    body_bytes: Cell<u64>,
    /// What replies were learned.
    samples: RefCell<Vec<SampleReply>>,
}

/// How far the request of an exchange is.
struct Sending {
    due: Option<RequestId>,
    piece_bytes: usize,
    /// Whether this side may still send.
    is_open: bool,
}

enum Ending {
    Complete(Reply),
    Connected,
    Interrupted,
    /// In order, or with a reset.
    Closed,
    Late,
    Wrong(ReplyError),
    Tls(rustls::Error),
    Socket(Errno),
}

impl Exchange<'_> {
    /// The reply, or the connection if nothing is sent.
    fn run<C: Codec>(
        &self,
        codec: &mut C,
        connection: &mut C::Connection,
        transport: &mut Transport,
        request: Option<RequestId>,
    ) -> Result<Found, LoadError> {
        let mut received = Vec::new();
        let sentence = match self.exchange(codec, connection, transport, request, &mut received) {
            Ending::Complete(reply) => return Ok(Found::Reply(reply)),
            Ending::Connected => return Ok(Found::Connection),
            Ending::Interrupted => return Ok(Found::Interruption),
            Ending::Wrong(error) => self.wrong(&error, &received, request),
            Ending::Tls(rustls::Error::AlertReceived(_)) | Ending::Closed
                if received.is_empty() && self.missing_certificate().is_some() =>
            {
                let missing = self.missing_certificate().unwrap_or_default();
                format!("{} ends the connection: {missing}", self.endpoint)
            }
            Ending::Tls(error) => transport.sentence(&error, &self.endpoint, self.config),
            Ending::Closed if transport.is_handshaking() => format!(
                "{} closes the connection in the TLS handshake: check that it speaks TLS, or write \
                 {}",
                self.endpoint,
                transport::without_tls(self.target())
            ),
            Ending::Late if transport.is_handshaking() => format!(
                "{} does not finish the TLS handshake within {}: check that it speaks TLS, write \
                 {}, or give a longer --timeout",
                self.endpoint,
                write_duration(self.config.timeout),
                transport::without_tls(self.target())
            ),
            Ending::Closed if received.is_empty() => format!(
                "{} closes the connection without a reply: check that it speaks {}{}",
                self.endpoint,
                self.protocol(),
                match self.target().protocol() {
                    Protocol::Http1 if !self.target().is_tls() => {
                        format!(", or write {} for a TLS port", self.with_tls())
                    }
                    Protocol::Http1 | Protocol::Echo => String::new(),
                }
            ),
            Ending::Closed => format!(
                "{} closes the connection in the middle of its reply, which starts with \"{}\": \
                 check that the server works",
                self.endpoint,
                excerpt(&received)
            ),
            Ending::Late if received.is_empty() => format!(
                "{} accepts the connection but does not reply within {}: check that it speaks {}, \
                 or give a longer --timeout",
                self.endpoint,
                write_duration(self.config.timeout),
                self.protocol()
            ),
            Ending::Late => format!(
                "{} does not finish its reply within {}; it starts with \"{}\": check that it \
                 speaks {}, or give a longer --timeout",
                self.endpoint,
                write_duration(self.config.timeout),
                excerpt(&received),
                self.protocol()
            ),
            Ending::Socket(error) => {
                let (address, reason) = (self.endpoint.to_string(), error.to_string());
                return Err(LoadError::Connect { address, reason });
            }
        };
        Err(LoadError::Preflight(sentence))
    }

    /// Sends and receives at the same time, as an echo of many bytes needs.
    fn exchange<C: Codec>(
        &self,
        codec: &mut C,
        connection: &mut C::Connection,
        transport: &mut Transport,
        request: Option<RequestId>,
        received: &mut Vec<u8>,
    ) -> Ending {
        if let Err(error) = rustix::io::ioctl_fionbio(&self.socket, true) {
            return Ending::Socket(error);
        }
        let deadline = Instant::now().checked_add(self.config.timeout);
        let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut buffer = vec![0; 64 * 1024];
        let mut sending = Sending { due: request, piece_bytes: usize::MAX, is_open: true };
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ending::Interrupted;
            }
            if is_late() {
                return Ending::Late;
            }
            if let Err(ending) = self.advance(codec, connection, transport, &mut sending) {
                return ending;
            }
            let is_quiet = !transport.is_handshaking() && transport.outgoing().is_empty();
            if request.is_none() && is_quiet {
                return Ending::Connected;
            }
            let has_more = codec.unsent_bytes(connection) > 0 && !transport.is_handshaking();
            match self.manner {
                Manner::InPieces if has_more => self.wait(PollFlags::IN, BETWEEN_PIECES),
                _ if has_more || !transport.outgoing().is_empty() => {
                    self.wait(PollFlags::IN | PollFlags::OUT, SLICE);
                }
                _ => self.wait(PollFlags::IN, SLICE),
            }
            match rustix::io::read(&self.socket, &mut *buffer) {
                Ok(0) => return finish(codec, connection, transport),
                Ok(bytes) => {
                    let result = transport.receive(&buffer[..bytes]);
                    if let Some(ending) = feed(codec, connection, transport.said(), received) {
                        return ending;
                    }
                    if let Err(error) = result {
                        // An alert reports the reason to the server.
                        let _ = self.send(transport);
                        return Ending::Tls(error);
                    }
                    if transport.has_ended() {
                        return finish(codec, connection, transport);
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::CONNRESET | Errno::PIPE) => return Ending::Closed,
                Err(error) => return Ending::Socket(error),
            }
        }
    }

    /// Sends what can be sent of the request, in the manner of this exchange.
    fn advance<C: Codec>(
        &self,
        codec: &mut C,
        connection: &mut C::Connection,
        transport: &mut Transport,
        sending: &mut Sending,
    ) -> Result<(), Ending> {
        if codec.room(connection, 1) > 0
            && let Some(request) = sending.due.take()
        {
            codec.begin(connection, request, Ticket(0));
            self.requests.set(self.requests.get() + 1);
            let all = codec.unsent_bytes(connection);
            let head = memmem::find(codec.outgoing(connection), b"\r\n\r\n");
            self.body_bytes.set(head.map_or(0, |at| all.saturating_sub(at as u64 + 4)));
            let bytes = usize::try_from(all).unwrap_or(usize::MAX);
            sending.piece_bytes = self.manner.piece_bytes(bytes);
        }
        if codec.unsent_bytes(connection) > 0 {
            let outgoing = codec.outgoing(connection);
            let piece = &outgoing[..outgoing.len().min(sending.piece_bytes)];
            codec.sent(connection, transport.put(piece).map_err(Ending::Tls)?);
        }
        self.send(transport).map_err(Ending::Socket)?;
        let is_sent = sending.due.is_none() && codec.unsent_bytes(connection) == 0;
        if self.manner == Manner::HalfClosed
            && sending.is_open
            && is_sent
            && transport.outgoing().is_empty()
        {
            sending.is_open = false;
            // What a failure means shows in the reply that does not come.
            let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
        }
        Ok(())
    }

    fn send(&self, transport: &mut Transport) -> Result<(), Errno> {
        if transport.outgoing().is_empty() {
            return Ok(());
        }
        match rustix::net::send(&self.socket, transport.outgoing(), SendFlags::NOSIGNAL) {
            Ok(bytes) => transport.sent(bytes),
            // The server's last message explains more than its close.
            Err(Errno::AGAIN | Errno::INTR | Errno::PIPE | Errno::CONNRESET) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn wait(&self, interest: PollFlags, most: Timespec) {
        // A signal or a failure ends the wait early; the next step detects it.
        let _ = poll(&mut [PollFd::new(&self.socket, interest)], Some(&most));
    }
}

/// Checks the received bytes, and returns the result if the reply has ended.
fn feed<C: Codec>(
    codec: &mut C,
    connection: &mut C::Connection,
    said: &[u8],
    received: &mut Vec<u8>,
) -> Option<Ending> {
    /// Length of the reply that is kept for an error message.
    const KEPT_BYTES: usize = 256;
    let room = KEPT_BYTES.saturating_sub(received.len());
    received.extend_from_slice(&said[..said.len().min(room)]);
    let mut rest = said;
    while !rest.is_empty() {
        match codec.feed(connection, rest) {
            Ok(Fed { event: Some(Event::Reply(reply) | Event::ReplyTo(_, reply)), .. }) => {
                return Some(Ending::Complete(reply));
            }
            Ok(Fed { event: Some(Event::Failed(_, why)), .. }) => return Some(Ending::Wrong(*why)),
            Ok(Fed { event: Some(Event::Wrong(it)), .. }) => return Some(Ending::Wrong(it.1)),
            Ok(Fed { event: Some(Event::Refused(_)), .. }) => {
                return Some(Ending::Wrong(ReplyError::NotProcessed));
            }
            Ok(Fed { consumed, event: None | Some(Event::Ready | Event::Closing) }) => {
                rest = &rest[consumed..];
            }
            Err(error) => return Some(Ending::Wrong(error)),
        }
    }
    None
}

/// The server has ended the connection.
fn finish<C: Codec>(
    codec: &mut C,
    connection: &mut C::Connection,
    transport: &Transport,
) -> Ending {
    if !transport.may_end() {
        return Ending::Closed;
    }
    match codec.finish(connection) {
        Ok(Some(Event::Reply(reply))) => Ending::Complete(reply),
        Ok(Some(Event::Wrong(wrong))) => Ending::Wrong(wrong.1),
        Ok(_) => Ending::Closed,
        Err(error) => Ending::Wrong(error),
    }
}
