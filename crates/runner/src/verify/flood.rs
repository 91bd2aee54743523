//! More requests than a server can answer, on several connections at once. The replies are read and
//! thrown away: whether they are right is the business of other checks.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};
use wirebench_schema::scenario::Protocol;

use super::http;

/// Bytes of requests that are written at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How often the end of the time is looked for while nothing moves.
const STEP_NS: i64 = 10_000_000;

/// Connections that are kept full of requests.
#[derive(Debug)]
pub(super) struct Flood {
    address: SocketAddr,
    /// Requests one after the other.
    requests: Vec<u8>,
    /// Each with the place in `requests` at which it goes on.
    connections: Vec<(TcpStream, usize)>,
    replies: Vec<u8>,
}

impl Flood {
    pub(super) fn open(
        protocol: Protocol,
        address: SocketAddr,
        connections: usize,
    ) -> Result<Self, String> {
        let request = match protocol {
            Protocol::Http1 => http::head(address),
            Protocol::Echo => vec![b'x'],
        };
        let requests = request.repeat(CHUNK_BYTES.div_ceil(request.len()));
        let replies = vec![0; 4 * CHUNK_BYTES];
        let mut flood = Self { address, requests, connections: Vec::new(), replies };
        for _ in 0..connections {
            let fresh = flood.connect()?;
            flood.connections.push(fresh);
        }
        Ok(flood)
    }

    fn connect(&self) -> Result<(TcpStream, usize), String> {
        let stream = TcpStream::connect_timeout(&self.address, CONNECT_TIMEOUT)
            .and_then(|stream| stream.set_nonblocking(true).map(|()| stream))
            .map_err(|error| format!("a connection could not be made: {error}"))?;
        Ok((stream, 0))
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
            let wanted = PollFlags::IN | PollFlags::OUT;
            let all = self.connections.iter();
            let mut fds: Vec<_> = all.map(|(stream, _)| PollFd::new(stream, wanted)).collect();
            let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: STEP_NS }));
        }
        Ok(())
    }

    /// Writes what one connection takes, and reads what has come on it.
    fn step(&mut self, index: usize) -> io::Result<()> {
        let (stream, at) = &mut self.connections[index];
        match stream.write(&self.requests[*at..]) {
            Ok(written) => *at = (*at + written) % self.requests.len(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        match stream.read(&mut self.replies) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_flood_goes_on_where_it_stopped_and_on_a_fresh_connection_after_an_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let head = http::head(address);
        let server = std::thread::spawn(move || {
            let mut heads = 0;
            for length in [head.len() * 3000, head.len()] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut bytes = vec![0; length];
                stream.read_exact(&mut bytes).unwrap();
                assert_eq!(bytes, head.repeat(length / head.len()));
                heads += length / head.len();
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
