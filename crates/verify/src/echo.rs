//! Checks of `echo`: every byte back, in order, nothing else, however it is cut and whenever it is
//! read.

use std::{net::SocketAddr, time::Duration};

use super::{
    Check,
    client::{Buffers, Client, ClientError, Progress, ReadOutcome},
    protocol::{FirstExchange, ProtocolSupport, RequestStream},
    show,
};

pub(super) const SUPPORT: ProtocolSupport = ProtocolSupport {
    checks: &CHECKS,
    open: |address| Ok(Box::new(Messages(Client::connect(address, Buffers::Usual)?))),
    works,
    reset_clients,
    first_exchange,
    request: |_| vec![b'x'; FLOOD_BYTES],
    count_replies: |came, bytes| {
        let all = *came + bytes.len();
        *came = all % FLOOD_BYTES;
        all / FLOOD_BYTES
    },
};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
/// How long nothing may come where nothing must come.
const QUIET: Duration = Duration::from_millis(50);
/// More than this cannot wait in the kernel's buffers for a client with small ones.
const HOARD_BYTES: usize = 64 * MIB;
const CONNECTIONS: usize = 200;
/// Bytes of a message that is repeated, and of one in a flood.
const MESSAGE_BYTES: usize = 64;
const FLOOD_BYTES: usize = 1024;

const CHECKS: [Check; 7] = [
    Check {
        name: "echo-exact",
        about: "A few bytes come back unchanged, and no other byte.",
        run: echo_exact,
    },
    Check {
        name: "echo-sizes",
        about: "Random bytes of 1 byte to 1 MiB come back unchanged.",
        run: echo_sizes,
    },
    Check {
        name: "echo-large",
        about: "16 MiB come back while they are still being sent.",
        run: echo_large,
    },
    Check {
        name: "echo-split",
        about: "A stream that is cut at random places comes back unchanged.",
        run: echo_split,
    },
    Check {
        name: "echo-half-close",
        about: "After the client half-closes, the remaining bytes come back, then the end of the stream.",
        run: echo_half_close,
    },
    Check {
        name: "echo-slow-reader",
        about: "The server stops reading while its client does not read, and loses no byte.",
        run: echo_slow_reader,
    },
    Check {
        name: "many-connections",
        about: "200 concurrent connections are all served, each with its own bytes.",
        run: many_connections,
    },
];

fn random_bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    fastrand::Rng::with_seed(seed).fill(&mut bytes);
    bytes
}

/// A connection, all that is sent on it and how much has come back.
struct Conversation {
    client: Client,
    stream: Vec<u8>,
    sent: usize,
    came: usize,
}

impl Conversation {
    /// Connects; `stream` is what is to be sent.
    fn open(address: SocketAddr, buffers: Buffers, stream: Vec<u8>) -> Result<Self, String> {
        Ok(Self { client: Client::connect(address, buffers)?, stream, sent: 0, came: 0 })
    }

    /// Sends up to the position `end` of the stream and waits until all of that is back.
    fn exchange(&mut self, end: usize) -> Result<(), String> {
        let Self { client, stream, sent, came } = self;
        if *came == end {
            return Ok(());
        }
        let outcome = receive_back(client, &stream[*sent..end], &stream[..end], came);
        *sent = end;
        let bytes = show::count(end, "byte", "bytes");
        outcome.map_err(|trouble| trouble.after(&format!("{came} of {bytes} had come back")))
    }

    /// Sends up to the position `end` without reading.
    fn send(&mut self, end: usize) -> Result<(), ClientError> {
        self.client.send(&self.stream[self.sent..end])?;
        self.sent = end;
        Ok(())
    }

    fn exchange_all(&mut self) -> Result<(), String> {
        self.exchange(self.stream.len())
    }

    fn expect_nothing(&mut self) -> Result<(), String> {
        let sent = show::count(self.sent, "byte", "bytes");
        match self.client.look(QUIET)? {
            ReadOutcome::Nothing => Ok(()),
            ReadOutcome::Bytes(bytes) => {
                let shown = show::bytes(&bytes);
                Err(format!("{sent} were sent and came back, and then more came: {shown}"))
            }
            ReadOutcome::End => Err(format!("the server closed the connection after {sent}")),
            ReadOutcome::Reset => Err(format!("the server reset the connection after {sent}")),
        }
    }
}

/// A connection on which messages of equal bytes are repeated.
struct Messages(Client);

impl RequestStream for Messages {
    fn port(&self) -> u16 {
        self.0.port()
    }

    fn send(&mut self, count: usize) -> Result<(), String> {
        Ok(self.0.send(&vec![b'x'; count * MESSAGE_BYTES])?)
    }

    fn receive(&mut self, count: usize) -> Result<(), String> {
        let expected = vec![b'x'; count * MESSAGE_BYTES];
        Ok(receive_back(&mut self.0, &[], &expected, &mut 0)?)
    }
}

fn first_exchange(
    client: &mut Client,
    _: SocketAddr,
    exchange: &FirstExchange,
) -> Result<(), ClientError> {
    let message = vec![b'x'; exchange.payload_bytes.max(1)];
    receive_back(client, &message, &message, &mut 0)
}

