//! Before the load one connection sends a request and its reply is checked, so that a mistake
//! gets one clear sentence at once instead of a report full of errors.
//!
//! It also finds out which of several addresses answers, and learns the body that HTTP replies must
//! have. A body that is learned so is asked for twice, to see whether it is always the same.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::SendFlags,
};
use std::{
    io::ErrorKind,
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};
use wirebench_schema::{
    load::{BodyCheck, LoadConfig},
    target::Target,
    units::write_duration,
};

use crate::{
    codec::{Codec, Persistence, Reply, ReplyError, excerpt},
    error::LoadError,
    plan::Speech,
};

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
    stop: &AtomicBool,
) -> Result<Preflight, LoadError> {
    let stream = connect(config, addresses)?;
    let address = stream
        .peer_addr()
        .map_err(|error| LoadError::Connect { address: addresses[0], reason: error.to_string() })?;
    let exchange = Exchange { config, address, stream, stop };
    let reply = match speech {
        Speech::Echo(echo) => {
            let mut connection = echo.connection(usize::MAX);
            exchange.run(echo, &mut connection)?
        }
        Speech::Http1(http) => {
            let mut connection = http.connection(0);
            connection.learn();
            let reply = exchange.run(http, &mut connection)?;
            let learned = connection.take_learned();
            http.reply_bytes = learned.as_ref().map_or(0, |learned| learned.reply_bytes);
            let learns_body = !http.expects_body() && config.body_check == BodyCheck::Same;
            match (reply, learned) {
                (Some(reply), Some(learned)) if learns_body => {
                    http.expect(learned.body);
                    exchange.repeat(http, &mut connection, reply)?
                }
                _ => reply,
            }
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
    Socket(Errno),
}

impl Exchange<'_> {
    /// The same exchange once more on the same connection, if it goes on, to see whether the body is
    /// the same. Whatever else goes wrong now is left to the load, which counts it.
    fn repeat<C: Codec>(
        &self,
        codec: &mut C,
        connection: &mut C::Connection,
        first: Reply,
    ) -> Result<Option<Reply>, LoadError> {
        if first.persistence == Persistence::Close {
            return Ok(Some(first));
        }
        let differs = match self.exchange(codec, connection, &mut Vec::new()) {
            Ending::Interrupted => return Ok(None),
            Ending::Wrong(ReplyError::BodyDiffers { at, .. }) => format!("from byte {at} on"),
            Ending::Wrong(ReplyError::BodyLength { expected, received, .. }) => {
                format!("{expected} and {received} bytes")
            }
            _ => return Ok(Some(first)),
        };
        Err(LoadError::Preflight(format!(
            "two replies of {} to the same request have different bodies ({differs}): \
             give --any-body to check the framing alone",
            self.target()
        )))
    }

    /// The reply; nothing when a signal came first.
    fn run<C: Codec>(
        &self,
        codec: &mut C,
        connection: &mut C::Connection,
    ) -> Result<Option<Reply>, LoadError> {
        let mut received = Vec::new();
        let sentence = match self.exchange(codec, connection, &mut received) {
            Ending::Complete(reply) => return Ok(Some(reply)),
            Ending::Interrupted => return Ok(None),
            Ending::Wrong(error) => self.wrong(&error, &received),
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
        received: &mut Vec<u8>,
    ) -> Ending {
        /// How much of the reply is kept for a sentence about it.
        const KEPT_BYTES: usize = 256;
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
            let progress = match all - sent {
                0 => Ok(0),
                left => {
                    let unsent = codec.outgoing(connection, sent, left);
                    rustix::net::send(&self.stream, unsent, SendFlags::NOSIGNAL)
                }
            };
            match progress {
                Ok(bytes) => sent += bytes as u64,
                // What the server said before it closed is more telling than that it closed.
                Err(Errno::AGAIN | Errno::INTR | Errno::PIPE | Errno::CONNRESET) => {}
                Err(error) => return Ending::Socket(error),
            }
            self.wait(sent < all);
            match rustix::io::read(&self.stream, &mut *buffer) {
                Ok(0) => {
                    return match codec.finish(connection) {
                        Ok(Some(reply)) => Ending::Complete(reply),
                        Ok(None) => Ending::Closed,
                        Err(error) => Ending::Wrong(error),
                    };
                }
                Ok(bytes) => {
                    let room = KEPT_BYTES.saturating_sub(received.len());
                    received.extend_from_slice(&buffer[..bytes.min(room)]);
                    match codec.feed(connection, &buffer[..bytes]) {
                        Ok(fed) => {
                            if let Some(reply) = fed.reply {
                                return Ending::Complete(reply);
                            }
                        }
                        Err(error) => return Ending::Wrong(error),
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::CONNRESET | Errno::PIPE) => return Ending::Reset,
                Err(error) => return Ending::Socket(error),
            }
        }
    }

    fn wait(&self, sending: bool) {
        let interest = if sending { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        // A signal or a failure ends the wait early; what follows finds out.
        let _ = poll(&mut [PollFd::new(&self.stream, interest)], Some(&SLICE));
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
