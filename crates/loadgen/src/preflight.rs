//! Before the load one connection sends one request and its reply is checked, so that a mistake
//! gets one clear sentence at once instead of a report full of errors.
//!
//! It also finds out which of several addresses answers, and learns the body that HTTP replies must
//! have. `wire` is what lies between the exchange and its socket.

mod wire;

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::SendFlags,
};
use std::{
    io::ErrorKind,
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};
use wirebench_schema::{
    load::{BodyCheck, LoadConfig},
    target::Target,
    units::write_duration,
};

use crate::{
    codec::{Codec, Reply, ReplyError, excerpt},
    error::LoadError,
    plan::Speech,
    tls::Connector,
};
use wire::Wire;

/// How often a wait looks whether it should be given up.
const SLICE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// How the first exchange ended.
#[derive(Debug)]
pub(crate) enum Preflight {
    /// The server answers here.
    Answered(SocketAddr),
    /// A signal came first.
    Interrupted,
}

/// Finds the address that answers, and completes what the codec expects.
pub(crate) fn preflight(
    config: &LoadConfig,
    addresses: &[SocketAddr],
    speech: &mut Speech,
    connector: Option<&Connector>,
    stop: &AtomicBool,
) -> Result<Preflight, LoadError> {
    let stream = connect(config, addresses)?;
    let address = stream
        .peer_addr()
        .map_err(|error| LoadError::Connect { address: addresses[0], reason: error.to_string() })?;
    let exchange = Exchange { config, address, stream, connector, stop };
    let reply = match speech {
        Speech::Echo(echo) => {
            let mut connection = echo.connection(usize::MAX);
            exchange.run(echo, &mut connection)?
        }
        Speech::Http1(http) => {
            let mut connection = http.connection(0);
            connection.learn();
            let reply = exchange.run(http, &mut connection)?;
            if http.rules.expected.is_none() && config.body_check == BodyCheck::Same {
                http.rules.expected = connection.learned().map(Arc::new);
            }
            reply
        }
    };
    Ok(reply.map_or(Preflight::Interrupted, |_| Preflight::Answered(address)))
}

/// Tries one address after the other.
fn connect(config: &LoadConfig, addresses: &[SocketAddr]) -> Result<TcpStream, LoadError> {
    let mut failure = None;
    for address in addresses {
        match TcpStream::connect_timeout(address, config.timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                let reason = format!("no answer within {}", write_duration(config.timeout));
                failure = Some(LoadError::Connect { address: *address, reason });
            }
            Err(error) => {
                let reason = error.to_string();
                failure = Some(LoadError::Connect { address: *address, reason });
            }
        }
    }
    let all = || addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
    Err(failure.unwrap_or_else(|| LoadError::NothingListens { addresses: all() }))
}

/// One request and its reply on one connection.
struct Exchange<'a> {
    config: &'a LoadConfig,
    address: SocketAddr,
    stream: TcpStream,
    connector: Option<&'a Connector>,
    stop: &'a AtomicBool,
}

/// How the reply ended.
enum Ending {
    Complete(Reply),
    Interrupted,
    Closed,
    Reset,
    Late,
    Wrong(ReplyError),
    Tls(rustls::Error),
    Socket(Errno),
}

