//! A server in this process over loopback. No reply may come before its delay; a late reply is not
//! a failure, because the test does not measure the machine.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in its helpers")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::thread;
use std::time::{Duration, Instant};

use wirebench_delayserver::{Idle, Mode, serve};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
const MS: fn(u64) -> Duration = Duration::from_millis;

fn server(mode: Mode, idle: Idle) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || serve(&listener, mode, idle));
    address
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

fn expect_reply(stream: &mut TcpStream) {
    let mut reply = [0; REPLY.len()];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply, *REPLY);
}

/// Sends a request and returns how long the reply took.
fn latency(stream: &mut TcpStream) -> Duration {
    let began = Instant::now();
    stream.write_all(REQUEST).unwrap();
    expect_reply(stream);
    began.elapsed()
}

#[test]
fn no_reply_comes_before_its_delay() {
    for idle in [Idle::Sleep, Idle::Spin] {
        for delay in [Duration::from_micros(50), MS(1), MS(5)] {
            let mut stream = connect(server(Mode::Constant { delay }, idle));
            for _ in 0..50 {
                let latency = latency(&mut stream);
                assert!(latency >= delay, "{latency:?} with a delay of {delay:?}");
            }
        }
    }
}

#[test]
fn each_nth_request_over_all_connections_waits_longer() {
    let every = NonZeroU64::new(4).unwrap();
    let mode = Mode::TwoPoint { short: MS(1), long: MS(60), every };
    let address = server(mode, Idle::Sleep);
    let mut streams = [connect(address), connect(address)];
    for number in 1..=16_usize {
        let latency = latency(&mut streams[number % 2]);
        let least = if number % 4 == 0 { MS(60) } else { MS(1) };
        assert!(latency >= least, "request {number} took {latency:?}");
    }
}

#[test]
fn a_pipeline_of_split_requests_is_answered_in_full_and_in_order() {
    let delay = MS(20);
    let mut stream = connect(server(Mode::Constant { delay }, Idle::Sleep));
    let began = Instant::now();
    for piece in REQUEST.repeat(16).chunks(77) {
        stream.write_all(piece).unwrap();
    }
    for _ in 0..16 {
        expect_reply(&mut stream);
    }
    assert!(began.elapsed() >= delay);
    stream.set_read_timeout(Some(MS(50))).unwrap();
    stream.read(&mut [0]).expect_err("nothing more was asked for");
}

#[test]
fn nothing_is_answered_while_the_server_stalls() {
    // Requests in quick succession show a stall as one gap of its length in each period.
    let (period, length) = (MS(300), MS(150));
    let mut stream = connect(server(Mode::Stall { period, length }, Idle::Sleep));
    let began = Instant::now();
    let mut quick_replies = 0;
    loop {
        let latency = latency(&mut stream);
        // The first request of a stall may come a little after it has begun.
        if latency >= MS(100) && quick_replies > 10 {
            break;
        }
        quick_replies += u32::from(latency < MS(100));
        // A period is over soon; only a server without stalls makes this wait.
        assert!(began.elapsed() < Duration::from_secs(20), "{quick_replies} quick replies");
    }
}

#[test]
fn many_connections_wait_side_by_side() {
    let delay = MS(100);
    let address = server(Mode::Constant { delay }, Idle::Sleep);
    let mut streams: Vec<_> = (0..100).map(|_| connect(address)).collect();
    let began = Instant::now();
    for stream in &mut streams {
        stream.write_all(REQUEST).unwrap();
    }
    for stream in &mut streams {
        expect_reply(stream);
    }
    assert!(began.elapsed() >= delay);
    // One after the other they would take ten seconds.
    assert!(began.elapsed() < Duration::from_secs(5));
}
