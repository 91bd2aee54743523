//! Servers with wrong or awkward replies: each fault is counted as its kind, correct replies are
//! accepted, and no server blocks the load.

use std::{
    io::Write,
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};
use wirebench_schema::load::{BodyCheck, EngineChoice, ErrorCounts, LoadConfig, LoadReport};

use crate::{
    counted, each_engine, load,
    server::{HELLO, Server, answer, answering, read_request, stall},
    try_load,
};

/// Two for each connection: after three timeouts without any reply the load would give up.
const REQUESTS: u64 = 8;

/// A server that treats the preflight well and answers one request on each other connection so.
fn lying(lie: impl Fn(&TcpStream) + Send + Sync + 'static) -> Server {
    Server::start(move |number, stream, _| {
        if number == 0 {
            return answer(stream, HELLO);
        }
        if read_request(stream) {
            lie(stream);
        }
    })
}

fn lenient(target: &str, engine: EngineChoice) -> LoadConfig {
    let mut config = counted(target, engine, REQUESTS);
    config.body_check = BodyCheck::Any;
    config
}

/// All requests fail in this way and no other.
#[track_caller]
fn assert_only(report: &LoadReport, kind: fn(&mut ErrorCounts) -> &mut u64, example: &str) {
    let mut errors = report.errors;
    let count = std::mem::take(kind(&mut errors));
    assert_eq!(errors, ErrorCounts::default(), "{:?}", report.error_examples);
    assert_eq!((count, report.requests), (REQUESTS, 0), "{:?}", report.error_examples);
    assert_eq!(report.error_examples[0].sentence, example);
}

/// A wrong reply that is found as soon as it has come, although the connection stays open.
#[track_caller]
fn wrong_reply(reply: &'static [u8], example: &str) {
    each_engine(|engine| {
        let server = lying(|mut stream| {
            let _ = stream.write_all(reply);
            stall(stream);
        });
        let report = load(&lenient(&server.http(), engine));
        assert_only(&report, |errors| &mut errors.wrong_reply, example);
    });
}

const TOO_LONG: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nHello world!";

#[test]
fn a_length_that_is_too_long_times_out_when_the_connection_stays() {
    each_engine(|engine| {
        let server = lying(|mut stream| {
            let _ = stream.write_all(TOO_LONG);
            stall(stream);
        });
        let mut config = lenient(&server.http(), engine);
        config.timeout = Duration::from_millis(500);
        let report = load(&config);
        assert_only(&report, |errors| &mut errors.timeout, "no reply in time");
    });
}

#[test]
fn a_length_that_is_too_long_is_closed_early_when_the_connection_ends() {
    each_engine(|engine| {
        let server = lying(|mut stream| {
            let _ = stream.write_all(TOO_LONG);
        });
        let report = load(&lenient(&server.http(), engine));
        let example = "the server closed while a reply was due";
        assert_only(&report, |errors| &mut errors.closed_early, example);
    });
}

#[test]
fn a_length_that_is_too_short_leaves_a_surplus() {
    each_engine(|engine| {
        let server = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello world!");
        let report = load(&lenient(&server.http(), engine));
        assert_eq!(report.requests, REQUESTS);
        // The reply that completes a thread's share ends its load; bytes after it are not read.
        assert!(report.errors.surplus >= REQUESTS - 2, "{:?}", report.errors);
        assert_eq!(report.errors.surplus, report.errors.total(), "{:?}", report.error_examples);
    });
}

#[test]
fn a_length_larger_than_any_number_is_a_wrong_reply() {
    wrong_reply(
        b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\nHello",
        "Content-Length is \"18446744073709551616\"",
    );
}

#[test]
fn a_chunk_larger_than_any_number_is_a_wrong_reply() {
    wrong_reply(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\nHello",
        "the chunked body is broken: a size is too large",
    );
}

#[test]
fn a_chunk_longer_than_its_size_is_a_wrong_reply() {
    wrong_reply(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello world!\r\n0\r\n\r\n",
        "the chunked body is broken: a chunk is longer than its size says",
    );
}

#[test]
fn control_characters_in_a_head_are_a_wrong_reply() {
    wrong_reply(
        b"HTTP/1.1 200 OK\r\nServer: a\0b\r\nContent-Length: 12\r\n\r\nHello world!",
        "the head cannot be read: invalid header value",
    );
    wrong_reply(
        b"HTTP/1.1 200 OK\r\nServer: a\rb\r\nContent-Length: 12\r\n\r\nHello world!",
        "the head cannot be read: invalid header value",
    );
}

