//! The bodies of the fuzz targets, and a test that runs them over the seeds. Compiled only for
//! tests and the feature `fuzzing`.

mod requests;

use std::sync::{Arc, LazyLock};

use crate::codec::{
    Check, Codec, Event, Fed, Reply, ReplyError,
    echo::Echo,
    http1::{ExpectedBody, Http1, ReplyBody, Requests, Rules},
};

pub use requests::requests;

/// The bytes of a fuzzer, taken from the front; nothing but zeros behind their end.
struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn number(&mut self) -> usize {
        usize::from(self.byte()) << 8 | usize::from(self.byte())
    }

    /// At most `limit` bytes; the next byte of the input gives the number.
    fn bytes(&mut self, limit: usize) -> &'a [u8] {
        let length = (usize::from(self.byte()) % (limit + 1)).min(self.0.len());
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }
}

/// The pieces of these lengths, again and again; one piece where there are no lengths.
pub(crate) fn pieces<'a>(bytes: &'a [u8], lengths: &[u8]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    let mut lengths = lengths.iter().map(|length| usize::from(*length) + 1).cycle();
    while !rest.is_empty() {
        let length = lengths.next().unwrap_or(rest.len()).min(rest.len());
        let (piece, behind) = rest.split_at(length);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// The same reply whatever it was checked by.
fn without_check(fed: Result<Fed, ReplyError>) -> Result<Fed, ReplyError> {
    fed.and_then(Fed::correct).map(|fed| Fed {
        event: fed.reply().map(|reply| Event::Reply(Reply { check: Check::Slow, ..reply })),
        ..fed
    })
}

/// A stream of HTTP replies, three times, the second time with one byte changed: a checker with
/// templates must give the same results as one that parses every reply, regardless of the splits.
///
/// The first byte selects the expectation; then follow a position, the byte to change there, the
/// lengths of the pieces, and the stream.
///
/// # Panics
///
/// If any of this does not hold.
pub fn reply(data: &[u8]) {
    let mut source = Source(data);
    let http = http(source.byte());
    let (place, change) = (source.number(), source.byte());
    let lengths = source.bytes(16);
    let stream = source.0;
    let mut changed = stream.to_vec();
    if !changed.is_empty() {
        let place = place % changed.len();
        changed[place] ^= change;
    }
    let mut remembering = (http.clone(), http.connection(0));
    let mut parsing = (http.clone().by_parser_alone(), http.connection(0));
    for bytes in [stream, &changed, stream] {
        for piece in pieces(bytes, lengths) {
            feed_both(&mut remembering, &mut parsing, piece);
        }
        let split = course(&http, &pieces(bytes, lengths));
        assert_eq!(split, course(&http, &[bytes]), "{}", bytes.escape_ascii());
    }
}

fn http(choice: u8) -> Http1 {
    let expected: Option<&[u8]> = match choice % 4 {
        0 => Some(b"Hello world!"),
        1 => Some(b""),
        _ => None,
    };
    let rules = Rules {
        reply_body: if choice % 4 == 2 { ReplyBody::Never } else { ReplyBody::AsFramed },
        expected: expected.map(|body| Arc::new(ExpectedBody::given(body))),
        contains: None,
        statuses: if choice & 4 == 0 { Vec::new() } else { vec![404] },
        head_limit_bytes: 64 * 1024,
    };
    Http1::new(Requests::new(b"GET / HTTP/1.1\r\n\r\n", 1), rules, 1)
}

pub(crate) type Side = (Http1, <Http1 as Codec>::Connection);

pub(crate) fn feed_both(remembering: &mut Side, parsing: &mut Side, piece: &[u8]) {
    let mut rest = piece;
    while !rest.is_empty() {
        let found = without_check(remembering.0.feed(&mut remembering.1, rest));
        let alone = without_check(parsing.0.feed(&mut parsing.1, rest));
        assert_eq!(found, alone, "{}", rest.escape_ascii());
        let Ok(fed) = found else {
            remembering.0.restart(&mut remembering.1);
            parsing.0.restart(&mut parsing.1);
            return;
        };
        assert!((1..=rest.len()).contains(&fed.consumed), "{fed:?} of {}", rest.len());
        assert!(fed.reply().is_some() || fed.consumed == rest.len(), "{fed:?} of {}", rest.len());
        rest = &rest[fed.consumed..];
    }
}

/// Ends and kinds of the replies, and the end of the stream; for a wrong reply only that it is
/// wrong.
pub(crate) fn course(
    http: &Http1,
    pieces: &[&[u8]],
) -> (Vec<(usize, Reply)>, Option<Option<Reply>>) {
    let (mut http, mut connection) = (http.clone(), http.connection(0));
    let (mut replies, mut at) = (Vec::new(), 0);
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            let Ok(fed) = without_check(http.feed(&mut connection, rest)) else {
                return (replies, None);
            };
            at += fed.consumed;
            replies.extend(fed.reply().map(|reply| (at, reply)));
            rest = &rest[fed.consumed..];
        }
    }
    let end = http.finish(&mut connection).and_then(|event| Fed { consumed: 0, event }.correct());
    (replies, end.ok().map(|it| it.reply()))
}

