//! Tests of the reply checker by example.

mod hostile;
mod properties;
mod remembering;
mod room;

use super::*;
use crate::codec::{Check, Expectation, Persistence, Reply, requests};
use expect_test::expect_file;
use std::{collections::BTreeMap, sync::Arc};
use wirebench_schema::load::RequestOrder;

/// The limit of a head in these tests.
const HEAD_LIMIT_BYTES: usize = 64 * 1024;

fn http(expected: Option<&[u8]>) -> Http1 {
    let expected = expected.map(|body| Arc::new(ExpectedBody::given(body)));
    let head_limit_bytes = HEAD_LIMIT_BYTES;
    let (reply_body, statuses) = (ReplyBody::AsFramed, Vec::new());
    let rules = Rules { reply_body, statuses, expected, contains: None, head_limit_bytes };
    Http1::new(Requests::new(b"GET / HTTP/1.1\r\n\r\n", 1), rules, 1)
}

struct Checker {
    http: Http1,
    connection: Http1Connection,
}

impl Checker {
    fn new(http: &Http1) -> Self {
        Self { http: http.clone(), connection: http.connection(0) }
    }

    /// A wrong body is an error here.
    fn feed(&mut self, bytes: &[u8]) -> Result<Fed, ReplyError> {
        self.http.feed(&mut self.connection, bytes)?.correct()
    }

    fn finish(&mut self) -> Result<Option<Reply>, ReplyError> {
        let event = self.http.finish(&mut self.connection)?;
        Ok(Fed { consumed: 0, event }.correct()?.reply())
    }

    fn restart(&mut self) {
        self.http.restart(&mut self.connection);
    }
}

/// Feeds the pieces until the first complete reply; closes behind the last piece.
fn verdict(http: &Http1, pieces: &[&[u8]]) -> Result<Option<Reply>, ReplyError> {
    let mut connection = Checker::new(http);
    for piece in pieces {
        let fed = connection.feed(piece)?;
        if fed.reply().is_some() {
            return Ok(fed.reply());
        }
        assert_eq!(fed.consumed, piece.len());
    }
    connection.finish()
}

fn error(reply: &[u8]) -> String {
    verdict(&http(Some(b"Hello world!")), &[reply]).unwrap_err().to_string()
}

/// Each of the byte strings with its message.
fn explained(rows: &[&[u8]], error: impl Fn(&[u8]) -> String) -> String {
    rows.iter().map(|bytes| format!("{}\n  {}\n", bytes.escape_ascii(), error(bytes))).collect()
}

fn status(reply: &[u8]) -> Option<u16> {
    verdict(&http(None), &[reply]).unwrap().and_then(|reply| reply.status)
}

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello world!";

#[test]
fn a_sized_reply_is_complete_with_its_last_byte_and_the_next_may_follow() {
    let mut connection = Checker::new(&http(Some(b"Hello world!")));
    let two = [HELLO, HELLO].concat();
    let first = connection.feed(&two).unwrap();
    assert_eq!(first.consumed, HELLO.len());
    assert_eq!(first.reply().unwrap().persistence, Persistence::Keep);
    let second = connection.feed(&two[first.consumed..]).unwrap();
    let same = first.reply().map(|reply| Reply { check: Check::Fast, ..reply });
    assert_eq!((second.consumed, second.reply()), (HELLO.len(), same));
}

#[test]
fn each_wrong_reply_is_explained() {
    let rows: [&[u8]; 16] = [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 2xx OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: +12\r\n\r\nHello world!",
        b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\nx",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 101 Upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!",
        b"HTTP/1.1 200 OK\r\n\r\nHello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nHello world!!\r\n0\r\n\r\n",
    ];
    expect_file!["tests/golden/wrong.txt"].assert_eq(&explained(&rows, error));
}

