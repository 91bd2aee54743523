//! `cargo xtask bench-fiber`: what the workers of each kind of fiber runtime do under a load, and what a switch costs.
//!
//! How fast the kinds are is measured by `wirebench run`, as for any other entry; counting costs time.

use anyhow::{Context as _, ensure};
use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::PathBuf,
    thread,
    time::Duration,
};

use crate::{
    process::{self, Server, cargo, finish, on, parse_load, root},
    sides::Sides,
};

const SLEEPERS: u32 = 2000;
const IDLE: Duration = Duration::from_secs(2);
const LIMIT: Duration = Duration::from_secs(60);
/// Runs of each switch, of which the median is shown.
const TRIES: usize = 5;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// Arguments of `cargo xtask bench-fiber`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Kinds to measure, such as epoll-stealing-bounded-spmc [default: all]
    parts: Vec<String>,
    /// Requests per second of the load that does not saturate
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    rate: u32,
    /// CPUs of the server and of the generator [default: two cores under one cache]
    #[arg(long, value_name = "SERVER,GENERATOR")]
    cpus: Option<Sides>,
}

struct Bench {
    measure: PathBuf,
    wirebench: PathBuf,
    sides: Sides,
}

/// What a server counted: runs, polls, wake-ups, steals, and times from ready to run (p50, p99) in nanoseconds.
type Counted = [u64; 6];

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let wirebench = process::wirebench()?;
    let build = ["build", "--release", "--manifest-path", "entries/rust/fiber/Cargo.toml"];
    let of = ["--target-dir", "target/fibers", "--locked", "-p", "wirebench-fiber"];
    let server = ["--features", "counters", "--example", "measure"];
    cargo(&[&build[..], &of, &server].concat())?;
    let bench = Bench {
        measure: root().join("target/fibers/release/examples/measure"),
        wirebench,
        sides: Sides::choose(arguments.cpus)?,
    };
    let parts = match arguments.parts.as_slice() {
        [] => bench.said(&["parts"])?.lines().map(str::to_owned).collect(),
        parts => parts.to_vec(),
    };
    bench.switches(&parts)?;
    bench.counts(&parts, arguments.rate)
}

impl Bench {
    fn said(&self, words: &[&str]) -> anyhow::Result<String> {
        finish(on(&self.sides.server_cpus, &self.measure, words)?, LIMIT)?.output()
    }

    fn switches(&self, parts: &[String]) -> anyhow::Result<()> {
        println!("\nswitch: ns, median of {TRIES} (smallest to largest)");
        for name in ["bare"].into_iter().chain(parts.iter().map(String::as_str)) {
            let one = |_| Ok(self.said(&["switch", name])?.trim().parse::<f64>()?);
            let mut all = (0..TRIES).map(one).collect::<anyhow::Result<Vec<_>>>()?;
            all.sort_by(f64::total_cmp);
            println!("{name:32} {:6.1} ({:.1} to {:.1})", all[TRIES / 2], all[0], all[TRIES - 1]);
        }
        Ok(())
    }

    fn counts(&self, parts: &[String], rate: u32) -> anyhow::Result<()> {
        println!(
            "\nper request: polls, wake-ups of workers, steals; us from ready to run; at rest with {SLEEPERS} \
             connections: CPU in ms/s, KiB per connection"
        );
        println!(
            "{:32} {:24} {:>6} {:>8} {:>7} {:>6} {:>7} {:>5} {:>6}",
            "", "load", "polls", "wake-ups", "steals", "p50", "p99", "CPU", "KiB"
        );
        let saturated: &[&str] = &["--connections", "64"];
        let rate = rate.to_string();
        let at_rate: &[&str] = &["--connections", "64", "--rate", &rate];
        let both = self.sides.both();
        for name in parts {
            let one = self.sides.server_cpus.as_slice();
            for (title, workers, cpus, load) in [
                ("1 worker, saturated", "1", one, saturated),
                ("1 worker, rate", "1", one, at_rate),
                ("2 workers, rate", "2", &both[..], at_rate),
            ] {
                let server = Server::start(on(cpus, &self.measure, ["serve", name, workers])?)?;
                let (counted, requests) = self.load(&server, load)?;
                let (cpu_ms, bytes) = rest(&server)?;
                let [_, polls, wake_ups, steals, p50, p99] = counted;
                let each = |count: u64| count as f64 / requests as f64;
                println!(
                    "{name:32} {title:24} {:6.3} {:8.3} {:7.3} {:6.1} {:7.1} {cpu_ms:5.2} {:6.1}",
                    each(polls),
                    each(wake_ups),
                    each(steals),
                    p50 as f64 / 1e3,
                    p99 as f64 / 1e3,
                    bytes as f64 / 1024.0,
                );
            }
        }
        Ok(())
    }

    fn load(&self, server: &Server, load: &[&str]) -> anyhow::Result<(Counted, u64)> {
        // What the start did is no part of it.
        counted(server)?;
        let mut command = on(&self.sides.generator_cpus, &self.wirebench, ["load", "--json"])?;
        command.args(["--duration", "3s", "--warmup", "0s", "--threads", "1"]).args(load);
        command.arg(format!("http://{}/", server.address));
        // A disturbed load counts too.
        let finished = finish(command, LIMIT)?;
        let result = parse_load(&finished.stdout).with_context(|| finished.stderr)?;
        let counted = counted(server)?;
        let errors = result.errors.total();
        ensure!(errors == 0, "{errors} of {} requests failed", result.requests);
        Ok((counted, result.requests))
    }
}

/// Takes what the server has counted since the last call.
fn counted(server: &Server) -> anyhow::Result<Counted> {
    let mut stream = TcpStream::connect(server.address)?;
    stream.write_all(b"?")?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    Counted::try_from(numbers).map_err(|_| anyhow::anyhow!("`{line}` is not what is counted"))
}

/// CPU time in ms/s, and bytes per connection, while connections that were used once are at rest.
fn rest(server: &Server) -> anyhow::Result<(f64, u64)> {
    let before = server.resident_bytes()?;
    let sleepers: Vec<TcpStream> =
        (0..SLEEPERS).map(|_| used(server)).collect::<anyhow::Result<_>>()?;
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
    stream.write_all(REQUEST)?;
    let mut reply = Vec::new();
    let mut reader = BufReader::new(&mut stream);
    while !reply.ends_with(b"Hello world!") {
        ensure!(reader.read_until(b'!', &mut reply)? > 0, "the server closed a connection");
    }
    Ok(stream)
}
