//! Requests, and a connection on which they get replies. The checks that use them are in `hello`
//! and `timeout`.

use std::{net::SocketAddr, time::Duration};

use super::{
    client::{Buffers, Client, ClientError, Progress, ReadOutcome},
    protocol::{FirstExchange, RequestStream},
    reply::{self, Parsed, Replies},
    show,
};

/// Requests that make more reply bytes than the kernel keeps for a client that does not read.
///
/// The server's send buffer may grow to the last number of `net.ipv4.tcp_wmem`, usually 4 MiB. What
/// it really grows to depends on what the kernel has learned of earlier connections to the address.
pub(super) const REQUESTS_TO_FILL: usize = 64_000;

/// A request as browsers and load generators send it.
pub(super) fn head(address: SocketAddr) -> Vec<u8> {
    head_with(address, "/", "")
}

/// A request for this much work.
pub(super) fn head_for(address: SocketAddr, work: Duration) -> Vec<u8> {
    head_with(address, &format!("/{}", work.as_micros()), "")
}

fn head_with(address: SocketAddr, path: &str, fields: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: wirebench\r\nAccept: */*\r\n{fields}\r\n"
    )
    .into_bytes()
}

/// A head of exactly `length` bytes with fields of moderate length: servers bound the single field
/// too.
pub(super) fn padded_head(address: SocketAddr, length: usize) -> Vec<u8> {
    const NAME: &str = "X-Padding: ";
    const VALUE_BYTES: usize = 900;
    let mut fields = String::new();
    let mut missing = length.saturating_sub(head(address).len());
    while missing > 0 {
        let line = missing.min(VALUE_BYTES);
        // No rest may remain that is shorter than a field.
        let line = if missing - line < 32 { missing } else { line };
        let value = line.saturating_sub(NAME.len() + 2);
        fields.push_str(NAME);
        fields.extend(std::iter::repeat_n('x', value));
        fields.push_str("\r\n");
        missing -= line;
    }
    head_with(address, "/", &fields)
}

/// A connection and the replies that have come on it.
pub(super) struct Conversation {
    pub(super) client: Client,
    pub(super) replies: Replies,
    address: SocketAddr,
}

impl Conversation {
    pub(super) fn open(address: SocketAddr, buffers: Buffers) -> Result<Self, String> {
        let client = Client::connect(address, buffers)?;
        Ok(Self { client, replies: Replies::default(), address })
    }

    /// Sends `bytes` and waits until `expected` replies have come on this connection in all, and
    /// nothing else.
    pub(super) fn exchange(&mut self, bytes: &[u8], expected: usize) -> Result<(), String> {
        let replies = &mut self.replies;
        let before = replies.count();
        let mut take = |bytes: &[u8]| {
            replies.push(bytes)?;
            Ok(if replies.count() < expected { Progress::More } else { Progress::Done })
        };
        let outcome = self.client.transfer(bytes, &mut take);
        outcome.map_err(|trouble| trouble.after(&self.progress(expected - before, before)))?;
        if self.replies.count() > expected || !self.replies.rest().is_empty() {
            let replies = show::count(self.replies.count() - before, "reply", "replies");
            let requests = show::count(expected - before, "request", "requests");
            let rest = match self.replies.rest() {
                [] => String::new(),
                rest => format!(", and behind them came {}", show::bytes(rest)),
            };
            return Err(format!("{requests} got {replies}{rest}"));
        }
        Ok(())
    }

    /// `count` requests in one write.
    pub(super) fn ask(&mut self, count: usize) -> Result<(), String> {
        let expected = self.replies.count() + count;
        self.exchange(&head(self.address).repeat(count), expected)
    }

    fn progress(&self, requests: usize, before: usize) -> String {
        let earlier = match before {
            0 => String::new(),
            _ => format!(" (and {before} earlier ones on the connection)"),
        };
        let came = self.replies.count() - before;
        let rest = match self.replies.rest() {
            [] => String::new(),
            rest => format!(" and the incomplete reply {}", show::bytes(rest)),
        };
        format!(
            "{came} of {}{earlier}{rest}",
            show::count(requests, "expected reply", "expected replies")
        )
    }

    /// Nothing may come now.
    pub(super) fn expect_nothing(&mut self, time: Duration, when: &str) -> Result<(), String> {
        match self.client.look(time)? {
            ReadOutcome::Nothing => Ok(()),
            ReadOutcome::Bytes(bytes) => Err(format!("{when}, this came: {}", show::bytes(&bytes))),
            ReadOutcome::End => Err(format!("{when}, the server closed the connection")),
            ReadOutcome::Reset => Err(format!("{when}, the server reset the connection")),
        }
    }
}

impl RequestStream for Conversation {
    fn port(&self) -> u16 {
        self.client.port()
    }

    fn send(&mut self, count: usize) -> Result<(), String> {
        Ok(self.client.send(&head(self.address).repeat(count))?)
    }

    fn receive(&mut self, count: usize) -> Result<(), String> {
        self.exchange(&[], self.replies.count() + count)
    }
}

pub(super) fn first_exchange(
    client: &mut Client,
    address: SocketAddr,
    exchange: &FirstExchange,
) -> Result<(), ClientError> {
    let mut replies = Replies::default();
    client.transfer(&head(address), &mut |bytes| {
        if !exchange.is_verified {
            return Ok(Progress::Done);
        }
        replies.push(bytes)?;
        Ok(if replies.count() > 0 { Progress::Done } else { Progress::More })
    })
}

/// How many ends of a head are in these bytes. A body of the contract contains none.
pub(super) fn count_head_ends(matched: &mut usize, bytes: &[u8]) -> usize {
    const HEAD_END: [u8; 4] = *b"\r\n\r\n";
    let mut ends_head = |byte: u8| {
        *matched = match byte {
            _ if byte == HEAD_END[*matched] => *matched + 1,
            b'\r' => 1,
            _ => 0,
        };
        let ends = *matched == HEAD_END.len();
        *matched %= HEAD_END.len();
        ends
    };
    bytes.iter().filter(|byte| ends_head(**byte)).count()
}

/// One request on a fresh connection; what comes until the first reply is whole, which may be more.
pub(super) fn first_reply(
    client: &mut Client,
    address: SocketAddr,
) -> Result<(Vec<u8>, usize), String> {
    let mut came = Vec::new();
    let mut length = 0;
    let outcome = client.transfer(&head(address), &mut |bytes| {
        came.extend_from_slice(bytes);
        Ok(match reply::parse(&came)? {
            Parsed::Partial => Progress::More,
            Parsed::Whole { length_bytes, .. } => {
                length = length_bytes;
                Progress::Done
            }
        })
    });
    match outcome {
        Ok(()) => Ok((came, length)),
        Err(trouble) if came.is_empty() => Err(trouble.after("one request and no byte of a reply")),
        Err(trouble) => {
            Err(trouble.after(&format!("only the beginning of a reply: {}", show::bytes(&came))))
        }
    }
}

/// A few requests on a fresh connection, for checks that only need to know that the server still
/// works.
pub(super) fn works(address: SocketAddr) -> Result<(), String> {
    Conversation::open(address, Buffers::Usual)?.ask(3)
}

/// What a client can do to a server when it goes away: in mid head, before the reply, with replies
/// unread.
pub(super) fn reset_clients(address: SocketAddr) -> Result<(), ClientError> {
    let head = head(address);
    for _ in 0..5 {
        for bytes in [&head[..10], &head] {
            let mut client = Client::connect(address, Buffers::Usual)?;
            client.send(bytes)?;
            client.reset();
        }
    }
    let mut client = Client::connect(address, Buffers::Small)?;
    client.send_until_full(&head.repeat(REQUESTS_TO_FILL))?;
    client.reset();
    let mut client = Client::connect(address, Buffers::Usual)?;
    client.send(&head)?;
    // The server has answered and waits for the next request.
    client.look_for_progress()?;
    client.reset();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_padded_head_has_the_length_that_was_asked_for_and_ends_once() {
        let address: SocketAddr = "127.0.0.1:80".parse().unwrap();
        for length in [4096, 8100] {
            let head = padded_head(address, length);
            assert_eq!(head.len(), length);
            let ends = head.windows(4).filter(|window| *window == b"\r\n\r\n").count();
            assert_eq!(ends, 1);
        }
    }
}