#[test]
fn a_broken_chunk_is_explained() {
    let rows: [&[u8]; 4] = [b"5\r\nHelloX", b"\r\n", b"xyz\r\n", b"fffffffffffffffff\r\n"];
    let text = explained(&rows, |body| {
        let reply = [&b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"[..], body].concat();
        verdict(&http(None), &[&reply]).unwrap_err().to_string()
    });
    expect_file!["tests/golden/chunks.txt"].assert_eq(&text);
}

#[test]
fn line_feeds_alone_and_folded_lines_are_accepted_in_every_split() {
    let replies: [&[u8]; 5] = [
        b"HTTP/1.1 200 OK\nContent-Length: 12\n\nHello world!",
        b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\nHello world!",
        b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length:\r\n\t12\r\n\r\nHello world!",
        b"HTTP/1.1 200 OK\nX: a\n b\n \nContent-Length: 12\n\r\nHello world!",
        b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nHello\n7;x\n world!\n0\nY: z\n a\n\n",
    ];
    for reply in replies {
        let text = reply.escape_ascii();
        let whole = verdict(&http(Some(b"Hello world!")), &[reply]);
        let found = whole.clone().unwrap().unwrap();
        assert_eq!((found.status, found.persistence), (Some(200), Persistence::Keep), "{text}");
        let bytes: Vec<&[u8]> = reply.chunks(1).collect();
        assert_eq!(verdict(&http(Some(b"Hello world!")), &bytes), whole, "{text}");
        let mut checker = Checker::new(&http(Some(b"Hello world!")));
        let twice = [checker.feed(reply), checker.feed(reply)].map(|fed| fed.unwrap().consumed);
        assert_eq!(twice, [reply.len(); 2], "{text}");
    }
}

#[test]
fn a_folded_line_has_its_meaning() {
    let folded = b"HTTP/1.1 204 x\r\nConnection: keep-alive,\r\n\tclose\r\n\r\n";
    let found = verdict(&http(None), &[folded]).unwrap().unwrap();
    assert_eq!(found.persistence, Persistence::Close);
}

#[test]
fn chunks_with_extensions_and_trailers_are_read_over() {
    let reply = b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n\
        5;a=b\r\nHello\r\n007\r\n world!\r\n0\r\nX: y\r\n\r\n";
    let reply = verdict(&http(Some(b"Hello world!")), &[reply]).unwrap().unwrap();
    assert_eq!((reply.status, reply.persistence), (Some(200), Persistence::Keep));
}

#[test]
fn replies_without_a_body_end_with_their_head() {
    assert_eq!(status(b"HTTP/1.1 204 No Content\r\n\r\n"), Some(204));
    assert_eq!(status(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), Some(304));
    let mut head = http(Some(b"Hello world!"));
    head.kinds[0].rules.reply_body = ReplyBody::Never;
    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n";
    assert!(verdict(&head, &[reply]).unwrap().is_some());
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let reply: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nHello world!";
    let found = verdict(&http(Some(b"Hello world!")), &[reply]).unwrap().unwrap();
    assert_eq!(found.persistence, Persistence::Close);
    // One that is far too long is wrong before its end.
    let endless = [reply, &vec![b'x'; (1 << 20) + 1]].concat();
    assert!(Checker::new(&http(Some(b"Hello world!"))).feed(&endless).is_err());
}

#[test]
fn a_reply_that_is_cut_off_is_not_complete() {
    for length in 0..HELLO.len() {
        assert_eq!(verdict(&http(None), &[&HELLO[..length]]), Ok(None), "{length}");
    }
}

#[test]
fn the_connection_header_and_the_version_decide_whether_it_persists() {
    let rows: [(&[u8], Persistence); 5] = [
        (b"HTTP/1.1 204 x\r\nConnection: close\r\n\r\n", Persistence::Close),
        (b"HTTP/1.1 204 x\r\nConnection: upgrade, Close\r\n\r\n", Persistence::Close),
        (b"HTTP/1.1 204 x\r\nConnection: keep-alive\r\n\r\n", Persistence::Keep),
        (b"HTTP/1.0 204 x\r\n\r\n", Persistence::Close),
        (b"HTTP/1.0 204 x\r\nConnection: Keep-Alive\r\n\r\n", Persistence::Keep),
    ];
    for (reply, persistence) in rows {
        let found = verdict(&http(None), &[reply]).unwrap().unwrap().persistence;
        assert_eq!(found, persistence, "{}", reply.escape_ascii());
    }
}

#[test]
fn interim_replies_are_counted_and_are_not_the_reply() {
    let reply = [b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", HELLO].concat();
    let found = verdict(&http(Some(b"Hello world!")), &[&reply]).unwrap().unwrap();
    assert_eq!((found.status, found.interim_replies), (Some(200), 1));
}

#[test]
fn the_page_of_an_error_need_not_be_the_expected_body() {
    let reply: &[u8] = b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops";
    let found = verdict(&http(Some(b"Hello world!")), &[reply]).unwrap().unwrap();
    assert_eq!(found.status, Some(500));
}

#[test]
fn a_body_is_learned_from_a_good_reply_and_not_from_an_error() {
    let mut connection = Checker::new(&http(None));
    connection.http.learn(&mut connection.connection);
    connection.feed(HELLO).unwrap();
    let learned =
        connection.http.take_learned(RequestId::default(), &mut connection.connection).unwrap();
    assert_eq!(learned.reply_bytes, HELLO.len());
    let mut http = http(None);
    http.expect(RequestId::default(), learned.body);
    assert_eq!(
        verdict(&http, &[b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!"]),
        Err(ReplyError::BodyDiffers { at: 6, expectation: Expectation::Learned })
    );

    let mut connection = Checker::new(&self::http(None));
    connection.http.learn(&mut connection.connection);
    connection.feed(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno").unwrap();
    assert_eq!(
        connection.http.take_learned(RequestId::default(), &mut connection.connection),
        None
    );
}

#[test]
fn a_status_that_is_expected_has_the_expected_body_and_is_remembered() {
    let mut http = http(Some(b"no"));
    http.kinds[0].rules.statuses = vec![401, 404];
    let reply: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno";
    let found = Checker::new(&http).feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    assert!(found.unwrap().reply().unwrap().is_refusal);
    let mut checker = Checker::new(&http);
    let checks = [(); 2].map(|()| checker.feed(reply).unwrap().reply().unwrap().check);
    assert_eq!(checks, [Check::Slow, Check::Fast]);
    let other = b"HTTP/1.1 401 x\r\nContent-Length: 2\r\n\r\nNo";
    let expectation = Expectation::Given;
    assert_eq!(checker.feed(other), Err(ReplyError::BodyDiffers { at: 0, expectation }));
}

#[test]
fn a_text_is_found_in_a_body_however_it_is_split() {
    let mut http = http(None);
    http.kinds[0].rules.contains = Some(Needle::new("needle"));
    let reply =
        |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let (good, wrong) = (reply("hay needle hay"), reply("hay neeedle hay"));
    for size in 1..=good.len() {
        let pieces = |text: &'static str| text.as_bytes().chunks(size).collect::<Vec<_>>();
        let (good, wrong) = (good.clone().leak(), wrong.clone().leak());
        assert!(verdict(&http, &pieces(good)).unwrap().is_some(), "{size}");
        let lacks = ReplyError::BodyLacks { received: 15 };
        assert_eq!(verdict(&http, &pieces(wrong)), Err(lacks), "{size}");
    }
    let mut checker = Checker::new(&http);
    let checks = [(); 3].map(|()| checker.feed(good.as_bytes()).unwrap().reply().unwrap().check);
    assert_eq!(checks, [Check::Slow, Check::Fast, Check::Fast]);
    // A known head does not make another body correct, nor does a status of an error need the text.
    assert!(checker.feed(reply("hay noodle hay").as_bytes()).is_err());
    let refused = checker.feed(b"HTTP/1.1 404 x\r\nContent-Length: 2\r\n\r\nno").unwrap();
    assert!(refused.reply().unwrap().is_refusal);
}

#[test]
fn each_reply_of_a_set_is_judged_by_the_rules_of_its_request() {
    let rules = |body: &[u8]| Rules {
        reply_body: ReplyBody::AsFramed,
        statuses: Vec::new(),
        expected: Some(Arc::new(ExpectedBody::given(body))),
        contains: None,
        head_limit_bytes: HEAD_LIMIT_BYTES,
    };
    let template = |path: &str| {
        let (start, fields) = (format!("GET {path} HTTP/1.1\r\n"), String::new());
        let head = requests::Head { start, fields, says_length: false };
        Template::new(&head, b"", &BTreeMap::new()).unwrap()
    };
    let first_use = FirstUse { is_safe: true, learns_body: false };
    let set = [("/a", b"a".as_slice()), ("/long", b"bb")];
    let set = set.map(|(path, body)| (template(path), rules(body), first_use)).to_vec();
    let picker = requests::Picker::new(RequestOrder::InTurn, &[1, 1], 7);
    let mut checker = Checker::new(&Http1::of_set(set, (picker, None), 1));
    let Checker { http, connection } = &mut checker;
    for _ in 0..4 {
        let request = http.next_request();
        http.begin(connection, request, Ticket(0));
    }
    let sent = "GET /a HTTP/1.1\r\n\r\nGET /long HTTP/1.1\r\n\r\n".repeat(2);
    assert_eq!(http.outgoing(connection), sent.as_bytes());
    http.sent(connection, sent.len());
    let reply =
        |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for body in ["a", "bb", "a"] {
        let fed = http.feed(connection, reply(body).as_bytes()).unwrap();
        assert!(fed.reply().is_some() && http.is_answered_begun(connection), "{body}");
    }
    let wrong = http.feed(connection, reply("a").as_bytes()).unwrap();
    assert!(wrong.correct().is_err() && http.is_answered_begun(connection));
}
