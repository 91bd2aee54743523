//! Servers that end connections with an announcement, and those that serve one at a time.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_loadgen::{Load, ServerClocks};

use crate::{
    PATIENCE, counted, each_engine, load,
    server::{HELLO, LAST, Server, one_at_a_time, read_request, stall},
    timed,
};

#[test]
fn a_thread_without_requests_left_holds_no_connection_that_the_server_waits_for() {
    // As gunicorn's default worker and others do, it waits for the client to close first.
    each_engine(|engine| {
        let (server, _) = one_at_a_time(|_, mut stream| {
            if read_request(stream) && stream.write_all(LAST).is_ok() {
                stall(stream);
            }
        });
        let report = load(&counted(&server.http(), engine, 100));
        assert_eq!((report.requests, report.errors.total()), (100, 0), "{report:?}");
    });
}

#[test]
fn a_thread_without_requests_left_holds_no_idle_connection_either() {
    each_engine(|engine| {
        let (server, _) =
            one_at_a_time(
                |_, mut stream| {
                    while read_request(stream) && stream.write_all(HELLO).is_ok() {}
                },
            );
        // One request for each of two threads, which have two connections each.
        let report = load(&counted(&server.http(), engine, 2));
        assert_eq!((report.requests, report.errors.total()), (2, 0), "{report:?}");
    });
}

#[test]
fn a_connection_closed_in_a_window_ends_for_the_server_before_the_next_window() {
    static NEVER: AtomicBool = AtomicBool::new(false);
    each_engine(|engine| {
        let (answered, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (answers, ends) = (Arc::clone(&answered), Arc::clone(&ended));
        let server = Server::start(move |_, mut stream, _| {
            if read_request(stream) {
                answers.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(LAST);
                stall(stream);
                ends.fetch_add(1, Ordering::SeqCst);
            }
        });
        let config = timed(&server.http(), engine, 50);
        let mut load = Load::connect(&config, &NEVER, &mut |_| {}).unwrap();
        load.window(&config, &ServerClocks::default(), &NEVER, &mut |_| {}).unwrap();
        let began = Instant::now();
        while ended.load(Ordering::SeqCst) < answered.load(Ordering::SeqCst) {
            assert!(began.elapsed() < PATIENCE, "a connection stays open");
            thread::sleep(Duration::from_millis(1));
        }
    });
}
