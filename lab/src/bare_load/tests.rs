//! Both loops: the counts are right, and the end comes in time. Nothing here measures.

use std::{
    io::{Read, Write},
    net::TcpListener,
    os::unix::net::UnixStream,
    thread,
};

use super::*;

const ENGINES: [Engine; 2] = [Engine::Epoll, Engine::IoUring];

/// Answers every request, reads in small pieces, and returns how many requests there were.
fn answer(mut stream: impl Read + Write, request: &[u8], reply: &[u8]) -> u64 {
    let (mut answered, mut position) = (0, 0);
    let mut buffer = [0; 700];
    loop {
        let count = match stream.read(&mut buffer) {
            Ok(count) if count > 0 => count,
            _ => return answered,
        };
        let mut completed = 0;
        for byte in &buffer[..count] {
            assert_eq!(*byte, request[position], "the requests are out of order");
            position = (position + 1) % request.len();
            completed += usize::from(position == 0);
        }
        answered += completed as u64;
        if stream.write_all(&reply.repeat(completed)).is_err() {
            return answered;
        }
    }
}

/// A server in threads of this process, which end with it.
fn server(reply_bytes: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
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
    let reply_bytes = NonZeroUsize::new(reply_bytes).unwrap();
    let depth = NonZeroUsize::MIN;
    Arguments { engine, address, connections: 8, seconds: 0.2, reply_bytes, depth }
}

/// A busy machine is given more time, so that only a loop that has stopped fails.
fn assert_counts_more_than(requests: u64, count: impl Fn(f64) -> u64) {
    let counts: Vec<u64> =
        [0.2, 0.8, 3.2, 12.8].into_iter().map(count).take_while(|it| *it <= requests).collect();
    assert!(counts.len() < 4, "{counts:?}");
}

#[test]
fn replies_of_any_length_and_pipelines_of_any_depth_keep_coming_until_the_end() {
    for reply_bytes in [77, 4096, 64 * 1024, 300 * 1024] {
        let address = server(reply_bytes);
        for engine in ENGINES {
            for (connections, depth) in [(1, 1), (64, 1), (64, 16), (3, 100)] {
                // A loop that loses count stops after the requests that it begins with.
                assert_counts_more_than(2 * (connections * depth) as u64, |seconds| {
                    let depth = NonZeroUsize::new(depth).unwrap();
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
}

#[test]
fn a_server_that_never_answers_does_not_delay_the_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for engine in ENGINES {
        let began = Instant::now();
        assert_eq!(load(&arguments(engine, address, 77)).unwrap().requests, 0);
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn a_server_that_closes_and_one_that_does_not_listen_are_errors() {
    for engine in ENGINES {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
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
fn exchange(engine: Engine, requests: Requests, depth: NonZeroUsize, seconds: f64) -> (u64, u64) {
    const REPLY: [u8; 50] = [b'x'; 50];
    let duration = Duration::from_secs_f64(seconds);
    let (ours, theirs) = UnixStream::pair().unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size(&ours, 1).unwrap();
    ours.set_nonblocking(true).unwrap();
    let room = rustix::net::sockopt::socket_send_buffer_size(&ours).unwrap();
    assert!(room < requests.first_bytes() / 2, "all requests have room");
    let server = thread::spawn(move || answer(theirs, requests.next(requests.bytes(1)), &REPLY));
    let (sockets, mut tally) = ([ours.into()], Tally::new(1, REPLY.len()));
    let reply_bytes = NonZeroUsize::new(REPLY.len()).unwrap();
    run_engine(engine, &sockets, requests, &mut tally, duration, (reply_bytes, depth)).unwrap();
    // Dropping alone would not do: the ring lets go of the socket only some time later.
    rustix::net::shutdown(&sockets[0], rustix::net::Shutdown::Both).unwrap();
    (tally.replies(), server.join().unwrap())
}

#[test]
fn requests_for_which_there_is_no_room_are_finished_later_and_in_order_and_counted() {
    let depth = NonZeroUsize::new(1024).unwrap();
    let requests = Requests::new("127.0.0.1:80".parse().unwrap(), depth.get());
    for engine in ENGINES {
        assert_counts_more_than(3 * depth.get() as u64, |seconds| {
            let (counted, answered) = exchange(engine, requests, depth, seconds);
            let in_flight = answered - counted;
            assert!(in_flight <= depth.get() as u64, "{engine:?}: {counted} of {answered}");
            counted
        });
    }
}
