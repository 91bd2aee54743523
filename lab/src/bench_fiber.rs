//! `cargo xtask bench-fiber`: what the workers of each kind of fiber runtime do under a load, and what a switch costs.
//!
//! How fast the kinds are is measured by `wirebench run`, as for any other entry; counting costs time.

use anyhow::ensure;
use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::Path,
    thread,
    time::Duration,
};
use wirebench_stats::range;

use crate::{
    bench::{self, Bench},
    process::{Server, cargo, command, on, output, root},
    table::{self, figure, middle},
};

const SLEEPERS: u32 = 2000;
const IDLE: Duration = Duration::from_secs(2);
/// Length of each load.
const WINDOW: Duration = Duration::from_secs(3);
/// Runs of each switch, of which the median is shown.
const TRIES: usize = 5;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Kinds to measure, such as epoll-stealing-bounded-spmc [default: all]
    parts: Vec<String>,
    /// Requests per second of the load that does not saturate
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    rate: u32,
    #[command(flatten)]
    bench: bench::Options,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let bench = Bench::open(&arguments.bench)?;
    let build = "build --release --manifest-path entries/rust/fiber/Cargo.toml --target-dir target/fibers --locked \
                 -p wirebench-fiber --features counters --example measure";
    cargo(&build.split_whitespace().collect::<Vec<_>>())?;
    let measure = root().join("target/fibers/release/examples/measure");
    let said = |words: &[&str]| output(on(&bench.cpus[..1], command(&measure, words))?);
    let parts = match arguments.parts.as_slice() {
        [] => said(&["parts"])?.lines().map(str::to_owned).collect(),
        parts => parts.to_vec(),
    };
    let mut switches = Vec::new();
    for name in ["bare"].into_iter().chain(parts.iter().map(String::as_str)) {
        let one = |_| Ok(said(&["switch", name])?.trim().parse::<f64>()?);
        let all = (0..TRIES).map(one).collect::<anyhow::Result<Vec<_>>>()?;
        let (least, most) = range(&all).unzip();
        let all = middle(&all, 1, |it| Some(*it));
        switches.push(vec![name.to_owned(), all, figure(least, 1), figure(most, 1)]);
    }
    println!("\n{}", table::text("switch, ns | median | least | most", 1, switches));
    println!("\n{}", counts(&bench, &measure, &parts, arguments.rate)?);
    println!(
        "polls, wake-ups and steals are those per request; CPU is in ms/s and KiB per connection\n\
        while {SLEEPERS} connections are at rest"
    );
    Ok(())
}

fn counts(bench: &Bench, measure: &Path, parts: &[String], rate: u32) -> anyhow::Result<String> {
    let saturated = "--warmup 0s -c 64";
    let at_rate = format!("{saturated} -R {rate}");
    let mut rows = Vec::new();
    for name in parts {
        for (title, workers, cpus, load) in [
            ("1 worker, saturated", "1", &bench.cpus[..1], saturated),
            ("1 worker, rate", "1", &bench.cpus[..1], &at_rate),
            ("2 workers, rate", "2", &bench.cpus, &at_rate),
        ] {
            let server = Server::start(on(cpus, command(measure, ["serve", name, workers]))?)?;
            // The counts of the start are no part of it.
            counted(&server)?;
            let result = bench.load(WINDOW, load, &server)?;
            let [_, polls, wake_ups, steals, p50, p99] = counted(&server)?;
            let (requests, errors) = (result.requests, result.errors.total());
            ensure!(errors == 0, "{errors} of {requests} requests failed");
            let (cpu_ms, bytes) = rest(&server)?;
            let mut row = vec![name.clone(), title.to_owned()];
            row.extend([polls, wake_ups, steals].map(|it| format!("{:.3}", it / requests as f64)));
            row.extend([p50, p99].map(|ns| format!("{:.1}", ns / 1e3)));
            row.extend([format!("{cpu_ms:.2}"), format!("{:.1}", bytes as f64 / 1024.0)]);
            rows.push(row);
        }
    }
    let head = "kind | load | polls | wake-ups | steals | ready to run p50 us | p99 us | CPU | KiB";
    Ok(table::text(head, 2, rows))
}

/// Takes what the server has counted since the last call: runs, polls, wake-ups, steals, and times from ready to run
/// (p50, p99) in nanoseconds.
fn counted(server: &Server) -> anyhow::Result<[f64; 6]> {
    let mut stream = TcpStream::connect(server.address)?;
    stream.write_all(b"?")?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    numbers.try_into().map_err(|_| anyhow::anyhow!("`{line}` is not what is counted"))
}

/// CPU time in ms/s, and bytes per connection, while connections that were used once are at rest.
fn rest(server: &Server) -> anyhow::Result<(f64, u64)> {
    let before = server.resident_bytes()?;
    let sleepers = (0..SLEEPERS).map(|_| used(server)).collect::<anyhow::Result<Vec<_>>>()?;
    let bytes = server.resident_bytes()?.saturating_sub(before) / u64::from(SLEEPERS);
    let cpu = server.cpu()?;
    thread::sleep(IDLE);
    let used = server.cpu()? - cpu;
    drop(sleepers);
    Ok((used.as_secs_f64() * 1e3 / IDLE.as_secs_f64(), bytes))
}

/// A connection that has had a request.
fn used(server: &Server) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(server.address)?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")?;
    let mut reply = Vec::new();
    BufReader::new(&stream).read_until(b'!', &mut reply)?;
    ensure!(reply.ends_with(b"Hello world!"), "the server closed a connection");
    Ok(stream)
}
