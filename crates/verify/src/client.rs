//! A TCP client whose every wait has an end and whose errors say what the server did.
//!
//! It is no load generator: it speaks to a server that may do anything, one connection at a time.

use nix::sys::socket::{setsockopt, sockopt::IpBindAddressNoPort};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::{
    io::{self, Read, Write},
    net::{IpAddr, Shutdown, SocketAddr, TcpStream},
    time::{Duration, Instant},
};
use wirebench_host::neighbours::CpuTimes;

/// How long a server may make no progress. Every wait for bytes that must come ends after it, unless
/// other work had all CPUs: see `Client::wait_for_progress`.
pub const PATIENCE: Duration = Duration::from_secs(3);
/// How long a server that makes no progress on a busy machine is given in all.
pub(super) const PATIENCE_MOST: Duration = Duration::from_secs(10);
/// How long the machine is watched each time before the server is given more time.
const WATCH: Duration = Duration::from_millis(500);
/// How long one connection may be used in all, however much progress it makes. It only bounds the
/// whole: slow servers are right too, and one without progress is given up after [`PATIENCE`].
const LIFETIME: Duration = Duration::from_secs(60);
/// How long bytes are sent to a server that takes them all, but slowly.
const SENDING_MOST: Duration = Duration::from_secs(5);
/// How long a socket must refuse bytes to count as full.
const FULL_AFTER: Duration = Duration::from_millis(250);
/// With these the kernel keeps little in each direction, at least for the first connections.
const SMALL_SEGMENT_BYTES: u32 = 1400;
const SMALL_RECEIVE_BYTES: usize = 16 * 1024;
const SMALL_SEND_BYTES: usize = 64 * 1024;
/// Bytes read at once.
const READ_BYTES: usize = 64 * 1024;

/// How much the kernel keeps for a client that does not read.
#[derive(Clone, Copy, Debug)]
pub enum Buffers {
    Usual,
    /// As little as a client can ask for, so that the server soon meets a full socket.
    Small,
}

/// Why a conversation did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing listens, or the accept queue is full.
    #[error("no connection could be made: {0}")]
    Connect(io::Error),
    #[error("the server closed the connection")]
    Closed,
    #[error("the server reset the connection")]
    Reset,
    /// No bytes in [`PATIENCE`].
    #[error("nothing came for {} s", PATIENCE.as_secs())]
    Silent,
    /// The server took no bytes in [`PATIENCE`].
    #[error("the server took no further bytes for {} s", PATIENCE.as_secs())]
    Stuck,
    /// It goes on, but too slowly for `LIFETIME`.
    #[error("the conversation was not over after {} s", LIFETIME.as_secs())]
    Slow,
    /// The bytes that came are wrong. Whole sentence.
    #[error("{0}")]
    Wrong(String),
}

impl ClientError {
    fn from_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Self::Reset,
            _ => Self::Wrong(format!("the connection failed: {error}")),
        }
    }

    /// The finding, with how far the conversation had come unless the bytes themselves are at
    /// fault.
    pub fn after(&self, progress: &str) -> String {
        match self {
            Self::Wrong(_) | Self::Connect(_) => self.to_string(),
            _ => format!("{self} after {progress}"),
        }
    }
}

impl From<ClientError> for String {
    fn from(trouble: ClientError) -> Self {
        trouble.to_string()
    }
}

/// What a bounded look at the connection brought.
#[derive(Debug)]
pub enum ReadOutcome {
    /// These bytes.
    Bytes(Vec<u8>),
    End,
    Reset,
    /// Nothing in the time that it had.
    Nothing,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Progress {
    More,
    /// All that must come has come.
    Done,
}

#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    until: Instant,
}

impl Client {
    pub fn connect(address: SocketAddr, buffers: Buffers) -> Result<Self, ClientError> {
        Self::connect_from(None, address, buffers)
    }