#[test]
fn an_endless_reply_is_wrong_and_is_not_read_on() {
    /// Room for what lies in the buffers of both sockets.
    const LIMIT_BYTES: usize = 32 * 1024 * 1024;
    let endless: [(&[u8], &[u8], &str); 4] = [
        (
            b"HTTP/1.1 200 OK\r\n",
            b"X: abcdefgh\r\n",
            "the head is longer than 1048576 bytes: give a larger --head-limit",
        ),
        (
            b"",
            b"HTTP/1.1 103 x\r\nX: y\r\n\r\n",
            "the head is longer than 1048576 bytes: give a larger --head-limit",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=",
            b"abcdefghijkl",
            "the line with a chunk size is longer than 1048576 bytes: give a larger --head-limit",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
            b"X: abcdefgh\r\n",
            "the trailer is longer than 1048576 bytes: give a larger --head-limit",
        ),
    ];
    each_engine(|engine| {
        for (start, again, example) in endless {
            let most = Arc::new(AtomicUsize::new(0));
            let sent = Arc::clone(&most);
            let server = lying(move |mut stream| {
                let _ = stream.write_all(start);
                let piece = again.repeat(1000);
                let mut bytes = 0;
                while bytes < LIMIT_BYTES && stream.write_all(&piece).is_ok() {
                    bytes += piece.len();
                }
                sent.fetch_max(bytes, Ordering::SeqCst);
            });
            let report = load(&lenient(&server.http(), engine));
            assert_only(&report, |errors| &mut errors.wrong_reply, example);
            assert!(most.load(Ordering::SeqCst) < LIMIT_BYTES, "{example}");
        }
    });
}

#[test]
fn bytes_behind_a_reply_that_was_announced_as_the_last_are_surplus() {
    each_engine(|engine| {
        let server = lying(|mut stream| {
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 12\r\n\r\n\
                  Hello world!HTTP/1.1 200 OK\r\n",
            );
        });
        let report = load(&lenient(&server.http(), engine));
        assert_eq!(report.requests, REQUESTS);
        assert!(report.errors.surplus >= REQUESTS - 2, "{:?}", report.errors);
        assert_eq!(report.errors.surplus, report.errors.total(), "{:?}", report.error_examples);
    });
}

#[test]
fn a_reset_within_a_body_is_a_reset() {
    each_engine(|engine| {
        let server = lying(|mut stream| {
            let _ = stream.write_all(&HELLO[..HELLO.len() - 4]);
            // To close without lingering is to reset.
            rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).unwrap();
        });
        let report = load(&counted(&server.http(), engine, REQUESTS));
        assert_only(&report, |errors| &mut errors.reset, "the server reset the connection");
    });
}

#[test]
fn a_stall_within_a_reply_is_a_timeout_wherever_it_is() {
    each_engine(|engine| {
        for length in [1, 20, HELLO.len() - 12, HELLO.len() - 1] {
            let server = lying(move |mut stream| {
                let _ = stream.write_all(&HELLO[..length]);
                stall(stream);
            });
            let mut config = counted(&server.http(), engine, REQUESTS);
            config.timeout = Duration::from_millis(300);
            assert_only(&load(&config), |errors| &mut errors.timeout, "no reply in time");
        }
    });
}

/// All replies are right, and all but the first one of each thread are found by comparison.
#[track_caller]
fn assert_fast(report: &LoadReport, requests: u64) {
    assert_eq!(report.errors, ErrorCounts::default(), "{:?}", report.error_examples);
    assert_eq!((report.requests, report.checks.fast + report.checks.slow), (requests, requests));
    let threads = report.config.threads as u64;
    assert!(report.checks.slow <= threads, "{:?} of {threads} threads", report.checks);
}

#[test]
fn a_reply_that_is_split_at_every_place_is_right_and_found_by_comparison() {
    each_engine(|engine| {
        let server = Server::start(|_, mut stream, _| {
            for place in (1..HELLO.len()).cycle() {
                if !read_request(stream) || stream.write_all(&HELLO[..place]).is_err() {
                    return;
                }
                // So that the two parts do not arrive as one.
                thread::sleep(Duration::from_millis(1));
                if stream.write_all(&HELLO[place..]).is_err() {
                    return;
                }
            }
        });
        let requests = 4 * HELLO.len() as u64;
        assert_fast(&load(&counted(&server.http(), engine, requests)), requests);
    });
}

