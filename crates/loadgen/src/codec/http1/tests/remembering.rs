//! Example tests of templates and comparison.

use super::*;
use crate::codec::http1::head;

/// Feeds whole replies one after the other; says how each was checked.
fn checks(http: &Http1, replies: &[&[u8]]) -> Vec<Check> {
    let mut checker = Checker::new(http);
    let check = |reply: &&[u8]| {
        let fed = checker.feed(reply).unwrap();
        assert_eq!(fed.consumed, reply.len());
        let found = fed.reply().unwrap();
        let alone = verdict(&http.clone().by_parser_alone(), &[reply]).unwrap().unwrap();
        assert_eq!(Reply { check: Check::Slow, ..found }, alone);
        found.check
    };
    replies.iter().map(check).collect()
}

fn hello_with(fields: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 12\r\n\r\nHello world!").into_bytes()
}

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
    5\r\nHello\r\n7\r\n world!\r\n0\r\n\r\n";

#[test]
fn a_byte_may_stand_in_a_masked_value_exactly_when_the_parser_takes_it_there() {
    for byte in 0..=u8::MAX {
        let reply = [b"HTTP/1.1 204 x\r\nX: a", &[byte][..], b"b\r\n\r\n"].concat();
        let taken = verdict(&http(None).by_parser_alone(), &[&reply]).is_ok();
        assert_eq!(head::may_be_value(&[b'a', byte]), taken, "{byte:#04x}");
    }
}

#[test]
fn a_date_that_changes_is_no_difference_and_another_field_is_none_once_it_has_changed() {
    let dates =
        ["Date: Sat, 21 Nov 2026 22:58:01 GMT\r\n", "Date: Sun, 22 Nov 2026 00:00:00 GMT\r\n"];
    let [a, b] = dates.map(hello_with);
    let expected = [Check::Slow, Check::Fast, Check::Fast, Check::Fast];
    assert_eq!(checks(&http(Some(b"Hello world!")), &[&a, &b, &b, &a]), expected);
    let [a, b, c] =
        ["X-Request-Id: a1\r\n", "X-Request-Id: b2\r\n", "X-Request-Id: c3\r\n"].map(hello_with);
    let expected = [Check::Slow, Check::Slow, Check::Fast, Check::Fast];
    assert_eq!(checks(&http(Some(b"Hello world!")), &[&a, &b, &c, &a]), expected);
}

#[test]
fn a_field_that_means_something_is_never_masked() {
    let close = hello_with("Connection: close     \r\n");
    let keep = hello_with("Connection: keep-alive\r\n");
    let mut checker = Checker::new(&http(Some(b"Hello world!")));
    for _ in 0..3 {
        let found = checker.feed(&keep).unwrap().reply().unwrap();
        assert_eq!(found.persistence, Persistence::Keep);
        let found = checker.feed(&close).unwrap().reply().unwrap();
        assert_eq!((found.persistence, found.check), (Persistence::Close, Check::Slow));
    }
}

#[test]
fn a_head_that_differs_in_more_than_values_teaches_nothing() {
    let [a, b, c] = ["X: a\r\n", "X: b\r\n", "X: c\r\n"].map(hello_with);
    let b = String::from_utf8(b).unwrap().replace("Content-Length", "content-length");
    let expected = [Check::Slow, Check::Slow, Check::Slow, Check::Fast];
    assert_eq!(checks(&http(Some(b"Hello world!")), &[&a, b.as_bytes(), &c, &a]), expected);
}

#[test]
fn a_line_end_within_a_masked_value_is_seen() {
    let good = hello_with("Date: aaaaaaaaaaaaaaaaaaaa\r\n");
    let other = hello_with("Date: a\r\nConnection: close\r\n");
    assert_eq!(good.len(), other.len());
    let mut checker = Checker::new(&http(Some(b"Hello world!")));
    checker.feed(&good).unwrap();
    assert_eq!(checker.feed(&other).unwrap().reply().unwrap().persistence, Persistence::Close);
    let wrong = hello_with("Date: aaaaaa\naaaaaaaaaaaaaa\r\n");
    assert_eq!(checker.feed(&wrong), Err(ReplyError::Head(httparse::Error::HeaderName)));
}

#[test]
fn a_known_head_before_a_body_that_differs_does_not_hide_it() {
    let mut checker = Checker::new(&http(Some(b"Hello world!")));
    checker.feed(HELLO).unwrap();
    let wrong = [&HELLO[..HELLO.len() - 1], b"?"].concat();
    let error = ReplyError::BodyDiffers { at: 11, expectation: Expectation::Given };
    assert_eq!(checker.feed(&wrong), Err(error));
}

#[test]
fn a_sized_reply_is_found_by_comparison_however_it_is_split() {
    for size in 1..HELLO.len() {
        let mut checker = Checker::new(&http(Some(b"Hello world!")));
        checker.feed(HELLO).unwrap();
        for _ in 0..2 {
            let last = HELLO.chunks(size).map(|piece| checker.feed(piece).unwrap()).last();
            assert_eq!(last.unwrap().reply().unwrap().check, Check::Fast, "{size}");
        }
    }
}

