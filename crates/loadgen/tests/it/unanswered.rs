//! Requests without a reply are part of the latency distribution: those in flight when a closed loop
//! ends, and those that fail. Replies with an error status are not.

use std::{
    io::Write,
    net::TcpStream,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};
use wirebench_schema::load::{LoadConfig, LoadModel, RateCurve};

use crate::{
    counted, each_engine, load,
    server::{
        HELLO, LAST, Server, after_preflight, answer, answer_some, answer_with, answering,
        read_request, reset, stall,
    },
    timed,
};

/// Answers this many requests on each connection, and never again.
fn falls_silent(replies: usize) -> Server {
    after_preflight(move |stream| {
        answer_some(stream, replies);
        stall(stream);
    })
}

#[test]
fn requests_in_flight_when_a_closed_loop_ends_are_samples_with_their_age() {
    each_engine(|engine| {
        let server = falls_silent(3);
        let report = load(&timed(&server.http(), engine, 600));
        assert_eq!(report.in_flight_at_end, 4);
        let latency = report.latency.unwrap();
        assert_eq!((latency.count, latency.censored), (report.requests + 4, 4));
        // The replies take a few milliseconds at most; the rest of the window is the age.
        assert!(latency.latency_ns_max >= 100_000_000, "{}", latency.latency_ns_max);
    });
}

/// Resets every second connection after this time and answers the others after 20 ms.
fn resets(after: Duration) -> Server {
    Server::start(move |number, stream, _| {
        if number == 0 {
            return answer(stream, HELLO);
        }
        if number % 2 == 0 {
            if read_request(stream) {
                thread::sleep(after);
                reset(stream);
            }
            return;
        }
        answer_with(stream, || {
            thread::sleep(Duration::from_millis(20));
            HELLO
        });
    })
}

#[test]
fn a_request_that_fails_late_is_a_late_sample_and_one_that_fails_early_is_not_the_fastest() {
    each_engine(|engine| {
        for fails_ms in [400, 0] {
            let server = resets(Duration::from_millis(fails_ms));
            let report = load(&timed(&server.http(), engine, 300 + 2 * fails_ms));
            assert!(report.errors.reset >= 1, "{:?}", report.errors);
            let latency = report.latency.unwrap();
            assert_eq!(latency.count - latency.censored, report.requests);
            assert!(latency.censored >= report.errors.reset, "{latency:?}");
            assert!(latency.latency_ns_max >= fails_ms * 1_000_000, "{}", latency.latency_ns_max);
            assert!(latency.latency_ns_min >= 20_000_000, "{}", latency.latency_ns_min);
        }
    });
}

fn at_rate(rate: u64) -> LoadModel {
    LoadModel::rate(RateCurve::per_second(rate))
}

/// Answers with `first` this many times in all, after a good reply to the first connection.
fn answers_first(
    replies: usize,
    first: &'static [u8],
    then: impl Fn(&TcpStream) + Send + Sync + 'static,
) -> Server {
    let left = AtomicUsize::new(replies);
    after_preflight(move |mut stream| {
        let take = |left: usize| left.checked_sub(1);
        while read_request(stream) {
            if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_err() {
                then(stream);
            } else if stream.write_all(first).is_err() {
                return;
            }
        }
    })
}

#[test]
fn replies_with_an_error_status_have_a_latency_of_their_own() {
    const REFUSED: &[u8] = b"HTTP/1.1 429 Slow down\r\nContent-Length: 0\r\n\r\n";
    const STRANGE: &[u8] = b"HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n";
    let refuse = |mut stream: &TcpStream| drop(stream.write_all(REFUSED));
    each_engine(|engine| {
        let report = load(&counted(&answers_first(49, HELLO, refuse).http(), engine, 500));
        let latency = report.latency.unwrap();
        assert_eq!((latency.count, latency.censored, report.requests), (49, 0, 49));
        let classes: Vec<_> =
            report.latency_by_status.iter().map(|(class, it)| (class.as_str(), it.count)).collect();
        assert_eq!((classes, report.errors.status), (vec![("4xx", 451)], 451));

        let report = load(&counted(&answers_first(7, STRANGE, refuse).http(), engine, 20));
        assert_eq!((report.latency, report.requests), (None, 0));
        assert_eq!((report.status_classes, report.statuses_invalid), ([0, 0, 0, 13, 0], 7));
        assert_eq!(report.latency_by_status["invalid"].count, 7);

        let mut config = counted(&answering(HELLO).http(), engine, 20);
        config.expect_status = vec![201];
        let report = load(&config);
        assert_eq!((report.requests, report.errors.status, report.reconnects), (0, 20, 0));
        assert_eq!(report.latency_by_status["2xx"].count, 20);
    });
}

#[test]
fn a_complete_reply_that_is_wrong_has_a_known_latency_and_its_connection_goes_on() {
    let replies = ["12\r\n\r\nHello World!", "13\r\n\r\nHello, world!"];
    each_engine(|engine| {
        for reply in replies.map(|it| format!("HTTP/1.1 200 OK\r\nContent-Length: {it}")) {
            let answer = move |mut stream: &TcpStream| drop(stream.write_all(reply.as_bytes()));
            let report = load(&counted(&answers_first(49, HELLO, answer).http(), engine, 500));
            let latency = report.latency.unwrap();
            assert_eq!((latency.count, latency.censored, report.requests), (49, 0, 49));
            assert_eq!(report.latency_by_status["wrong-body"].count, 451);
            assert_eq!((report.errors.wrong_reply, report.errors.total()), (451, 451));
            assert_eq!((report.reconnects, report.unanswered_connections), (0, 0));
        }
    });
}

#[test]
fn the_offered_rate_is_that_of_the_schedule_however_few_requests_are_due() {
    each_engine(|engine| {
        let server = answering(HELLO);
        let rates = [
            (1, counted(&server.http(), engine, 1)),
            (10, counted(&server.http(), engine, 5)),
            (1, timed(&server.http(), engine, 500)),
        ];
        for (rate, config) in rates {
            let report = load(&LoadConfig { model: at_rate(rate), ..config });
            let offered = report.offered.unwrap();
            assert!((offered.requests_per_second - rate as f64).abs() < 1e-9, "{offered:?}");
            assert_eq!(report.answered(), offered.due);
        }
    });
}

#[test]
fn connections_that_get_no_more_replies_are_counted_and_others_are_not() {
    const LOST: usize = 2;
    const REFUSED: &[u8] = b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno";
    each_engine(|engine| {
        let server = Server::start(|number, stream, _| match number {
            LOST => stall(stream),
            _ => answer(stream, HELLO),
        });
        let report = load(&timed(&server.http(), engine, 2000));
        assert_eq!(report.unanswered_connections, 1, "{report:?}");
        // All of these are answered, whatever becomes of their connections or their statuses.
        for reply in [LAST, REFUSED] {
            let server = answering(reply);
            let report = load(&timed(&server.http(), engine, 200));
            assert_eq!(report.unanswered_connections, 0, "{report:?}");
        }
    });
}
