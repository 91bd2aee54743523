//! Both loops: the counts are right, and the end comes in time. Nothing here measures.

use super::*;
use std::{net::TcpListener, os::fd::IntoRawFd as _, thread};

const ENGINES: [Engine; 2] = [Engine::Epoll, Engine::IoUring];

/// Answers every request, and reads in small pieces.
fn answer(mut stream: TcpStream, request: &[u8], reply: &[u8]) {
    let mut position = 0;
    let mut buffer = [0; 700];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let mut answered = 0;
        for byte in &buffer[..count] {
            assert_eq!(*byte, request[position], "the requests are out of order");
            position = (position + 1) % request.len();
            answered += usize::from(position == 0);
        }
        if stream.write_all(&reply.repeat(answered)).is_err() {
            return;
        }
    }
}

/// A server in threads of this process, which end with it. It answers all connections, or only the first one and gives
/// the others to `treat`.
fn server(reply_bytes: usize, treat: Option<fn(TcpStream)>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let (stream, reply) = (stream.unwrap(), vec![b'x'; reply_bytes]);
            if let Some(treat) = treat.filter(|_| number > 0) {
                treat(stream);
            } else {
                thread::spawn(move || answer(stream, request(address).as_bytes(), &reply));
            }
        }
    });
    address
}

#[test]
fn replies_of_any_length_and_pipelines_of_any_depth_keep_coming_until_the_end() {
    for reply_bytes in [77, 4096, 64 * 1024, 300 * 1024] {
        let address = server(reply_bytes, None);
        let loads = [(1, 1), (64, 1), (64, 16), (3, 100)];
        for (engine, (connections, depth)) in
            ENGINES.into_iter().flat_map(|engine| loads.map(|load| (engine, load)))
        {
            let is_alive = |seconds| {
                let began = Instant::now();
                let arguments = Arguments { engine, address, connections, seconds, depth };
                let counts = load(&arguments).unwrap();
                let late = began.elapsed().as_secs_f64() - seconds;
                assert!((0.0..10.0).contains(&late), "{engine:?} ended {late} s late");
                // A loop that loses count stops after the requests that it begins with.
                counts.requests > 2 * (connections * depth) as u64
            };
            // A busy machine is given more time, so that only a loop that has stopped fails.
            assert!([0.2, 0.8, 3.2, 12.8].into_iter().any(is_alive), "{engine:?} stopped");
        }
    }
}

#[test]
fn a_server_that_is_silent_delays_no_end_and_one_that_closes_or_does_not_listen_is_an_error() {
    for engine in ENGINES {
        let load =
            |address| load(&Arguments { engine, address, connections: 8, seconds: 0.2, depth: 1 });
        let began = Instant::now();
        let silent = server(77, Some(|stream| _ = stream.into_raw_fd()));
        assert_eq!(load(silent).unwrap().requests, 0);
        assert!(began.elapsed() < PATIENCE);
        // Not the last one alone: a connection with unread bytes is reset instead of closed.
        let closing = server(77, Some(|mut stream| _ = stream.read(&mut [0; 1000])));
        let error = load(closing).unwrap_err().to_string();
        assert!(error.contains("keep the connection open"), "{engine:?}: {error}");
        assert!(load("127.0.0.1:0".parse().unwrap()).is_err());
    }
}