static ECHO: LazyLock<Echo> = LazyLock::new(|| Echo::new(1, 7));

/// An echo that is changed: every byte is compared with the one that was sent, in whatever pieces
/// they come.
///
/// First come the length of the messages, the number of the connection and the lengths of the
/// pieces, then the changes.
///
/// # Panics
///
/// If a change is not found where it is, or something is found where there is none.
pub fn echo(data: &[u8]) {
    const MESSAGES: usize = 3;
    let mut source = Source(data);
    let length = source.number() % 2048 + 1;
    let mut echo = ECHO.with_length(length);
    let mut connection = echo.connection(source.number());
    let mut sent = Vec::new();
    while sent.len() < length * MESSAGES {
        let left = (length * MESSAGES - sent.len()) as u64;
        sent.extend_from_slice(echo.stream(&connection, sent.len() as u64, left));
    }
    let lengths = source.bytes(16);
    let mut received = sent.clone();
    while !source.0.is_empty() {
        change(&mut received, &mut source);
    }
    received.truncate(sent.len());
    let differs = received.iter().zip(&sent).position(|(received, sent)| received != sent);
    let mut at = 0;
    for piece in pieces(&received, lengths) {
        let end = at + piece.len();
        while at < end {
            match echo.feed(&mut connection, &received[at..end]) {
                Ok(fed) => {
                    assert_eq!(fed.reply().is_some(), (at + fed.consumed).is_multiple_of(length));
                    at += fed.consumed;
                }
                Err(error) => {
                    let place = differs.expect("an error is a difference");
                    assert_eq!(
                        error,
                        ReplyError::EchoDiffers {
                            at: (place % length) as u64,
                            sent: sent[place],
                            received: received[place],
                        }
                    );
                    return;
                }
            }
        }
    }
    assert_eq!(differs, None);
}

/// Flips, drops, doubles or exchanges a piece.
fn change(bytes: &mut Vec<u8>, source: &mut Source) {
    let (kind, place, length) = (source.byte(), source.number(), usize::from(source.byte()));
    if bytes.is_empty() {
        return;
    }
    let start = place % bytes.len();
    let end = (start + length).min(bytes.len());
    match kind % 4 {
        0 => bytes[start] ^= u8::try_from(length).unwrap_or(1),
        1 => drop(bytes.drain(start..end)),
        2 => {
            let piece = bytes[start..end].to_vec();
            bytes.splice(end..end, piece);
        }
        _ => bytes[start..end].rotate_left((end - start) / 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    /// Runs a target over its seeds, and over fixed mutations of them.
    fn over_seeds(name: &str, target: fn(&[u8])) {
        const CHANGES: usize = 2000;
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
        let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
        paths.sort();
        assert!(paths.len() >= 5, "{paths:?}");
        let mut random = fastrand::Rng::with_seed(7);
        for path in paths {
            let seed = fs::read(path).unwrap();
            target(&seed);
            for _ in 0..CHANGES {
                let mut changed = seed.clone();
                for _ in 0..random.usize(1..4) {
                    let place = random.usize(..changed.len());
                    match random.u8(..4) {
                        0 => changed[place] = random.u8(..),
                        1 => changed[place] ^= 1 << random.u8(..8),
                        2 => changed.insert(place, *random.choice(b"\r\n\0 :;0f").unwrap()),
                        _ => changed.truncate(changed.len().max(2) - 1),
                    }
                }
                target(&changed);
            }
        }
    }

    #[test]
    fn templates_agree_with_the_parser_over_the_seeds() {
        over_seeds("reply", reply);
    }

    #[test]
    fn what_is_read_of_a_file_is_sent_as_one_request_each_over_the_seeds() {
        over_seeds("requests", requests);
    }

    #[test]
    fn a_changed_echo_is_found_over_the_seeds() {
        over_seeds("echo", echo);
    }
}
