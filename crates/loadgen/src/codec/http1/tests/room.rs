//! Bounds of memory: expected bodies for which there is no room are hashed, and long replies are not remembered.

use super::*;
use crate::codec::http1::template::ReplyCache;

/// A set of this many requests, whose bodies are learned and may take this much memory together.
fn set(count: usize, room_bytes: usize) -> Checker {
    let rules = Rules {
        reply_body: ReplyBody::AsFramed,
        statuses: Vec::new(),
        expected: None,
        contains: None,
        head_limit_bytes: HEAD_LIMIT_BYTES,
    };
    let head = requests::Head { start: "GET / HTTP/1.1\r\n".into(), ..requests::Head::default() };
    let template = Template::new(&head, b"", &BTreeMap::new()).unwrap();
    let first_use = FirstUse { is_safe: true, learns_body: true };
    let picker = requests::Picker::new(RequestOrder::InTurn, &vec![1; count], 7);
    let mut http = Http1::of_set(vec![(template, rules, first_use); count], (picker, None), 1);
    http.learned_limit_bytes = room_bytes;
    Checker::new(&http)
}

fn reply(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

impl Checker {
    /// The next request of the set, and its reply in two pieces.
    fn exchange(&mut self, reply: &[u8], split: usize) -> Result<(), ReplyError> {
        let Self { http, connection } = self;
        let request = http.next_request();
        http.begin(connection, request, Ticket(0));
        http.sent(connection, http.outgoing(connection).len());
        let (start, rest) = reply.split_at(split);
        [start, rest].into_iter().filter(|it| !it.is_empty()).try_for_each(|piece| {
            let fed = http.feed(connection, piece)?.correct()?;
            assert_eq!(fed.consumed, piece.len());
            Ok(())
        })
    }
}

#[test]
fn learned_bodies_without_room_are_hashed_and_still_checked_to_their_last_byte() {
    for learns_from_load in [false, true] {
        let mut checker = set(3, 20);
        let good = reply("Hello world!");
        for request in checker.http.all_requests() {
            if learns_from_load {
                checker.http.learn_from_load(request);
            } else {
                checker.http.learn(&mut checker.connection);
            }
            checker.exchange(&good, 0).unwrap();
            if let Some(learned) = checker.http.take_learned(request, &mut checker.connection) {
                checker.http.expect(request, learned.body);
            }
        }
        let kept = checker.http.kinds.iter().map(|it| it.rules.expected.as_ref().unwrap());
        assert_eq!(kept.map(|it| it.kept_bytes()).collect::<Vec<_>>(), [12, 8, 0]);
        assert_eq!(checker.http.learned_bytes, 20);
        for split in (0..good.len()).flat_map(|split| [split; 3]) {
            checker.exchange(&good, split).unwrap();
        }
        let wrong = reply("Hello world?");
        let expectation = Expectation::Learned;
        for expected in [
            ReplyError::BodyDiffers { at: 11, expectation },
            ReplyError::BodyRestDiffers { from: 8, expectation },
            ReplyError::BodyRestDiffers { from: 0, expectation },
        ] {
            assert_eq!(checker.exchange(&wrong, wrong.len() - 2), Err(expected));
        }
        checker.http.next_request();
        let wrong = checker.exchange(&reply("Jello world!"), 0).unwrap_err();
        assert_eq!(wrong, ReplyError::BodyDiffers { at: 0, expectation });
        for _ in 0..2 {
            checker.exchange(&good, 0).unwrap();
        }
    }
}

#[test]
fn a_body_that_is_forgotten_gives_its_room_back() {
    let mut checker = set(1, 20);
    for _ in 0..3 {
        checker.http.learn(&mut checker.connection);
        let whole = reply("Hello world!");
        checker.exchange(&whole[..whole.len() - 1], 0).unwrap();
        assert_eq!(checker.http.learned_bytes, 11);
        checker.restart();
        assert_eq!(checker.http.learned_bytes, 0);
    }
}

#[test]
fn a_body_given_beyond_the_bytes_that_are_kept_is_checked_to_its_last_byte() {
    let mut body = "x".repeat((16 << 20) + 10);
    let mut checker = Checker::new(&http(Some(body.as_bytes())));
    assert!(checker.feed(&reply(&body)).is_ok());
    body.pop();
    body.push('y');
    let wrong = checker.feed(&reply(&body)).unwrap_err();
    let (from, expectation) = (16 << 20, Expectation::Given);
    assert_eq!(wrong, ReplyError::BodyRestDiffers { from, expectation });
}

#[test]
fn a_reply_that_is_longer_than_its_share_of_the_memory_is_parsed_each_time() {
    let good = reply("Hello world!");
    for (caches, expected) in [(1, Check::Fast), (256 << 20, Check::Slow)] {
        let mut http = http(Some(b"Hello world!"));
        http.kinds[0].cache = ReplyCache::new(caches);
        let mut checker = Checker::new(&http);
        checker.feed(&good).unwrap();
        assert_eq!(checker.feed(&good).unwrap().reply().unwrap().check, expected);
    }
}
