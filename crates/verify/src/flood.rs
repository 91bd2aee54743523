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

use super::{protocol::ProtocolSupport, protocols::support};

/// Requests of one connection that wait for their replies at once.
const IN_FLIGHT: usize = 16;
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
    /// Counts the replies that end in received bytes.
    count_replies: fn(&mut usize, &[u8]) -> usize,
    replied: u64,
}

/// Has `most` requests answered, or as many as a server answers in a while, and returns their number.
pub(super) fn answered(protocol: Protocol, address: SocketAddr, most: u64) -> Result<u64, String> {
    const CONNECTIONS: usize = 16;
    const STEP: Duration = Duration::from_millis(50);
    const STEPS: usize = 20;
    let mut flood = Flood::open(protocol, address, CONNECTIONS)?;
    for _ in 0..STEPS {
        flood.keep_full(STEP)?;
        if flood.replied >= most {
            break;
        }
    }
    Ok(flood.replied)
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    /// Bytes that have been sent.
    sent: usize,
    /// Bytes that may have been sent at most, given the replies so far.
    allowed: usize,
    matched: usize,
}

impl Flood {
    pub(super) fn open(
        protocol: Protocol,
        address: SocketAddr,
        connections: usize,
    ) -> Result<Self, String> {
        let ProtocolSupport { request, count_replies, .. } = support(protocol);
        let requests = request(address).repeat(IN_FLIGHT);
        let replies = vec![0; 256 * 1024];
        let (connections_made, count_replies) = (Vec::new(), *count_replies);
        let mut flood = Self {
            address,
            requests,
            connections: connections_made,
            replies,
            count_replies,
            replied: 0,
        };
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
                let came = &self.replies[..length];
                let answered = (self.count_replies)(&mut connection.matched, came);
                self.replied += answered as u64;
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_connection_has_a_limit_of_requests_that_wait_for_replies() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut flood = Flood::open(Protocol::Http1, address, 1).unwrap();
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let head = (support(Protocol::Http1).request)(address).len();
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
    fn replies_are_counted_across_reads() {
        let count = |protocol, pieces: [&[u8]; 3]| {
            let mut state = 0;
            pieces.map(|bytes| (support(protocol).count_replies)(&mut state, bytes))
        };
        let bytes = [b'x'; 2049];
        assert_eq!(count(Protocol::Echo, [&bytes[..1000], &bytes[..24], &bytes]), [0, 1, 2]);
        let heads: [&[u8]; 3] = [b"A: b\r\n", b"\r\nbody\r\r\n\r", b"\nA: b\r\n\r\n"];
        assert_eq!(count(Protocol::Http1, heads), [0, 1, 2]);
    }

    #[test]
    fn a_flood_goes_on_where_it_stopped_and_on_a_fresh_connection_after_an_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let head = (support(Protocol::Http1).request)(address);
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
            // Once the server has enough, it accepts no more.
            let _ = flood.keep_full(Duration::from_millis(20));
        }
        assert_eq!(server.join().unwrap(), 3001);
    }
}
