//! The checks of the conversation that `hello` and `hello-timeout` have in common: one reply per
//! head, however it arrives and whenever it is read.
//!
//! What a reply must look like is in `reply`. Each check opens connections of its own.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use super::{
    Check,
    client::{Buffers, Client, PATIENCE, ReadOutcome},
    http::{self, Conversation, REQUESTS_TO_FILL, first_reply, head, padded_head},
    process,
    protocol::ProtocolSupport,
    show,
};

/// How long nothing may come where nothing must come.
const QUIET: Duration = Duration::from_millis(100);
/// The same, where it is looked for many times.
const QUIET_SHORT: Duration = Duration::from_millis(30);
/// Within this time each reply must come.
const IN_TIME: Duration = Duration::from_secs(1);
const CONNECTIONS: usize = 200;

pub(super) const SUPPORT: ProtocolSupport = ProtocolSupport {
    checks: &CHECKS,
    open: |address| Ok(Box::new(Conversation::open(address, Buffers::Usual)?)),
    works: http::works,
    reset_clients: http::reset_clients,
    first_exchange: http::first_exchange,
    request: head,
    count_replies: http::count_head_ends,
};

const CHECKS: [Check; 10] = [
    Check {
        name: "reply-exact",
        about: "One request gets one reply with the status, header fields and body of the contract.",
        run: reply_exact,
    },
    Check {
        name: "reply-once",
        about: "Nothing follows the reply to a single request.",
        run: reply_once,
    },
    Check {
        name: "keep-alive",
        about: "A connection serves 100 requests, one after the other.",
        run: keep_alive,
    },
    Check {
        name: "reply-in-time",
        about: "Each of 20 requests is answered within a second.",
        run: reply_in_time,
    },
    Check {
        name: "split-head",
        about: "A head that arrives in pieces is answered once it is complete, and not before.",
        run: split_head,
    },
    Check {
        name: "pipelined",
        about: "16 and 100 requests in one write, and 16 cut at random places, get as many replies.",
        run: pipelined,
    },
    Check {
        name: "long-head",
        about: "Heads of 4 KiB and of nearly 8 KiB are answered.",
        run: long_head,
    },
    Check {
        name: "half-close",
        about: "A client that half-closes after a request gets the reply and then the end of the stream.",
        run: half_close,
    },
    Check {
        name: "slow-reader",
        about: "Thousands of replies that the client reads late arrive complete.",
        run: slow_reader,
    },
    Check {
        name: "many-connections",
        about: "200 concurrent connections are all served.",
        run: many_connections,
    },
];

fn reply_exact(address: SocketAddr) -> Result<(), String> {
    let mut client = Client::connect(address, Buffers::Usual)?;
    first_reply(&mut client, address).map(|_| ())
}

fn reply_once(address: SocketAddr) -> Result<(), String> {
    let mut client = Client::connect(address, Buffers::Usual)?;
    let (mut came, length) = first_reply(&mut client, address)?;
    let until = Instant::now() + QUIET;
    while let ReadOutcome::Bytes(bytes) =
        client.look(until.saturating_duration_since(Instant::now()))?
    {
        came.extend(bytes);
    }
    match &came[length..] {
        [] => Ok(()),
        surplus => {
            Err(format!("one request was sent, and behind its reply came {}", show::bytes(surplus)))
        }
    }
}

fn keep_alive(address: SocketAddr) -> Result<(), String> {
    let mut conversation = Conversation::open(address, Buffers::Usual)?;
    (0..100).try_for_each(|_| conversation.ask(1))
}

/// Two attempts, because the machine, too, may be late once.
fn reply_in_time(address: SocketAddr) -> Result<(), String> {
    latest_reply(address).or_else(|_| latest_reply(address))
}

fn latest_reply(address: SocketAddr) -> Result<(), String> {
    let mut conversation = Conversation::open(address, Buffers::Usual)?;
    for number in 1..=20 {
        let asked = Instant::now();
        let answered = conversation.ask(1);
        let took = asked.elapsed();
        if took > IN_TIME {
            return Err(match answered {
                Ok(()) => format!("request {number} was answered after {} ms", took.as_millis()),
                Err(finding) => format!("request {number} was not answered: {finding}"),
            });
        }
        answered?;
    }
    Ok(())
}

