//! One connection: what it owes its client, and what happens when its socket may be ready.
//!
//! It deliberately knows nothing of `Poll`: it only says whether it waits, goes on or has ended.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::sync::LazyLock;

use mio::net::TcpStream;
use shared::{HeadCounter, REPLY, Scenario};

const REPLIES_PER_WRITE: usize = 1024;
const READS_PER_TURN: usize = 16;

static REPLY_BLOCK: LazyLock<Vec<u8>> = LazyLock::new(|| REPLY.repeat(REPLIES_PER_WRITE));

pub enum Progress {
    /// The socket would block: the next event continues.
    Waiting,
    /// There may be more to read, but others have their turn first.
    Unfinished,
    Ended,
}

enum Owed {
    Hello { counter: HeadCounter, bytes: usize },
    Echo { bytes: Vec<u8>, sent: usize },
}

pub struct Connection {
    pub stream: TcpStream,
    owed: Owed,
}

impl Connection {
    pub fn new(stream: TcpStream, scenario: Scenario) -> Self {
        let owed = match scenario {
            Scenario::Echo => Owed::Echo { bytes: Vec::new(), sent: 0 },
            _ => Owed::Hello { counter: HeadCounter::default(), bytes: 0 },
        };
        Self { stream, owed }
    }

    /// Reads only while nothing is owed; then until the socket would block, as Mio demands.
    pub fn serve(&mut self, buffer: &mut [u8]) -> io::Result<Progress> {
        for _ in 0..READS_PER_TURN {
            while let Some(output) = self.owed.output() {
                let Some(length) = unless_blocked(|| self.stream.write(output))? else {
                    return Ok(Progress::Waiting);
                };
                self.owed.sent(length);
            }
            match unless_blocked(|| self.stream.read(buffer))? {
                None => return Ok(Progress::Waiting),
                Some(0) => return Ok(Progress::Ended),
                Some(length) => self.take(&buffer[..length])?,
            }
        }
        Ok(Progress::Unfinished)
    }

    fn take(&mut self, input: &[u8]) -> io::Result<()> {
        match &mut self.owed {
            Owed::Hello { counter, bytes } => *bytes += counter.count(input) * REPLY.len(),
            Owed::Echo { bytes, sent } => {
                // Written from where it was read: only what the socket refuses is copied.
                let length = unless_blocked(|| self.stream.write(input))?.unwrap_or(0);
                bytes.clear();
                bytes.extend_from_slice(&input[length..]);
                *sent = 0;
            }
        }
        Ok(())
    }
}

impl Owed {
    fn output(&self) -> Option<&[u8]> {
        let output = match self {
            Self::Hello { bytes, .. } => {
                // Where a partial write stopped: all that is owed ends with a whole reply.
                let start = (REPLY.len() - bytes % REPLY.len()) % REPLY.len();
                &REPLY_BLOCK[start..REPLY_BLOCK.len().min(start + bytes)]
            }
            Self::Echo { bytes, sent } => &bytes[*sent..],
        };
        (!output.is_empty()).then_some(output)
    }

    fn sent(&mut self, length: usize) {
        match self {
            Self::Hello { bytes, .. } => *bytes -= length,
            Self::Echo { sent, .. } => *sent += length,
        }
    }
}

/// `None` if the operation would block.
pub fn unless_blocked<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<Option<T>> {
    loop {
        match operation() {
            Ok(value) => return Ok(Some(value)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
