//! What `cargo xtask bench-fiber` measures: a server that counts what its workers do, and the cost of a switch.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement that cannot go on has failed"
)]

#[macro_use]
mod parts;

use corosensei::{Coroutine, CoroutineResult};
use std::{
    io,
    process::ExitCode,
    time::{Duration, Instant},
};
use wirebench_fiber::{
    Counted, Parts,
    net::{TcpListener, TcpStream},
    run, sleep, spawn, take_counted, yield_now,
};

const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
/// The first byte of a connection that asks for what was counted.
const ASKS: u8 = b'?';
const SWITCHES: u32 = 2_000_000;

/// Answers each read that ends a head: for a load without pipelining.
fn serve<P: Parts>(stream: &TcpStream<P>) -> io::Result<()> {
    let mut buffer = [0; 4 << 10];
    loop {
        match stream.read(&mut buffer, None)? {
            0 => return Ok(()),
            _ if buffer[0] == ASKS => {
                stream.write_all(counted_line(&take_counted()).as_bytes(), None)?;
            }
            length if buffer[..length].ends_with(b"\r\n\r\n") => stream.write_all(REPLY, None)?,
            _ => {}
        }
    }
}

fn counted_line(counted: &Counted) -> String {
    let Counted { runs, polls, wake_ups, steals, wake_to_run_ns_p50, wake_to_run_ns_p99 } = counted;
    format!("{runs} {polls} {wake_ups} {steals} {wake_to_run_ns_p50} {wake_to_run_ns_p99}\n")
}

fn server<P: Parts>(workers: usize) -> io::Result<()> {
    run::<P, _>(workers, move || {
        let listener = TcpListener::<P>::bind("127.0.0.1:0".parse().unwrap())?;
        println!("listening {}", listener.local_addr()?);
        loop {
            let accepted = listener.accept();
            let served = accepted.and_then(|stream| spawn::<P, _>(move || serve(&stream)));
            if served.is_err() {
                sleep::<P>(Duration::from_millis(10));
            }
        }
    })?
}

/// Nanoseconds until two fibers of one worker have given way to each other, per switch between them.
fn yields<P: Parts>() -> io::Result<f64> {
    run::<P, _>(1, || {
        let begun = Instant::now();
        let fibers = [(); 2]
            .map(|()| spawn::<P, _>(|| (0..SWITCHES / 2).for_each(|_| yield_now::<P>())).unwrap());
        fibers.into_iter().for_each(|it| it.join().unwrap());
        begun.elapsed().as_secs_f64() * 1e9 / f64::from(SWITCHES)
    })
}

/// Nanoseconds of one resumption of a bare coroutine, and its way back.
fn bare() -> f64 {
    let mut coroutine = Coroutine::new(|yielder, ()| {
        for _ in 0..SWITCHES {
            yielder.suspend(());
        }
    });
    let begun = Instant::now();
    while matches!(coroutine.resume(()), CoroutineResult::Yield(())) {}
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(SWITCHES)
}

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["serve", parts, workers] => with_parts!(parts, server(workers.parse().unwrap()))?,
        ["switch", "bare"] => println!("{:.1}", bare()),
        ["switch", parts] => println!("{:.1}", with_parts!(parts, yields())?),
        ["parts"] => println!("{}", parts::ALL.join("\n")),
        _ => {
            println!("usage: measure serve PARTS WORKERS | switch PARTS | switch bare | parts");
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}
