//! Requests without a reply are part of the latency distribution: those in flight when a closed loop
//! ends, and those that fail. A rate with more requests than can be listed ends in time.

use std::{
    io::Write,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};
use wirebench_loadgen::run;
use wirebench_schema::load::{Arrivals, LatencyOrigin, LoadModel, RateCurve};

use crate::{
    each_engine, load,
    server::{HELLO, LAST, Server, answer, answering, read_request, stall},
    timed,
};

/// Answers this many requests on each connection, and never again.
fn falls_silent(replies: usize) -> Server {
    Server::start(move |number, mut stream, _| {
        if number == 0 {
            return answer(stream, HELLO);
        }
        for _ in 0..replies {
            if !read_request(stream) || stream.write_all(HELLO).is_err() {
                return;
            }
        }
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
    Server::start(move |number, mut stream, _| {
        if number == 0 {
            return answer(stream, HELLO);
        }
        while read_request(stream) {
            if number % 2 == 0 {
                thread::sleep(after);
                // To close without lingering is to reset.
                return rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO))
                    .unwrap();
            }
            thread::sleep(Duration::from_millis(20));
            if stream.write_all(HELLO).is_err() {
                return;
            }
        }
    })
}

#[test]
fn a_request_that_fails_late_is_a_late_sample() {
    each_engine(|engine| {
        let server = resets(Duration::from_millis(400));
        let report = load(&timed(&server.http(), engine, 1000));
        assert!(report.errors.reset >= 1, "{:?}", report.errors);
        let latency = report.latency.unwrap();
        assert!(latency.latency_ns_max >= 400_000_000, "{}", latency.latency_ns_max);
    });
}

#[test]
fn a_request_that_fails_early_is_not_the_fastest_sample() {
    each_engine(|engine| {
        let server = resets(Duration::ZERO);
        let report = load(&timed(&server.http(), engine, 300));
        assert!(report.errors.reset >= 1, "{:?}", report.errors);
        let latency = report.latency.unwrap();
        assert_eq!(latency.count - latency.censored, report.requests);
        assert!(latency.censored >= report.errors.reset, "{latency:?}");
        assert!(latency.latency_ns_min >= 20_000_000, "{}", latency.latency_ns_min);
    });
}

fn a_billion_per_second(latency_from: LatencyOrigin) -> LoadModel {
    let (curve, arrivals) = (RateCurve::Constant(1_000_000_000), Arrivals::Even);
    LoadModel::Rate { curve, arrivals, latency_from }
}

/// Ends the test program instead of keeping it for hours where a load does not end.
fn at_most(limit: Duration, work: impl FnOnce() + Send + 'static) {
    let thread = thread::spawn(work);
    let began = Instant::now();
    while !thread.is_finished() {
        assert!(began.elapsed() < limit, "still not over after {limit:?}");
        thread::sleep(Duration::from_millis(5));
    }
    thread.join().unwrap();
}

#[test]
fn a_rate_that_no_machine_can_send_ends_with_its_window() {
    at_most(Duration::from_secs(50), || {
        each_engine(|engine| {
            let server = answering(HELLO);
            let mut config = timed(&server.http(), engine, 3000);
            config.model = a_billion_per_second(LatencyOrigin::Due);
            let report = load(&config);
            let offered = report.offered.unwrap();
            assert!(offered.due.abs_diff(3_000_000_000) <= 1_000_000, "{offered:?}");
            assert_eq!(report.latency.unwrap().count, offered.due);
        });
    });
}

#[test]
fn a_slipping_schedule_that_no_machine_can_follow_is_stopped_like_any_other() {
    at_most(Duration::from_secs(50), || {
        each_engine(|engine| {
            let server = answering(HELLO);
            let mut config = timed(&server.http(), engine, 3_600_000);
            config.model = a_billion_per_second(LatencyOrigin::Sent);
            let stop = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(700));
                    stop.store(true, Ordering::Relaxed);
                });
                assert!(run(&config, &stop, &mut |_| {}).unwrap().interrupted);
            });
        });
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

#[test]
fn percentiles_of_a_rate_that_was_not_kept_are_lower_bounds() {
    each_engine(|engine| {
        let server = Server::start(|_, mut stream, _| {
            while read_request(stream) {
                thread::sleep(Duration::from_millis(5));
                if stream.write_all(HELLO).is_err() {
                    return;
                }
            }
        });
        let mut config = timed(&server.http(), engine, 300);
        config.model = LoadModel::Rate {
            curve: RateCurve::Constant(10_000),
            arrivals: Arrivals::Even,
            latency_from: LatencyOrigin::Due,
        };
        let report = load(&config);
        let (owed, latency) = (report.offered.unwrap().owed_at_end, report.latency.unwrap());
        // 200 replies a second on each of four connections at most.
        assert!(owed >= 3000 - 4 * 300 / 5 && latency.count >= 3000, "{owed} {latency:?}");
        assert!(latency.lower_bounds.unwrap() >= owed, "{owed} {latency:?}");
    });
}