fn split_head(address: SocketAddr) -> Result<(), String> {
    let head = head(address);
    let mut conversation = Conversation::open(address, Buffers::Usual)?;
    // Byte by byte; the last byte must wait until the server has surely seen all others.
    for (index, byte) in head[..head.len() - 1].iter().enumerate() {
        conversation.client.send(&[*byte])?;
        let time = if index == head.len() - 2 { QUIET_SHORT } else { Duration::from_millis(1) };
        let when = format!("after {} of the {} bytes of a head", index + 1, head.len());
        conversation.expect_nothing(time, &when)?;
    }
    conversation
        .exchange(&head[head.len() - 1..], 1)
        .map_err(|finding| format!("a head sent byte by byte: {finding}"))?;
    for missing in 1..=4 {
        let cut = head.len() - missing;
        let piece = show::bytes(&head[cut..]);
        conversation.client.send(&head[..cut])?;
        conversation.expect_nothing(QUIET_SHORT, &format!("when {piece} of a head was missing"))?;
        conversation
            .exchange(&head[cut..], missing + 1)
            .map_err(|finding| format!("a head cut before its last {piece}: {finding}"))?;
    }
    Ok(())
}

fn pipelined(address: SocketAddr) -> Result<(), String> {
    for count in [16, 100] {
        Conversation::open(address, Buffers::Usual)?
            .ask(count)
            .map_err(|finding| format!("{count} requests in one write: {finding}"))?;
    }
    let mut random = fastrand::Rng::with_seed(1);
    let stream = head(address).repeat(16);
    let mut conversation = Conversation::open(address, Buffers::Usual)?;
    let mut rest = stream.as_slice();
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(random.usize(1..=rest.len().min(150)));
        rest = behind;
        if rest.is_empty() {
            return conversation
                .exchange(piece, 16)
                .map_err(|finding| format!("16 requests cut at random places: {finding}"));
        }
        conversation.client.send(piece)?;
        // Lets the server read this piece by itself, mostly.
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(())
}

fn long_head(address: SocketAddr) -> Result<(), String> {
    let mut conversation = Conversation::open(address, Buffers::Usual)?;
    for (replies, length) in [(1, 4096), (2, 8100)] {
        let head = padded_head(address, length);
        conversation
            .exchange(&head, replies)
            .map_err(|finding| format!("a head of {} bytes: {finding}", head.len()))?;
    }
    Ok(())
}

fn half_close(address: SocketAddr) -> Result<(), String> {
    for count in [1, 16] {
        let mut conversation = Conversation::open(address, Buffers::Usual)?;
        conversation.client.send(&head(address).repeat(count))?;
        conversation.client.half_close()?;
        let requests = show::count(count, "request", "requests");
        conversation.exchange(&[], count).and_then(|()| conversation.client.expect_end()).map_err(
            |finding| format!("after {requests} and the client's end of stream: {finding}"),
        )?;
    }
    Ok(())
}

fn slow_reader(address: SocketAddr) -> Result<(), String> {
    let mut conversation = Conversation::open(address, Buffers::Small)?;
    let head = head(address);
    let stream = head.repeat(REQUESTS_TO_FILL);
    let sent = conversation
        .client
        .send_until_full(&stream)
        .map_err(|trouble| trouble.after("requests were sent and no reply was read"))?;
    process::wait_until_blocked(address.port(), conversation.client.port(), PATIENCE)?;
    // The server is asked for no more than what filled the socket: how fast it is does not matter
    // here. Only the head that was cut must be completed.
    let requests = sent.div_ceil(head.len());
    conversation.exchange(&stream[sent..requests * head.len()], requests).map_err(|finding| {
        let requests = show::count(requests, "pipelined request", "pipelined requests");
        format!("{requests}, replies read late: {finding}")
    })
}

fn many_connections(address: SocketAddr) -> Result<(), String> {
    let mut all = Vec::new();
    for number in 1..=CONNECTIONS {
        let opened = Conversation::open(address, Buffers::Usual);
        all.push(opened.map_err(|finding| format!("connection {number}: {finding}"))?);
    }
    for round in 1..=3 {
        for (number, conversation) in (1..).zip(&mut all) {
            let sent = conversation.client.send(&head(address));
            sent.map_err(|trouble| format!("connection {number}: {trouble}"))?;
        }
        for (number, conversation) in (1..).zip(&mut all) {
            conversation.exchange(&[], round).map_err(|finding| {
                format!("connection {number} of {CONNECTIONS}, request {round}: {finding}")
            })?;
        }
    }
    Ok(())
}