    /// Connects from an address of this host, or from the one that the kernel chooses.
    pub fn connect_from(
        source: Option<IpAddr>,
        address: SocketAddr,
        buffers: Buffers,
    ) -> Result<Self, ClientError> {
        let connect = || {
            let socket =
                Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
            if matches!(buffers, Buffers::Small) {
                socket.set_recv_buffer_size(SMALL_RECEIVE_BYTES)?;
                socket.set_send_buffer_size(SMALL_SEND_BYTES)?;
                socket.set_tcp_mss(SMALL_SEGMENT_BYTES)?;
            }
            if let Some(source) = source {
                // The port is chosen when the other end is known: one that is in use towards
                // another server will do.
                setsockopt(&socket, IpBindAddressNoPort, &true)?;
                socket.bind(&SockAddr::from(SocketAddr::new(source, 0)))?;
            }
            socket.connect_timeout(&SockAddr::from(address), PATIENCE)?;
            socket.set_tcp_nodelay(true)?;
            socket.set_nonblocking(true)?;
            Ok(TcpStream::from(socket))
        };
        let stream = connect().map_err(ClientError::Connect)?;
        Ok(Self { stream, until: Instant::now() + LIFETIME })
    }

    /// The port on this side; with it the server's side can be found in the kernel's table.
    pub fn port(&self) -> u16 {
        self.stream.local_addr().map_or(0, |address| address.port())
    }

