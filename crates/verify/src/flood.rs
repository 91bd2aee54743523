//! More requests than a server can answer, on several connections at once. The replies are counted
//! and thrown away: whether they are right is the business of other checks.
//!
//! Each connection has a bounded number of requests in flight. Together they keep every worker at
//! work; without the bound a server would hold tens of thousands of requests of one connection at
//! once, and the check would see the threads of its garbage collector instead of its workers.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};
use wirebench_schema::scenario::Protocol;

use super::http;

/// Requests of one connection that wait for their replies at once.
const IN_FLIGHT: usize = 16;
/// Bytes of one message of an echo.
const ECHO_BYTES: usize = 1024;
/// What ends a reply's head. A body has no such bytes.
const HEAD_END: [u8; 4] = *b"\r\n\r\n";
/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How often the end of the time is looked for while nothing moves.
const STEP_NS: i64 = 10_000_000;

/// Connections that are kept full of requests.
#[derive(Debug)]
pub(super) struct Flood {
    address: SocketAddr,
    /// As many requests as may be in flight, one after the other.
    requests: Vec<u8>,
    connections: Vec<Connection>,
    replies: Vec<u8>,
    protocol: Protocol,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    /// Bytes that have been sent.
    sent: usize,
    /// Bytes that may have been sent at most, given the replies so far.
    allowed: usize,
    /// Of the end of a reply's head, or of an echoed message, this many bytes have come.
    matched: usize,
}

impl Flood {
    pub(super) fn open(
        protocol: Protocol,
        address: SocketAddr,
        connections: usize,
    ) -> Result<Self, String> {
        let request = match protocol {
            Protocol::Http1 => http::head(address),
            Protocol::Echo => vec![b'x'; ECHO_BYTES],
        };
        let requests = request.repeat(IN_FLIGHT);
        let replies = vec![0; 256 * 1024];
        let mut flood = Self { address, requests, connections: Vec::new(), replies, protocol };
        for _ in 0..connections {
            let fresh = flood.connect()?;
            flood.connections.push(fresh);
        }
        Ok(flood)
    }

    fn connect(&self) -> Result<Connection, String> {
        let stream = TcpStream::connect_timeout(&self.address, CONNECT_TIMEOUT)
            .and_then(|stream| stream.set_nonblocking(true).map(|()| stream))
            .map_err(|error| format!("a connection could not be made: {error}"))?;
        Ok(Connection { stream, sent: 0, allowed: self.requests.len(), matched: 0 })
    }

    /// Keeps all connections full for so long. One that the server closes, as some do after a
    /// number of requests, is made again.
    pub(super) fn keep_full(&mut self, time: Duration) -> Result<(), String> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            for index in 0..self.connections.len() {
                if self.step(index).is_err() {
                    self.connections[index] = self.connect()?;
                }
            }
            let mut fds: Vec<_> = self.connections.iter().map(Connection::wanted).collect();
            let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: STEP_NS }));
        }
        Ok(())
    }

    /// Reads what has come on one connection, and writes what it takes.
    fn step(&mut self, index: usize) -> io::Result<()> {
        let connection = &mut self.connections[index];
        match connection.stream.read(&mut self.replies) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                let answered = connection.count_replies(&self.replies[..length], self.protocol);
                connection.allowed += answered * (self.requests.len() / IN_FLIGHT);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        while connection.sent < connection.allowed {
            let at = connection.sent % self.requests.len();
            let end = self.requests.len().min(at + connection.allowed - connection.sent);
            match connection.stream.write(&self.requests[at..end]) {
                Ok(written) => connection.sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Connection {
    fn wanted(&self) -> PollFd<'_> {
        let mut wanted = PollFlags::IN;
        wanted.set(PollFlags::OUT, self.sent < self.allowed);
        PollFd::new(&self.stream, wanted)
    }

    /// How many replies end within these bytes.
    fn count_replies(&mut self, bytes: &[u8], protocol: Protocol) -> usize {
        match protocol {
            Protocol::Echo => {
                let all = self.matched + bytes.len();
                self.matched = all % ECHO_BYTES;
                all / ECHO_BYTES
            }
            Protocol::Http1 => bytes.iter().filter(|byte| self.ends_head(**byte)).count(),
        }
    }

    fn ends_head(&mut self, byte: u8) -> bool {
        self.matched = match byte {
            _ if byte == HEAD_END[self.matched] => self.matched + 1,
            b'\r' => 1,
            _ => 0,
        };
        let ends = self.matched == HEAD_END.len();
        self.matched %= HEAD_END.len();
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn only_so_many_requests_of_a_connection_wait_for_replies() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut flood = Flood::open(Protocol::Http1, address, 1).unwrap();
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let head = http::head(address).len();
        let sent = || {
            let mut bytes = Vec::new();
            let _ = (&server).read_to_end(&mut bytes);
            (bytes.len() / head, bytes.len() % head)
        };
        flood.keep_full(Duration::from_millis(20)).unwrap();
        assert_eq!(sent(), (16, 0));
        // The fourth byte of an end makes room for one more request, however it arrives.
        let mut answer = &server;
        answer.write_all(b"HTTP/1.1 200 OK\r\n\r").unwrap();
        flood.keep_full(Duration::from_millis(20)).unwrap();
        assert_eq!(sent(), (0, 0));
        answer.write_all(b"\nbody").unwrap();
        flood.keep_full(Duration::from_millis(20)).unwrap();
        assert_eq!(sent(), (1, 0));
    }

    #[test]
    fn echoed_messages_are_counted_by_their_bytes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let flood = Flood::open(Protocol::Echo, listener.local_addr().unwrap(), 1).unwrap();
        let [connection] = &mut { flood.connections }[..] else { panic!("one was asked for") };
        let counts = [1000, 24, 2049]
            .map(|length| connection.count_replies(&vec![b'x'; length], Protocol::Echo));
        assert_eq!(counts, [0, 1, 2]);
    }

    #[test]
    fn a_flood_goes_on_where_it_stopped_and_on_a_fresh_connection_after_an_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let head = http::head(address);
        let server = std::thread::spawn(move || {
            let mut heads = 0;
            for count in [3000, 1] {
                let (mut stream, _) = listener.accept().unwrap();
                for _ in 0..count {
                    let mut bytes = vec![0; head.len()];
                    stream.read_exact(&mut bytes).unwrap();
                    assert_eq!(bytes, head);
                    stream.write_all(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n").unwrap();
                    heads += 1;
                }
            }
            heads
        });
        let mut flood = Flood::open(Protocol::Http1, address, 1).unwrap();
        while !server.is_finished() {
            // Once the server has enough, nobody accepts any more.
            let _ = flood.keep_full(Duration::from_millis(20));
        }
        assert_eq!(server.join().unwrap(), 3001);
    }
}