/// Sends bytes and waits until the expected ones have come back, of which `came` had before.
fn receive_back(
    client: &mut Client,
    sent: &[u8],
    expected: &[u8],
    came: &mut usize,
) -> Result<(), ClientError> {
    client.transfer(sent, &mut |bytes| {
        if let Some(difference) = show::difference(expected, *came, bytes) {
            return Err(difference);
        }
        *came += bytes.len();
        Ok(if *came < expected.len() { Progress::More } else { Progress::Done })
    })
}

fn echo_exact(address: SocketAddr) -> Result<(), String> {
    let stream = b"Hello, echo!\r\n\0\xff".to_vec();
    let mut conversation = Conversation::open(address, Buffers::Usual, stream)?;
    conversation.exchange(5)?;
    conversation.expect_nothing()?;
    conversation.exchange_all()?;
    conversation.expect_nothing()
}

fn echo_sizes(address: SocketAddr) -> Result<(), String> {
    for size in [1, 2, 1023, 1024, 1025, 4096, 64 * KIB, MIB] {
        Conversation::open(address, Buffers::Usual, random_bytes(size as u64, size))?
            .exchange_all()
            .map_err(|finding| format!("{}: {finding}", show::count(size, "byte", "bytes")))?;
    }
    Ok(())
}

fn echo_large(address: SocketAddr) -> Result<(), String> {
    Conversation::open(address, Buffers::Usual, random_bytes(2, 16 * MIB))?
        .exchange_all()
        .map_err(|finding| format!("16 MiB: {finding}"))
}

fn echo_split(address: SocketAddr) -> Result<(), String> {
    let mut random = fastrand::Rng::with_seed(3);
    let length = 64 * KIB;
    let mut conversation = Conversation::open(address, Buffers::Usual, random_bytes(4, length))?;
    while conversation.sent < length {
        let end = (conversation.sent + random.usize(1..3000)).min(length);
        // Some pieces are waited for, some follow at once, so that the server sees cuts of both
        // kinds.
        if random.bool() {
            conversation.send(end)?;
        } else {
            conversation.exchange(end)?;
        }
    }
    conversation.exchange_all()
}

fn echo_half_close(address: SocketAddr) -> Result<(), String> {
    for size in [1, 512 * KIB] {
        let context = |finding: String| {
            let bytes = show::count(size, "byte", "bytes");
            format!("after {bytes} and the client's end of stream: {finding}")
        };
        let stream = random_bytes(size as u64, size);
        let mut conversation = Conversation::open(address, Buffers::Usual, stream)?;
        // The kernel takes this much from a client that does not read yet, unless it is short of
        // memory.
        conversation.send(size).map_err(|trouble| context(trouble.to_string()))?;
        conversation.client.half_close()?;
        // Lets the end of the stream reach a server that still has bytes to send back.
        std::thread::sleep(QUIET);
        conversation
            .exchange_all()
            .and_then(|()| conversation.client.expect_end())
            .map_err(context)?;
    }
    // The end of the stream without any byte.
    let mut client = Client::connect(address, Buffers::Usual)?;
    client.half_close()?;
    client.expect_end().map_err(|finding| format!("an end of stream without any byte: {finding}"))
}

fn echo_slow_reader(address: SocketAddr) -> Result<(), String> {
    let stream = random_bytes(5, HOARD_BYTES);
    let mut conversation = Conversation::open(address, Buffers::Small, stream)?;
    let sent = conversation.client.send_until_full(&conversation.stream)?;
    if sent == HOARD_BYTES {
        return Err(format!(
            "the server took {} MiB while nothing of it was read back: its memory is not bounded",
            HOARD_BYTES / MIB
        ));
    }
    conversation.sent = sent;
    conversation.exchange(sent).map_err(|finding| format!("{sent} bytes read late: {finding}"))?;
    conversation.client.half_close()?;
    conversation.client.expect_end()
}

fn many_connections(address: SocketAddr) -> Result<(), String> {
    let mut all = Vec::new();
    for number in 1..=CONNECTIONS {
        let stream = random_bytes(number as u64, 300);
        let opened = Conversation::open(address, Buffers::Usual, stream);
        all.push(opened.map_err(|finding| format!("connection {number}: {finding}"))?);
    }
    for end in [100, 200, 300] {
        for (number, conversation) in (1..).zip(&mut all) {
            let sent = conversation.send(end);
            sent.map_err(|trouble| format!("connection {number}: {trouble}"))?;
        }
        for (number, conversation) in (1..).zip(&mut all) {
            conversation
                .exchange(end)
                .map_err(|finding| format!("connection {number} of {CONNECTIONS}: {finding}"))?;
        }
    }
    Ok(())
}

/// A few bytes on a fresh connection, for checks that only need to know that the server still
/// works.
fn works(address: SocketAddr) -> Result<(), String> {
    Conversation::open(address, Buffers::Usual, random_bytes(6, 100))?.exchange_all()
}

/// What a client can do to a server when it goes away: after some bytes, and with echoes unread.
fn reset_clients(address: SocketAddr) -> Result<(), ClientError> {
    for _ in 0..5 {
        let mut client = Client::connect(address, Buffers::Usual)?;
        client.send(&[b'x'; 100])?;
        client.reset();
    }
    let mut client = Client::connect(address, Buffers::Small)?;
    client.send_until_full(&vec![b'x'; MIB])?;
    client.reset();
    Ok(())
}
