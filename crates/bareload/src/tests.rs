//! Both loops over sockets that take only a part of what is to be sent.

use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;

use super::*;

const REPLY: [u8; 50] = [b'x'; 50];

/// Answers every request, reads in small pieces, and returns how many requests there were.
fn answer(mut stream: UnixStream, request: &[u8]) -> u64 {
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
        if stream.write_all(&REPLY.repeat(completed)).is_err() {
            return answered;
        }
        answered += completed as u64;
    }
}

/// Runs a loop over a pair of sockets, and returns its counts and the answers.
fn load(engine: Engine, requests: Requests, depth: NonZeroUsize, duration: Duration) -> (u64, u64) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size(&ours, 1).unwrap();
    ours.set_nonblocking(true).unwrap();
    let room = rustix::net::sockopt::socket_send_buffer_size(&ours).unwrap();
    assert!(room < requests.first_bytes() / 2, "all requests have room");
    let server = thread::spawn(move || answer(theirs, requests.next(requests.bytes(1))));
    let (sockets, mut tally) = ([ours.into()], Tally::new(1, REPLY.len()));
    match engine {
        Engine::Epoll => {
            epoll::run(&sockets, requests, &mut tally, Instant::now() + duration).unwrap();
        }
        Engine::IoUring => {
            let shape = io_uring::shape_for(NonZeroUsize::new(REPLY.len()).unwrap(), depth);
            io_uring::run(&sockets, requests, &mut tally, duration, shape).unwrap();
        }
    }
    // Dropping alone would not do: the ring lets go of the socket only some time later.
    rustix::net::shutdown(&sockets[0], rustix::net::Shutdown::Both).unwrap();
    (tally.replies(), server.join().unwrap())
}

#[test]
fn requests_for_which_there_is_no_room_are_finished_later_and_in_order() {
    let depth = NonZeroUsize::new(1024).unwrap();
    let requests = Requests::new("127.0.0.1:80".parse().unwrap(), depth.get());
    for engine in [Engine::Epoll, Engine::IoUring] {
        // A busy machine is given more time, so that only a loop that has stopped fails.
        let mut duration = Duration::from_millis(200);
        loop {
            let (counted, answered) = load(engine, requests, depth, duration);
            assert!(counted <= answered, "{engine:?} counted {counted} of {answered}");
            if counted > 3 * depth.get() as u64 {
                break;
            }
            duration *= 4;
            let shown = format!("{engine:?} counted only {counted}");
            assert!(duration < Duration::from_secs(20), "{shown}");
        }
    }
}

#[test]
fn arguments_are_understood_and_limited() {
    let parsed = |line: &str| {
        Options::try_parse_from(["bare-load"].into_iter().chain(line.split_whitespace()))
    };
    let options = parsed("io_uring 127.0.0.1:80 64 0.5 77 16").unwrap();
    assert_eq!((options.engine, options.connections.get()), (Engine::IoUring, 64));
    assert_eq!(options.duration, Duration::from_millis(500));
    assert_eq!((options.reply_bytes.get(), options.depth.get()), (77, 16));
    for (line, name) in [
        ("kqueue 127.0.0.1:80 64 1 77 1", "<ENGINE>"),
        ("epoll localhost:80 64 1 77 1", "<ADDRESS>"),
        ("epoll 127.0.0.1:80 0 1 77 1", "<CONNECTIONS>"),
        ("epoll 127.0.0.1:80 100000 1 77 1", "<CONNECTIONS>"),
        ("epoll 127.0.0.1:80 64 0 77 1", "<SECONDS>"),
        ("epoll 127.0.0.1:80 64 NaN 77 1", "<SECONDS>"),
        ("epoll 127.0.0.1:80 64 1 0 1", "<REPLY_BYTES>"),
        ("epoll 127.0.0.1:80 64 1 77 2000", "<DEPTH>"),
    ] {
        let message = parsed(line).unwrap_err().to_string();
        assert!(message.contains(name), "{line:?} gave {message:?}");
    }
}
