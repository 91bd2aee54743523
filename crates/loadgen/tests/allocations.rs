//! More replies cost no more memory: once a load runs, its threads allocate nothing for a request or a reply.
//!
//! All threads of this program are counted that do not exempt themselves, as the servers and the test do. Each case is
//! a load of N and of ten times N requests: what both allocate at the start cancels, and the rest is due to time alone.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};
use wirebench_loadgen::run;
use wirebench_schema::load::{
    BodyCheck, EngineChoice, LoadConfig, RequestFile, RequestOrder, Stop,
};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static IS_EXEMPT: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

fn count() {
    if !IS_EXEMPT.get() {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call goes on to the system's allocator as it is. Counting allocates nothing: the thread's flag is
// constant at first and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, new_bytes: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, new_bytes) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Serves each connection on a thread of its own.
fn serve(connection: fn(TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        IS_EXEMPT.set(true);
        for stream in listener.incoming().map_while(Result::ok) {
            stream.set_nodelay(true).unwrap();
            thread::spawn(move || {
                IS_EXEMPT.set(true);
                connection(stream);
            });
        }
    });
    address
}

fn echo(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(bytes) = stream.read(&mut buffer)
        && bytes > 0
        && stream.write_all(&buffer[..bytes]).is_ok()
    {}
}

/// Answers each request with the reply of this number. No body of a request has an empty line.
fn answer(mut stream: TcpStream, reply: impl Fn(usize) -> String) {
    let (mut buffer, mut tail, mut number) = ([0; 4096], [0; 4], 0);
    while let Ok(bytes) = stream.read(&mut buffer)
        && bytes > 0
    {
        let mut replies = String::new();
        for byte in &buffer[..bytes] {
            tail.rotate_left(1);
            tail[3] = *byte;
            if tail == *b"\r\n\r\n" {
                replies += &reply(number);
                number += 1;
            }
        }
        if stream.write_all(replies.as_bytes()).is_err() {
            return;
        }
    }
}

fn equal_replies(stream: TcpStream) {
    answer(stream, |_| "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello world!".to_owned());
}

/// The head of a reply whose date is another one each time, like the length of its body.
fn varying_head(number: usize) -> (String, usize) {
    let date = format!("Date: Thu, 26 Nov 2026 10:00:{:02} GMT", number % 60);
    (format!("HTTP/1.1 200 OK\r\n{date}\r\n"), 6 + number * 7 % 80)
}

fn varying_replies(stream: TcpStream) {
    answer(stream, |number| {
        let (head, length) = varying_head(number);
        format!("{head}Content-Length: {length}\r\n\r\n{:length$}", "Hello")
    });
}

fn chunked_replies(stream: TcpStream) {
    answer(stream, |number| {
        let (head, length) = varying_head(number);
        let chunk = format!("{length:x}\r\n{:length$}\r\n0\r\n\r\n", "Hello");
        format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunk}")
    });
}

/// The allocations of the load's threads.
fn allocations(config: &LoadConfig, requests: u64) -> u64 {
    let config = LoadConfig { stop: Stop::Requests(requests), ..config.clone() };
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    let report = run(&config, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_eq!(
        (report.requests, report.errors.total()),
        (requests, 0),
        "{:?}",
        report.error_examples
    );
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

const REQUESTS: u64 = 2000;

#[track_caller]
fn assert_constant(case: &str, config: &LoadConfig) {
    for engine in [EngineChoice::Epoll, EngineChoice::IoUring] {
        let config = LoadConfig { engine, ..config.clone() };
        let few = allocations(&config, REQUESTS);
        let many = allocations(&config, 10 * REQUESTS);
        assert!(few > 0, "the threads of the load are not counted");
        let more = many.saturating_sub(few);
        // Segments are handed over by time, of which a busy machine needs more, and buffers grow to the largest need,
        // which is met at random.
        let limit = 9 * REQUESTS / 50;
        assert!(
            more < limit,
            "{case}, {engine:?}: {few} allocations for {REQUESTS} requests, {many} for 10 times as many"
        );
    }
}

fn of_lines(lines: &str, config: &LoadConfig) -> LoadConfig {
    let requests = Some(RequestFile::parse(lines, RequestOrder::Shuffled).unwrap().set);
    LoadConfig { requests, ..config.clone() }
}

#[test]
fn more_replies_cost_no_more_allocations() {
    IS_EXEMPT.set(true);
    let config = |target: String| LoadConfig {
        threads: 1,
        connections: 4,
        timeout: Duration::from_secs(20),
        ..LoadConfig::new(target.parse().unwrap())
    };
    let http = config(format!("http://{}/", serve(equal_replies)));
    assert_constant("one request", &http);
    assert_constant("pipelined", &LoadConfig { pipeline: 8, ..http.clone() });
    let paths = of_lines("/a\n/b\n/c\n", &http);
    assert_constant("requests of equal length", &paths);
    assert_constant("the same, pipelined", &LoadConfig { pipeline: 8, ..paths });

    let placeholders = r#"{"path": "/{seq}", "name": "get"}
        {"method": "POST", "path": "/{random:1-9}", "body_text": "{uuid}", "expect": {"contains": "llo"}}"#;
    let http = config(format!("http://{}/", serve(varying_replies)));
    let placeholders = of_lines(placeholders, &http);
    assert_constant("placeholders", &placeholders);
    assert_constant("the same, pipelined", &LoadConfig { pipeline: 8, ..placeholders });
    let any = LoadConfig { body_check: BodyCheck::Any, ..http };
    assert_constant("replies of varying length", &any);
    let contains = LoadConfig {
        expect_contains: Some("llo".to_owned()),
        ..config(format!("http://{}/", serve(chunked_replies)))
    };
    assert_constant("chunked replies", &contains);
    assert_constant("echo", &config(format!("tcp://{}", serve(echo))));
}
