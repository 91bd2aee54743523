//! Property tests of the reply checker. The most important one: templates never change a verdict.

use super::*;
use crate::fuzzing::{course, feed_both, pieces};
use proptest::{collection::vec as some, prelude::*};

const BODY: &[u8] = b"Hello world!";

/// Valid replies with the expected body, framed in every way that determines its end.
fn reply_that_ends() -> impl Strategy<Value = Vec<u8>> {
    let field = (0usize..6, "[ -~]{0,3}|[ -~]{25}").prop_map(|(name, value)| {
        let name = ["Date", "date", "X-Id", "Age", "Server", "Connection"][name];
        let value = if name == "Connection" { "keep-alive" } else { value.trim() };
        format!("{name}: {value}\r\n")
    });
    let fields = some(field, 0..4);
    let interim = prop_oneof![4 => Just(false), 1 => Just(true)];
    (fields, 0usize..4, interim, 0usize..12, 0u8..4).prop_map(
        |(fields, before, interim, cut, framing)| {
            let before = before.min(fields.len());
            let mut reply = Vec::new();
            if interim {
                reply.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            reply.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
            reply.extend(fields[..before].concat().bytes());
            reply.extend_from_slice(match framing {
                0 | 1 => b"Content-Length: 12\r\n",
                _ => b"Transfer-Encoding: chunked\r\n",
            });
            reply.extend(fields[before..].concat().bytes());
            reply.extend_from_slice(b"\r\n");
            match framing {
                0 | 1 => reply.extend_from_slice(BODY),
                _ => reply.extend(chunks(cut)),
            }
            reply
        },
    )
}

/// The body in one or two chunks.
fn chunks(cut: usize) -> Vec<u8> {
    let (a, b) = BODY.split_at(cut);
    let mut chunked = Vec::new();
    for chunk in [a, b].into_iter().filter(|chunk| !chunk.is_empty()) {
        chunked.extend(format!("{:x}\r\n", chunk.len()).bytes());
        chunked.extend_from_slice(chunk);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(if cut == 3 { b"0\r\nX: y\r\n\r\n" } else { b"0\r\n\r\n" });
    chunked
}

/// Valid replies that may also end with the connection.
fn valid_reply() -> impl Strategy<Value = Vec<u8>> {
    let until_close = Just(b"HTTP/1.1 200 OK\r\nX: y\r\n\r\nHello world!".to_vec());
    prop_oneof![4 => reply_that_ends(), 1 => until_close]
}

/// A codec that remembers these replies, as far as they are worth it.
fn taught(http: &Http1, lessons: &[Vec<u8>]) -> Http1 {
    let mut http = http.clone();
    for lesson in lessons {
        let mut connection = http.connection(0);
        http.feed(&mut connection, lesson).unwrap();
    }
    http
}

fn some_rules() -> impl Strategy<Value = Http1> {
    prop_oneof![3 => Just(Some(BODY)), 1 => Just(None)].prop_map(http)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_split_of_a_valid_reply_gives_the_same_verdict(
        reply in valid_reply(), lengths in some(any::<u8>(), 0..12),
        lessons in some(reply_that_ends(), 0..3)
    ) {
        let alone = http(Some(BODY)).by_parser_alone();
        let whole = course(&alone, &[&reply]);
        let remembering = taught(&http(Some(BODY)), &lessons);
        let accepted = whole.0.len() == 1 || matches!(whole.1, Some(Some(_)));
        prop_assert!(accepted, "{:?}", whole);
        for codec in [&alone, &remembering] {
            for lengths in [&[], &lengths[..], &[0]] {
                prop_assert_eq!(&whole, &course(codec, &pieces(&reply, lengths)));
            }
        }
    }

    #[test]
    fn a_template_never_changes_a_verdict(
        codec in some_rules(),
        lessons in some(reply_that_ends(), 1..4),
        spoiled in some((any::<usize>(), any::<usize>(), spoiler()), 0..4),
        lengths in some(any::<u8>(), 0..12)
    ) {
        // Streams of learned replies, some of them damaged: similar to the template, but wrong, or
        // right in another form.
        let mut stream = [lessons.clone(), lessons.clone()].concat();
        for (which, at, spoiler) in spoiled {
            let which = which % stream.len();
            spoiler.spoil(&mut stream[which], at);
        }
        let mut remembering = (taught(&codec, &lessons), codec.connection(0));
        let connection = codec.connection(0);
        let mut parsing = (codec.by_parser_alone(), connection);
        for piece in pieces(&stream.concat(), &lengths) {
            feed_both(&mut remembering, &mut parsing, piece);
        }
    }

    #[test]
    fn a_reply_like_the_last_one_is_found_by_comparison(
        reply in reply_that_ends(), codec in some_rules()
    ) {
        let expects = codec.kinds[0].rules.expected.is_some();
        let mut checker = Checker::new(&taught(&codec, &[reply.clone(), reply.clone()]));
        let check = checker.feed(&reply).unwrap().reply().unwrap().check;
        let text = String::from_utf8(reply).unwrap();
        let read = text.contains("100 Continue") || (!expects && text.contains("chunked"));
        prop_assert_eq!(check, if read { Check::Slow } else { Check::Fast });
    }
}

/// A change of a reply at a position.
#[derive(Clone, Debug)]
enum Spoiler {
    Replace(u8),
    Insert(u8),
    Remove,
    Exchange(Vec<u8>),
}

impl Spoiler {
    fn spoil(&self, reply: &mut Vec<u8>, at: usize) {
        let at = at % reply.len();
        match self {
            Self::Replace(byte) => reply[at] = *byte,
            Self::Insert(byte) => reply.insert(at, *byte),
            Self::Remove => {
                if reply.len() > 1 {
                    reply.remove(at);
                }
            }
            Self::Exchange(bytes) => {
                let end = reply.len().min(at + bytes.len());
                reply[at..end].copy_from_slice(&bytes[..end - at]);
            }
        }
    }
}

fn spoiler() -> impl Strategy<Value = Spoiler> {
    let telling = proptest::sample::select(&b"\r\n\0 :;0179aZ\x7f\x80"[..]);
    let byte = prop_oneof![telling, any::<u8>()];
    const PARTS: [&str; 7] =
        ["\r\n", "\r\n\r\n", "close", "\r\nA: b\r\n", "0\r\n\r\n", "201", "HTTP/1.0"];
    let part = proptest::sample::select(&PARTS[..]).prop_map(|part| part.as_bytes().to_vec());
    prop_oneof![
        byte.clone().prop_map(Spoiler::Replace),
        byte.prop_map(Spoiler::Insert),
        Just(Spoiler::Remove),
        part.prop_map(Spoiler::Exchange),
    ]
}