#[test]
fn a_date_that_changes_with_every_reply_is_no_difference() {
    each_engine(|engine| {
        let seconds = AtomicUsize::new(0);
        let server = Server::start(move |_, mut stream, _| {
            while read_request(stream) {
                let second = seconds.fetch_add(1, Ordering::SeqCst) % 60;
                let reply = format!(
                    "HTTP/1.1 200 OK\r\nDate: Sat, 21 Nov 2026 22:58:{second:02} GMT\r\n\
                     Content-Length: 12\r\n\r\nHello world!"
                );
                if stream.write_all(reply.as_bytes()).is_err() {
                    return;
                }
            }
        });
        assert_fast(&load(&counted(&server.http(), engine, 200)), 200);
    });
}

/// Every other reply has another body of the same length; the preflight is served so, too, if it
/// is.
fn alternating(first: usize) -> Server {
    Server::start(move |number, mut stream, _| {
        if number < first {
            return answer(stream, HELLO);
        }
        let other = [&HELLO[..HELLO.len() - 12], b"Another one!"].concat();
        for reply in [HELLO, &other].into_iter().cycle() {
            if !read_request(stream) || stream.write_all(reply).is_err() {
                return;
            }
        }
    })
}

#[test]
fn two_bodies_of_equal_length_are_reported_before_the_load() {
    each_engine(|engine| {
        let server = alternating(0);
        let config = counted(&server.http(), engine, REQUESTS);
        assert_eq!(
            try_load(&config).unwrap_err().to_string(),
            format!(
                "two replies of {} to the same request have different bodies (from byte 0 on): \
                 give --any-body to check the framing alone",
                server.http()
            )
        );
    });
}

#[test]
fn two_bodies_of_different_length_are_reported_before_the_load() {
    each_engine(|engine| {
        let server = Server::start(|_, mut stream, _| {
            for body in ["one", "three"].into_iter().cycle() {
                let length = body.len();
                let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
                if !read_request(stream) || stream.write_all(reply.as_bytes()).is_err() {
                    return;
                }
            }
        });
        let config = counted(&server.http(), engine, REQUESTS);
        let message = try_load(&config).unwrap_err().to_string();
        assert_eq!(
            message,
            format!(
                "two replies of {} to the same request have different bodies (3 and 5 bytes): \
                 give --any-body to check the framing alone",
                server.http()
            )
        );
    });
}

#[test]
fn a_second_request_that_goes_wrong_before_the_load_is_left_to_the_load() {
    for stalls in [true, false] {
        each_engine(|engine| {
            let server = Server::start(move |number, mut stream, _| {
                if number > 0 {
                    return answer(stream, HELLO);
                }
                read_request(stream);
                let _ = stream.write_all(HELLO);
                if stalls {
                    stall(stream);
                }
            });
            let mut config = counted(&server.http(), engine, REQUESTS);
            config.timeout = Duration::from_secs(3);
            let report = load(&config);
            assert_eq!((report.requests, report.errors.total()), (REQUESTS, 0));
        });
    }
}

#[test]
fn bodies_of_equal_length_that_alternate_later_are_wrong_unless_any_will_do() {
    each_engine(|engine| {
        let report = load(&counted(&alternating(1).http(), engine, 20));
        assert!(report.errors.wrong_reply >= 8, "{:?}", report.errors);
        assert_eq!(report.errors.wrong_reply, report.errors.total());
        assert_eq!(report.requests + report.errors.total(), 20);
        assert_eq!(
            report.error_examples[0].sentence,
            "the body differs from the expected one at byte 0; if bodies may differ, give \
             --any-body to check the framing alone"
        );

        let server = alternating(0);
        assert_fast(&load(&lenient(&server.http(), engine)), REQUESTS);
    });
}

#[test]
fn chunks_that_are_cut_otherwise_each_time_are_right() {
    each_engine(|engine| {
        let server = Server::start(|_, mut stream, _| {
            for place in (1..12).cycle() {
                let (a, b) = "Hello world!".split_at(place);
                let reply = format!(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                     {:x}\r\n{a}\r\n{:x}\r\n{b}\r\n0\r\n\r\n",
                    a.len(),
                    b.len()
                );
                if !read_request(stream) || stream.write_all(reply.as_bytes()).is_err() {
                    return;
                }
            }
        });
        let report = load(&counted(&server.http(), engine, 100));
        assert_eq!(report.errors, ErrorCounts::default(), "{:?}", report.error_examples);
        assert_eq!((report.requests, report.checks.fast + report.checks.slow), (100, 100));
    });
}