    /// Waits until one of `wanted` is possible, for at most `time`.
    fn wait(&self, wanted: PollFlags, time: Duration) -> Result<PollFlags, ClientError> {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).map_err(|_| ClientError::Slow)?;
            let mut fds = [PollFd::new(&self.stream, wanted)];
            match poll(&mut fds, Some(&timeout)) {
                Ok(_) => return Ok(fds[0].revents()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(ClientError::from_io(&error.into())),
            }
        }
    }

    /// Waits until one of `wanted` is possible, for [`PATIENCE`]; longer while other work keeps all
    /// CPUs busy, because a server that gets no CPU cannot make progress.
    fn wait_for_progress(&self, wanted: PollFlags) -> Result<PollFlags, ClientError> {
        let end = Instant::now() + PATIENCE_MOST;
        let mut ready = self.wait(wanted, PATIENCE)?;
        while ready.is_empty() && Instant::now() < end {
            let before = CpuTimes::read();
            ready = self.wait(wanted, WATCH)?;
            if ready.is_empty() && !CpuTimes::read().is_full_since(&before) {
                break;
            }
        }
        Ok(ready)
    }

    fn write_some(&mut self, bytes: &[u8]) -> Result<usize, ClientError> {
        match self.stream.write(bytes) {
            Ok(length) => Ok(length),
            Err(error) if is_temporary(&error) => Ok(0),
            Err(error) => Err(ClientError::from_io(&error)),
        }
    }

    fn read_some(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, ClientError> {
        match self.stream.read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if is_temporary(&error) => Ok(None),
            Err(error) => Err(ClientError::from_io(&error)),
        }
    }

    /// Sends all of `bytes` without reading.
    pub fn send(&mut self, mut bytes: &[u8]) -> Result<(), ClientError> {
        loop {
            let length = self.write_some(bytes)?;
            bytes = &bytes[length..];
            if bytes.is_empty() {
                return Ok(());
            }
            if self.wait_for_progress(PollFlags::OUT)?.is_empty() {
                return Err(ClientError::Stuck);
            }
        }
    }

    /// Sends without reading until all is sent, the socket stays full, or the server has had
    /// `SENDING_MOST` to take what it could. Returns how much was taken.
    pub fn send_until_full(&mut self, bytes: &[u8]) -> Result<usize, ClientError> {
        let until = Instant::now() + SENDING_MOST;
        let mut sent = 0;
        while sent < bytes.len() && Instant::now() < until {
            sent += self.write_some(&bytes[sent..])?;
            if sent < bytes.len() && self.wait(PollFlags::OUT, FULL_AFTER)?.is_empty() {
                break;
            }
        }
        Ok(sent)
    }

    /// Sends `bytes` and, meanwhile and afterwards, gives all that comes to `take` until that has
    /// seen all it needs.
    pub fn transfer(
        &mut self,
        mut bytes: &[u8],
        take: &mut dyn FnMut(&[u8]) -> Result<Progress, String>,
    ) -> Result<(), ClientError> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let wanted =
                if bytes.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
            let ready = self.wait_for_progress(wanted)?;
            if ready.is_empty() {
                return Err(if bytes.is_empty() {
                    ClientError::Silent
                } else {
                    ClientError::Stuck
                });
            }
            if Instant::now() > self.until {
                return Err(ClientError::Slow);
            }
            if ready.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                match self.read_some(&mut buffer)? {
                    Some(0) => return Err(ClientError::Closed),
                    Some(length) => match take(&buffer[..length]).map_err(ClientError::Wrong)? {
                        Progress::Done => return Ok(()),
                        Progress::More => {}
                    },
                    None => {}
                }
            }
            if ready.contains(PollFlags::OUT) && !bytes.is_empty() {
                let length = self.write_some(bytes)?;
                bytes = &bytes[length..];
            }
        }
    }

    /// What is there or comes within `time`.
    pub fn look(&mut self, time: Duration) -> Result<ReadOutcome, ClientError> {
        let ready = self.wait(PollFlags::IN, time)?;
        self.seen(ready)
    }

    pub fn look_for_progress(&mut self) -> Result<ReadOutcome, ClientError> {
        let ready = self.wait_for_progress(PollFlags::IN)?;
        self.seen(ready)
    }

    fn seen(&mut self, ready: PollFlags) -> Result<ReadOutcome, ClientError> {
        if ready.is_empty() {
            return Ok(ReadOutcome::Nothing);
        }
        let mut buffer = vec![0; READ_BYTES];
        match self.read_some(&mut buffer) {
            Ok(Some(0)) => Ok(ReadOutcome::End),
            Ok(Some(length)) => {
                buffer.truncate(length);
                Ok(ReadOutcome::Bytes(buffer))
            }
            Ok(None) => Ok(ReadOutcome::Nothing),
            Err(ClientError::Reset) => Ok(ReadOutcome::Reset),
            Err(trouble) => Err(trouble),
        }
    }

    /// The server must close its side now, without a further byte.
    pub fn expect_end(&mut self) -> Result<(), String> {
        match self.look_for_progress()? {
            ReadOutcome::End => Ok(()),
            ReadOutcome::Reset => {
                Err("the server reset the connection instead of closing it in order".into())
            }
            ReadOutcome::Bytes(bytes) => {
                let shown = super::show::bytes(&bytes);
                Err(format!("the stream should have ended, but more came: {shown}"))
            }
            ReadOutcome::Nothing => Err(format!(
                "the server did not close the connection within {} s of the client's end of stream",
                PATIENCE.as_secs()
            )),
        }
    }

    /// Nothing more is sent; the server sees the end of the stream.
    pub fn half_close(&self) -> Result<(), ClientError> {
        self.stream.shutdown(Shutdown::Write).map_err(|error| ClientError::from_io(&error))
    }

    /// Ends the connection with RST, as a client does that crashes or gives up.
    pub fn reset(self) {
        // Without the option the connection ends with FIN, which is no error of the server's.
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::beside_busy_cpus;
    use std::{net::TcpListener, thread};

    #[test]
    fn a_server_that_gets_no_cpu_is_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            thread::sleep(PATIENCE + WATCH + WATCH / 2);
            stream.write_all(b"late").unwrap();
        });
        let seen = beside_busy_cpus(|| {
            Client::connect(address, Buffers::Usual)
                .and_then(|mut client| client.look_for_progress())
        });
        assert!(matches!(&seen, Ok(ReadOutcome::Bytes(bytes)) if bytes == b"late"), "{seen:?}");
    }
}
