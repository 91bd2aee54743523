//! Both loops: the counts are right, and the end comes in time. Nothing here measures.

use super::*;
use std::{
    io::{Read, Write},
    net::TcpListener,
    os::unix::net::UnixStream,
    thread,
};

const ENGINES: [Engine; 2] = [Engine::Epoll, Engine::IoUring];

/// Answers every request, reads in small pieces, and returns how many requests there were.
fn answer(mut stream: impl Read + Write, request: &[u8], reply: &[u8]) -> u64 {
    let (mut answered, mut position) = (0, 0);
    let mut buffer = [0; 700];
    loop {
        let count = stream.read(&mut buffer).unwrap_or(0);
        let before = answered;
        for byte in &buffer[..count] {
            assert_eq!(*byte, request[position], "the requests are out of order");
            position = (position + 1) % request.len();
            answered += u64::from(position == 0);
        }
        let replies = reply.repeat((answered - before) as usize);
        if count == 0 || stream.write_all(&replies).is_err() {
            return answered;
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
    let requests = Requests::new(address, 1);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let request = requests.next(requests.first_bytes());
            thread::spawn(move || answer(stream.unwrap(), request, &vec![b'x'; reply_bytes]));
        }
    });
    address
}

fn arguments(engine: Engine, address: SocketAddr, reply_bytes: usize) -> Arguments {
    let reply_bytes = reply_bytes.try_into().unwrap();
    Arguments {
        engine,
        address,
        connections: 8,
        seconds: 0.2,
        reply_bytes,
        depth: NonZeroUsize::MIN,
    }
}

/// A busy machine is given more time, so that only a loop that has stopped fails.
fn assert_counts_more_than(requests: usize, count: impl Fn(f64) -> u64) {
    let mut windows = [0.2, 0.8, 3.2, 12.8].into_iter();
    assert!(windows.any(|seconds| count(seconds) > requests as u64), "no more than {requests}");
}

#[test]
fn replies_of_any_length_and_pipelines_of_any_depth_keep_coming_until_the_end() {
    for reply_bytes in [77, 4096, 64 * 1024, 300 * 1024] {
        let address = server(reply_bytes);
        for (engine, (connections, depth)) in ENGINES
            .into_iter()
            .flat_map(|engine| [(1, 1), (64, 1), (64, 16), (3, 100)].map(|it| (engine, it)))
        {
            // A loop that loses count stops after the requests that it begins with.
            assert_counts_more_than(2 * connections * depth, |seconds| {
                let depth = depth.try_into().unwrap();
                let usual = arguments(engine, address, reply_bytes);
                let began = Instant::now();
                let counts = load(&Arguments { connections, depth, seconds, ..usual }).unwrap();
                let late = began.elapsed().as_secs_f64() - seconds;
                assert!((0.0..10.0).contains(&late), "{engine:?} ended {late} s late");
                counts.requests
            });
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

/// Runs a loop over a pair of sockets, and returns its counts and the answers.
fn exchange(arguments: &Arguments, requests: Requests) -> (u64, u64) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size(&ours, 1).unwrap();
    ours.set_nonblocking(true).unwrap();
    let room = rustix::net::sockopt::socket_send_buffer_size(&ours).unwrap();
    assert!(room < requests.first_bytes() / 2, "all requests have room");
    let reply = vec![b'x'; arguments.reply_bytes.get()];
    let (sockets, mut tally) = ([ours.into()], Tally::new(1, reply.len()));
    let server = thread::spawn(move || answer(theirs, requests.next(requests.bytes(1)), &reply));
    run_engine(arguments, &sockets, requests, &mut tally).unwrap();
    // Dropping alone would not do: the ring lets go of the socket only some time later.
    rustix::net::shutdown(&sockets[0], rustix::net::Shutdown::Both).unwrap();
    (tally.replies(), server.join().unwrap())
}

#[test]
fn requests_for_which_there_is_no_room_are_finished_later_and_in_order_and_counted() {
    const DEPTH: usize = 1024;
    let address = "127.0.0.1:80".parse().unwrap();
    let requests = Requests::new(address, DEPTH);
    for engine in ENGINES {
        assert_counts_more_than(3 * DEPTH, |seconds| {
            let depth = DEPTH.try_into().unwrap();
            let arguments = Arguments { seconds, depth, ..arguments(engine, address, 50) };
            let (counted, answered) = exchange(&arguments, requests);
            assert!(answered - counted <= DEPTH as u64, "{engine:?}: {counted} of {answered}");
            counted
        });
    }
}
