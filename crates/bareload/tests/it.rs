//! Both loops against a null server in this process: the counts are right, and the end comes in
//! time. Nothing here measures.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in its helpers")]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use wirebench_bareload::{Engine, Options, run};

const ENGINES: [Engine; 2] = [Engine::Epoll, Engine::IoUring];

fn number(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

/// A null server in threads of this process; they end with it.
fn null_server(body_bytes: usize) -> SocketAddr {
    let options = wirebench_nullserver::Options {
        engine: wirebench_nullserver::Engine::Epoll,
        scenario: wirebench_nullserver::Scenario::Hello,
        host: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: 0,
        workers: NonZeroU32::MIN,
        timeout_ms: None,
        body_bytes,
    };
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        wirebench_nullserver::serve_announcing(&options, |address| {
            sender.send(address).map_err(std::io::Error::other)
        })
    });
    address.recv().unwrap()
}

fn reply_bytes(body_bytes: usize) -> usize {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \r\n\r\n";
    head.len() + body_bytes.to_string().len() + body_bytes
}

fn options(engine: Engine, address: SocketAddr, body_bytes: usize) -> Options {
    Options {
        engine,
        address,
        connections: number(8),
        duration: Duration::from_millis(200),
        reply_bytes: number(reply_bytes(body_bytes)),
        depth: number(1),
    }
}

/// A busy machine is given more time, so that only a loop that has stopped fails.
fn assert_counts_more_than(requests: u64, mut options: Options) {
    loop {
        let began = Instant::now();
        let outcome = run(&options).unwrap();
        let shown = format!("{options:?} gave {outcome:?}");
        assert!(outcome.elapsed >= options.duration, "{shown}");
        assert!(outcome.cpu > Duration::ZERO, "{shown}");
        assert!(began.elapsed() < options.duration + Duration::from_secs(10), "{shown}");
        if outcome.requests > requests {
            return;
        }
        options.duration *= 4;
        assert!(options.duration < Duration::from_secs(20), "{shown}");
    }
}

#[test]
fn replies_of_any_length_and_pipelines_of_any_depth_keep_coming_until_the_end() {
    for body_bytes in [12, 4096, 64 * 1024, 300 * 1024] {
        let address = null_server(body_bytes);
        for engine in ENGINES {
            for (connections, depth) in [(1, 1), (64, 1), (64, 16), (3, 100)] {
                let options = Options {
                    connections: number(connections),
                    depth: number(depth),
                    ..options(engine, address, body_bytes)
                };
                // A loop that loses count stops after the requests that it begins with.
                assert_counts_more_than(2 * (connections * depth) as u64, options);
            }
        }
    }
}

/// Answers each head after its own fashion, and returns how many it has answered.
fn counting_server(pause: Duration) -> (SocketAddr, thread::JoinHandle<u64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut answered, mut received) = (0, Vec::new());
        let mut buffer = [0; 100];
        while let Ok(count) = stream.read(&mut buffer) {
            if count == 0 {
                break;
            }
            received.extend_from_slice(&buffer[..count]);
            while let Some(end) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                assert!(received.starts_with(b"GET / HTTP/1.1\r\n"), "requests are out of order");
                received.drain(..end + 4);
                thread::sleep(pause);
                if stream.write_all(&[b'x'; 50]).is_err() {
                    return answered;
                }
                answered += 1;
            }
        }
        answered
    });
    (address, server)
}

#[test]
fn what_is_counted_is_what_the_server_has_answered() {
    for engine in ENGINES {
        for depth in [1, 7] {
            let (address, server) = counting_server(Duration::from_millis(1));
            let options = Options {
                connections: number(1),
                depth: number(depth),
                reply_bytes: number(50),
                ..options(engine, address, 12)
            };
            let outcome = run(&options).unwrap();
            let answered = server.join().unwrap();
            let in_flight = answered - outcome.requests;
            assert!(outcome.requests > 0 && in_flight <= depth as u64, "{outcome:?}, {answered}");
        }
    }
}

#[test]
fn a_server_that_never_answers_does_not_delay_the_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for engine in ENGINES {
        let began = Instant::now();
        let outcome = run(&options(engine, address, 12)).unwrap();
        assert_eq!(outcome.requests, 0);
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn a_server_that_closes_is_an_error() {
    for engine in ENGINES {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            // Not the last one alone: a connection with unread bytes is reset instead of closed.
            for stream in listener.incoming().take(8) {
                let _ = stream.unwrap().read(&mut [0; 1000]);
            }
        });
        let error = run(&options(engine, address, 12)).unwrap_err();
        assert!(error.to_string().contains("keep the connection open"), "{engine:?}: {error}");
        server.join().unwrap();
    }
}

#[test]
fn nothing_that_listens_is_an_error() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for engine in ENGINES {
        assert!(run(&options(engine, address, 12)).is_err());
    }
}
