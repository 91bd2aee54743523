//! A blocking client that fails a test instead of waiting forever. It knows bytes, not HTTP.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use socket2::SockRef;

pub(crate) const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
pub(crate) const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";

/// Long enough for any machine; only a broken server makes a test wait for it.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Client {
    stream: TcpStream,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect_timeout(&address, PATIENCE).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next bytes are these.
    pub(crate) fn expect(&mut self, expected: &[u8]) {
        let mut received = vec![0; expected.len()];
        self.stream.read_exact(&mut received).unwrap();
        // Not assert_eq, which would print megabytes.
        assert!(received == expected, "{} bytes differ from what was expected", received.len());
    }

    /// Nothing comes for a moment, although the connection is open.
    pub(crate) fn expect_silence(&mut self) {
        self.stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let error = self.stream.read(&mut [0]).expect_err("something came, or the end");
        assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
    }

    /// The server closes its side in an orderly way, and says nothing more.
    pub(crate) fn expect_end(&mut self) {
        assert_eq!(self.stream.read(&mut [0]).unwrap(), 0, "something came instead of the end");
    }

    pub(crate) fn finish(&mut self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Closes with a reset instead of an orderly end.
    pub(crate) fn reset(self) {
        SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).unwrap();
    }

    /// Sends all of `bytes` from a thread of its own while `receive` runs.
    pub(crate) fn send_while(&mut self, bytes: &[u8], receive: impl FnOnce(&mut Self)) {
        let mut sender = self.stream.try_clone().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || sender.write_all(bytes).unwrap());
            receive(self);
        });
    }

    /// Sends the pieces one at a time, with pauses in which the server can answer each by itself.
    pub(crate) fn send_separately<'a>(&mut self, pieces: impl IntoIterator<Item = &'a [u8]>) {
        for piece in pieces {
            self.send(piece);
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Sends pieces of the endless repetition of `pattern` without reading, until no room has come
    /// up for a while or `limit` is reached. Returns how many bytes went out.
    pub(crate) fn send_until_stuck(&mut self, pattern: &[u8], limit: usize) -> usize {
        self.stream.set_nonblocking(true).unwrap();
        let mut sent = 0;
        let mut last_progress = Instant::now();
        while sent < limit && last_progress.elapsed() < Duration::from_millis(500) {
            match self.stream.write(&pattern[sent % pattern.len()..]) {
                Ok(count) => {
                    sent += count;
                    last_progress = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => panic!("{error}"),
            }
        }
        self.stream.set_nonblocking(false).unwrap();
        sent
    }

    /// A receive buffer that does not grow makes the server's writes fall short early. It holds
    /// several segments of the loopback interface, because with less than that the two kernels
    /// get into waiting for each other's timers.
    pub(crate) fn fix_receive_buffer(&mut self) {
        SockRef::from(&self.stream).set_recv_buffer_size(256 * 1024).unwrap();
    }
}
