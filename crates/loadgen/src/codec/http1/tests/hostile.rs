//! Replies of a hostile server: each gets its message, and none exceeds the memory limit.

use super::*;
use expect_test::{expect, expect_file};

/// The sentence on these bytes, which is the same in one piece and byte by byte, remembered or not.
#[track_caller]
fn sentence(reply: &[u8]) -> String {
    let http = http(None);
    let whole = verdict(&http, &[reply]).unwrap_err();
    let mut taught = Checker::new(&http);
    taught.feed(HELLO).unwrap();
    for remembering in [Checker::new(&http), taught] {
        let mut checker = remembering;
        let error = reply.chunks(1).find_map(|byte| checker.feed(byte).err());
        assert_eq!(error.as_ref(), Some(&whole), "{}", reply.escape_ascii());
    }
    whole.to_string()
}

#[test]
fn control_characters_and_a_carriage_return_alone_are_refused_everywhere() {
    let rows: [&[u8]; 10] = [
        b"HTTP/1.1 200 O\0K\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX\0: a\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX : a\r\n\r\n",
        b"HTTP/1.1 099 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a\0\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\rx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: \0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: a\rb\r\n\r\n",
    ];
    expect_file!["golden/control-characters.txt"].assert_eq(&explained(&rows, sentence));
}

#[test]
fn a_length_that_no_number_holds_is_refused_and_the_largest_one_is_waited_for() {
    let head = |length: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nx");
    let lengths = ["18446744073709551616", "99999999999999999999999", "-1", "0x5", "5,5", "5 5"];
    let messages = lengths.map(|length| sentence(head(length).as_bytes()) + "\n");
    expect![[r#"
        Content-Length is "18446744073709551616"
        Content-Length is "99999999999999999999999"
        Content-Length is "-1"
        Content-Length is "0x5"
        Content-Length is "5,5"
        Content-Length is "5 5"
    "#]]
    .assert_eq(&messages.concat());
    let largest = head("18446744073709551615");
    assert_eq!(verdict(&http(None), &[largest.as_bytes()]), Ok(None));
    assert_eq!(error(largest.as_bytes()), "the body has 18446744073709551615 bytes instead of 12");
}

#[test]
fn a_chunk_of_the_largest_size_is_waited_for_and_a_larger_one_is_refused() {
    let body = |size: &str| {
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\nx").into_bytes()
    };
    for size in ["ffffffffffffffff", "0000000000000000000000000001"] {
        assert_eq!(verdict(&http(None), &[&body(size)]), Ok(None), "{size}");
    }
    for size in ["10000000000000000", "ffffffffffffffffffffffffff"] {
        assert_eq!(sentence(&body(size)), "the chunked body is broken: a size is too large");
    }
}

#[test]
fn a_head_may_have_any_number_of_lines_up_to_its_limit_which_the_message_names() {
    let head = |lines| format!("HTTP/1.1 204 x\r\n{}\r\n", "X: y\r\n".repeat(lines));
    for lines in [126, 127, 128, 5000] {
        assert_eq!(status(head(lines).as_bytes()), Some(204), "{lines}");
    }
    expect!["the head is longer than 65536 bytes: give a larger --head-limit"]
        .assert_eq(&sentence(head(20_000).as_bytes()));
}

#[test]
fn an_endless_part_of_a_reply_is_refused() {
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (start, again, part) in [
        ("HTTP/1.1 200 OK\r\n".to_owned(), "X: abcdefgh\r\n", "head"),
        (String::new(), "HTTP/1.1 100 Continue\r\n\r\n", "head"),
        (format!("{CHUNKED}5;"), "abcdefgh", "line with a chunk size"),
        (format!("{CHUNKED}0\r\n"), "X: abcdefgh\r\n", "trailer"),
    ] {
        let mut checker = Checker::new(&http(None));
        let pieces = std::iter::repeat_n(again, 10_000);
        let failed = std::iter::once(&*start).filter(|it| !it.is_empty()).chain(pieces);
        let failed = failed.map(|it| checker.feed(it.as_bytes())).find_map(Result::err);
        assert_eq!(failed, Some(ReplyError::TooLong { part, limit: HEAD_LIMIT_BYTES }), "{start}");
    }
}

#[test]
fn the_memory_for_heads_is_bounded_and_given_back() {
    let mut checker = Checker::new(&http(None));
    checker.feed(b"HTTP/1.1 200 OK\r\nX: ").unwrap();
    while checker.feed(b"aaaaaaaa").is_ok() {
        assert!(checker.connection.head_capacity() <= 2 * HEAD_LIMIT_BYTES);
    }
    checker.restart();
    assert!(checker.connection.head_capacity() <= 1024);

    checker.feed(b"HTTP/1.1 200 OK\r\nX: ").unwrap();
    checker.feed(&[b'a'; 60_000]).unwrap();
    assert!(checker.feed(b"\r\nContent-Length: 0\r\n\r\n").unwrap().reply().is_some());
    assert!(checker.connection.head_capacity() <= 1024);
}

#[test]
fn split_heads_are_bounded_over_all_connections_and_free_their_memory() {
    let mut http = http(None);
    let mut connections: Vec<_> = (0..2000).map(|number| http.connection(number)).collect();
    let mut refused = 0;
    for connection in &mut connections {
        let mut feed = |bytes: &[u8]| http.feed(connection, bytes);
        refused += usize::from(feed(b"HTTP/1.1 200 OK\r\nX: ").and(feed(&[b'a'; 60_000])).is_err());
    }
    let kept_bytes: usize = connections.iter().map(Http1Connection::head_capacity).sum();
    assert!(kept_bytes <= 64 << 20, "{kept_bytes} bytes are kept");
    assert!((1..1999).contains(&refused), "{refused} were refused");

    // Room that is given back, in one way or the other, is room for others.
    for connection in &mut connections[..1000] {
        http.restart(connection);
    }
    let mut whole = http.connection(2000);
    http.feed(&mut whole, b"HTTP/1.1 200 OK\r\nX: ").unwrap();
    http.feed(&mut whole, &[b'a'; 60_000]).unwrap();
    assert!(http.feed(&mut whole, b"\r\nContent-Length: 0\r\n\r\n").unwrap().reply().is_some());
}