impl Exchange<'_> {
    /// The reply; nothing when a signal came first.
    fn run<C: Codec>(
        self,
        codec: &mut C,
        connection: &mut C::Connection,
    ) -> Result<Option<Reply>, LoadError> {
        let mut received = Vec::new();
        let mut wire = Wire::new(self.connector).map_err(|error| {
            LoadError::Configuration(format!("TLS cannot begin ({error}): check the target"))
        })?;
        let sentence = match self.exchange(codec, connection, &mut wire, &mut received) {
            Ending::Complete(reply) => return Ok(Some(reply)),
            Ending::Interrupted => return Ok(None),
            Ending::Wrong(error) => self.wrong(&error, &received),
            Ending::Tls(error) => wire.sentence(&error, self.address, self.config),
            Ending::Closed | Ending::Reset if wire.is_handshaking() => format!(
                "{} closes the connection in the TLS handshake: check that it speaks TLS, or write \
                 {}",
                self.address,
                wire::without_tls(self.target())
            ),
            Ending::Late if wire.is_handshaking() => format!(
                "{} does not finish the TLS handshake within {}: check that it speaks TLS, write \
                 {}, or give a longer --timeout",
                self.address,
                write_duration(self.config.timeout),
                wire::without_tls(self.target())
            ),
            Ending::Closed | Ending::Reset if received.is_empty() => format!(
                "{} closes the connection without a reply: check that it speaks {}",
                self.address,
                self.protocol()
            ),
            Ending::Closed | Ending::Reset => format!(
                "{} closes the connection in the middle of its reply, which starts with \"{}\": \
                 check that the server works",
                self.address,
                excerpt(&received)
            ),
            Ending::Late if received.is_empty() => format!(
                "{} accepts the connection but does not reply within {}: check that it speaks {}, \
                 or give a longer --timeout",
                self.address,
                write_duration(self.config.timeout),
                self.protocol()
            ),
            Ending::Late => format!(
                "{} does not finish its reply within {}; it starts with \"{}\": check that it \
                 speaks {}, or give a longer --timeout",
                self.address,
                write_duration(self.config.timeout),
                excerpt(&received),
                self.protocol()
            ),
            Ending::Socket(error) => {
                let (address, reason) = (self.address, error.to_string());
                return Err(LoadError::Connect { address, reason });
            }
        };
        Err(LoadError::Preflight(sentence))
    }

    fn protocol(&self) -> &'static str {
        match self.config.target.protocol() {
            wirebench_schema::scenario::Protocol::Http1 => "HTTP/1.1",
            wirebench_schema::scenario::Protocol::Echo => "echo",
        }
    }

    fn wrong(&self, error: &ReplyError, received: &[u8]) -> String {
        let address = self.address;
        match error {
            ReplyError::NotHttp { .. } if received.starts_with(&wire::ALERT) => format!(
                "{address} answers with TLS: write https://{}{}",
                self.target().authority(),
                self.target().path()
            ),
            ReplyError::NotHttp { start } => format!(
                "{address} answers, but not with HTTP/1.1: the reply starts with \"{start}\"; \
                 check the port, or write tcp://{address} if it is an echo server"
            ),
            ReplyError::EchoDiffers { .. } => format!(
                "{address} answers, but it is no echo server ({error}): the reply starts with \
                 \"{}\"; check the port, or write http://{address}/ for HTTP/1.1",
                excerpt(received)
            ),
            ReplyError::BodyLength { .. } | ReplyError::BodyDiffers { .. } => format!(
                "{} does not reply as expected: {error}; check the path, or the body that is \
                 expected",
                self.target()
            ),
            other => format!(
                "{} gives a wrong reply: {other}; repair the server, it would not count",
                self.target()
            ),
        }
    }

    fn target(&self) -> &Target {
        &self.config.target
    }

    /// Sends and receives at the same time, as an echo of many bytes needs.
    fn exchange<C: Codec>(
        &self,
        codec: &mut C,
        connection: &mut C::Connection,
        wire: &mut Wire,
        received: &mut Vec<u8>,
    ) -> Ending {
        if let Err(error) = rustix::io::ioctl_fionbio(&self.stream, true) {
            return Ending::Socket(error);
        }
        let deadline = Instant::now().checked_add(self.config.timeout);
        let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut buffer = vec![0; 64 * 1024];
        let mut sent = 0;
        let all = codec.request_bytes();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ending::Interrupted;
            }
            if is_late() {
                return Ending::Late;
            }
            if sent < all {
                match wire.put(codec.outgoing(connection, sent, all - sent)) {
                    Ok(bytes) => sent += bytes as u64,
                    Err(error) => return Ending::Tls(error),
                }
            }
            if let Err(error) = self.send(wire) {
                return Ending::Socket(error);
            }
            let has_more = sent < all && !wire.is_handshaking();
            self.wait(has_more || !wire.outgoing().is_empty());
            match rustix::io::read(&self.stream, &mut *buffer) {
                Ok(0) => return finish(codec, connection, wire),
                Ok(bytes) => {
                    let result = wire.receive(&buffer[..bytes]);
                    if let Some(ending) = feed(codec, connection, wire.said(), received) {
                        wire.announce_end();
                        let _ = self.send(wire);
                        return ending;
                    }
                    if let Err(error) = result {
                        // An alert tells the server why.
                        let _ = self.send(wire);
                        return Ending::Tls(error);
                    }
                    if wire.has_ended() {
                        return finish(codec, connection, wire);
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::CONNRESET | Errno::PIPE) => return Ending::Reset,
                Err(error) => return Ending::Socket(error),
            }
        }
    }

    /// Sends what goes.
    fn send(&self, wire: &mut Wire) -> Result<(), Errno> {
        if wire.outgoing().is_empty() {
            return Ok(());
        }
        match rustix::net::send(&self.stream, wire.outgoing(), SendFlags::NOSIGNAL) {
            Ok(bytes) => wire.sent(bytes),
            // What the server said before it closed is more telling than that it closed.
            Err(Errno::AGAIN | Errno::INTR | Errno::PIPE | Errno::CONNRESET) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn wait(&self, sending: bool) {
        let interest = if sending { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        // A signal or a failure ends the wait early; what follows finds out.
        let _ = poll(&mut [PollFd::new(&self.stream, interest)], Some(&SLICE));
    }
}

/// Checks what has come, and says how it ended if it did.
fn feed<C: Codec>(
    codec: &mut C,
    connection: &mut C::Connection,
    said: &[u8],
    received: &mut Vec<u8>,
) -> Option<Ending> {
    /// How much of the reply is kept for a sentence about it.
    const KEPT_BYTES: usize = 256;
    let room = KEPT_BYTES.saturating_sub(received.len());
    received.extend_from_slice(&said[..said.len().min(room)]);
    if said.is_empty() {
        return None;
    }
    match codec.feed(connection, said) {
        Ok(fed) => fed.reply.map(Ending::Complete),
        Err(error) => Some(Ending::Wrong(error)),
    }
}

/// The server has ended the connection.
fn finish<C: Codec>(codec: &mut C, connection: &mut C::Connection, wire: &Wire) -> Ending {
    if !wire.may_end() {
        return Ending::Closed;
    }
    match codec.finish(connection) {
        Ok(Some(reply)) => Ending::Complete(reply),
        Ok(None) => Ending::Closed,
        Err(error) => Ending::Wrong(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_port_without_a_listener_is_named_with_the_next_step() {
        let address: SocketAddr = "127.0.0.1:9".parse().unwrap();
        let mut config = LoadConfig::new("tcp://127.0.0.1:9".parse().unwrap());
        config.timeout = Duration::from_secs(2);
        let message = connect(&config, &[address]).unwrap_err().to_string();
        assert_eq!(
            message,
            "nothing listens on 127.0.0.1:9: start the server first, or check the port"
        );
    }
}
