//! One thread per connection with blocking calls: a beginning that does what `hello` asks.
//!
//! It is deliberately no HTTP server: it only looks for the end of each request head.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    process::ExitCode,
    thread,
    time::Duration,
};

const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
const TERMINATOR: &[u8] = b"\r\n\r\n";
const READ_BYTES: usize = 16 * 1024;
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Counts ends of heads; a terminator may be split over any number of reads.
#[derive(Default)]
struct HeadCounter {
    seen: usize,
}

impl HeadCounter {
    fn count(&mut self, bytes: &[u8]) -> usize {
        let mut heads = 0;
        for byte in bytes {
            self.seen = match byte {
                byte if *byte == TERMINATOR[self.seen] => self.seen + 1,
                b'\r' => 1,
                _ => 0,
            };
            if self.seen == TERMINATOR.len() {
                self.seen = 0;
                heads += 1;
            }
        }
        heads
    }
}

fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut counter = HeadCounter::default();
    let mut buffer = [0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        stream.write_all(&REPLY.repeat(counter.count(&buffer[..length])))?;
    }
}

fn parse(words: &[String]) -> Option<SocketAddr> {
    let [scenario, host, port, _workers, ..] = words else { return None };
    let host: IpAddr = host.parse().ok()?;
    (scenario == "hello").then_some(SocketAddr::new(host, port.parse().ok()?))
}

fn run(address: SocketAddr) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    println!("listening {}", listener.local_addr()?);
    for stream in listener.incoming() {
        match stream {
            // Errors are ignored: the connection was reset, so no client is left to answer.
            Ok(stream) => drop(thread::Builder::new().spawn(move || serve(stream))),
            // Out of descriptors or memory: the next accept would fail at once as well.
            Err(_) => thread::sleep(ACCEPT_RETRY),
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(address) = parse(&words) else {
        eprintln!("usage: server hello HOST PORT WORKERS [TIMEOUT_MS]");
        return ExitCode::from(2);
    };
    match run(address) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{address}: {error}");
            ExitCode::FAILURE
        }
    }
}
