//! Both loops: the counts are right, and the end comes in time. Nothing here measures.

use super::{tally::request, *};
use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
};

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

fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// A server in threads of this process, which end with it.
fn server(reply_bytes: usize) -> SocketAddr {
    let (listener, address) = listen();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let reply = vec![b'x'; reply_bytes];
            thread::spawn(move || answer(stream.unwrap(), request(address).as_bytes(), &reply));
        }
    });
    address
}

fn arguments(engine: Engine, address: SocketAddr, reply_bytes: usize) -> Arguments {
    let reply_bytes = reply_bytes.try_into().unwrap();
    Arguments { engine, address, connections: 8, seconds: 0.2, reply_bytes, depth: 1 }
}

#[test]
fn replies_of_any_length_and_pipelines_of_any_depth_keep_coming_until_the_end() {
    for reply_bytes in [77, 4096, 64 * 1024, 300 * 1024] {
        let address = server(reply_bytes);
        for (engine, (connections, depth)) in ENGINES
            .into_iter()
            .flat_map(|engine| [(1, 1), (64, 1), (64, 16), (3, 100)].map(|it| (engine, it)))
        {
            let usual = arguments(engine, address, reply_bytes);
            let is_alive = |seconds| {
                let began = Instant::now();
                let counts = load(&Arguments { connections, depth, seconds, ..usual }).unwrap();
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
        let (_silent, address) = listen();
        let began = Instant::now();
        assert_eq!(load(&arguments(engine, address, 77)).unwrap().requests, 0);
        assert!(began.elapsed() < Duration::from_secs(5));
        let (listener, address) = listen();
        let server = thread::spawn(move || {
            // Not the last one alone: a connection with unread bytes is reset instead of closed.
            for stream in listener.incoming().take(8) {
                let _ = stream.unwrap().read(&mut [0; 1000]);
            }
        });
        let error = load(&arguments(engine, address, 77)).unwrap_err();
        assert!(error.to_string().contains("keep the connection open"), "{engine:?}: {error}");
        server.join().unwrap();
        assert!(load(&arguments(engine, address, 77)).is_err());
    }
}