#[test]
fn a_chunked_reply_is_found_by_comparison_when_it_comes_in_one_piece_and_its_chunks_are_read_else()
{
    let http = http(Some(b"Hello world!"));
    assert_eq!(checks(&http, &[CHUNKED, CHUNKED]), [Check::Slow, Check::Fast]);
    let mut checker = Checker::new(&http);
    checker.feed(CHUNKED).unwrap();
    let (a, b) = CHUNKED.split_at(60);
    assert_eq!(checker.feed(a).unwrap().reply(), None);
    assert_eq!(checker.feed(b).unwrap().reply().unwrap().check, Check::Slow);
}

#[test]
fn where_any_body_will_do_one_of_the_same_length_is_no_difference() {
    let other: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nanother body";
    assert_eq!(checks(&http(None), &[HELLO, other, HELLO])[1..], [Check::Fast, Check::Fast]);
    assert_eq!(checks(&http(None), &[CHUNKED, CHUNKED]), [Check::Slow, Check::Slow]);
}

#[test]
fn a_template_without_an_expectation_is_forgotten_with_one() {
    let mut checker = Checker::new(&http(None));
    let other: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nanother body";
    for reply in [HELLO, other] {
        assert!(checker.feed(reply).unwrap().reply().is_some());
    }
    checker.http.expect(RequestId::default(), ExpectedBody::given(b"Hello world!"));
    let error = ReplyError::BodyDiffers { at: 0, expectation: Expectation::Given };
    assert_eq!(checker.feed(other), Err(error));
}

#[test]
fn a_reply_within_the_body_of_a_reply_is_not_remembered() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body = format!("{head}5\r\nHello");
    let inner = format!("{body}\r\n0\r\n\r\n");
    let start = format!("{head}{:x}\r\n", body.len());
    let mut checker = Checker::new(&http(Some(body.as_bytes())));
    checker.feed(start.as_bytes()).unwrap();
    assert!(checker.feed(inner.as_bytes()).unwrap().reply().is_some());
    let error = checker.feed(inner.as_bytes()).unwrap_err();
    assert!(matches!(error, ReplyError::BodyDiffers { at: 1, .. }), "{error}");
}

#[test]
fn a_body_that_is_too_long_to_be_compared_in_one_piece_is_compared_with_the_expected_one() {
    let body = vec![b'x'; 300 * 1024];
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let good = [head.as_bytes(), &body].concat();
    let http = http(Some(&body));
    assert_eq!(checks(&http, &[&good, &good]), [Check::Slow, Check::Fast]);
    let mut checker = Checker::new(&http);
    checker.feed(&good).unwrap();
    let mut wrong = good.clone();
    *wrong.last_mut().unwrap() = b'y';
    let error = checker.feed(&wrong).unwrap_err();
    assert!(matches!(error, ReplyError::BodyDiffers { at: 307_199, .. }), "{error}");
}

#[test]
fn replies_that_close_or_refuse_or_follow_an_interim_one_are_parsed_each_time() {
    let interim = [b"HTTP/1.1 103 Early Hints\r\n\r\n", HELLO].concat();
    let close = hello_with("Connection: close\r\n");
    let refusal: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    for reply in [&interim, &close, refusal] {
        let found = checks(&http(Some(b"Hello world!")), &[reply, reply, reply]);
        assert_eq!(found, [Check::Slow; 3], "{}", reply.escape_ascii());
    }
}

#[test]
fn a_template_that_no_longer_matches_is_replaced_and_one_that_matches_at_times_is_kept() {
    let [a, b] = ["X: a\r\n", "X: long\r\n"].map(hello_with);
    let mut replies = vec![&a[..]];
    replies.extend([&b[..]; 70]);
    let found = checks(&http(Some(b"Hello world!")), &replies);
    let first_fast = found.iter().position(|check| *check == Check::Fast).unwrap();
    assert!((60..70).contains(&first_fast), "{first_fast}");
    assert!(found[first_fast..].iter().all(|check| *check == Check::Fast));
    let alternating = [&a[..], &b[..]].repeat(200);
    let found = checks(&http(Some(b"Hello world!")), &alternating);
    assert_eq!(found.iter().filter(|check| **check == Check::Fast).count(), 199);
}

#[test]
fn a_template_is_also_kept_for_replies_that_match_it_in_pieces() {
    let [a, b] = ["X: a\r\n", "X: long\r\n"].map(hello_with);
    let mut checker = Checker::new(&http(Some(b"Hello world!")));
    checker.feed(&a).unwrap();
    for _ in 0..200 {
        assert_eq!(checker.feed(&b).unwrap().reply().unwrap().check, Check::Slow);
        let (start, rest) = a.split_at(a.len() - 1);
        checker.feed(start).unwrap();
        assert_eq!(checker.feed(rest).unwrap().reply().unwrap().check, Check::Fast);
    }
}

#[test]
fn more_changing_fields_than_can_be_masked_are_parsed() {
    let fields = |value: &str| (0..17).map(|n| format!("X-{n}: {value}\r\n")).collect::<String>();
    let [a, b] = ["a", "b"].map(|value| hello_with(&fields(value)));
    let found = checks(&http(Some(b"Hello world!")), &[&a, &b, &b, &a]);
    assert_eq!(found, [Check::Slow, Check::Slow, Check::Slow, Check::Fast]);
}

#[test]
fn a_connection_stays_small() {
    let bytes = size_of::<Http1Connection>();
    assert!(bytes < 200, "{bytes} bytes");
}
