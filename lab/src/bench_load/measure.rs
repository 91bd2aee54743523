//! One run of one contestant against the server of its block, with the CPU time of both sides.

use serde::Serialize;
use std::{
    collections::BTreeMap,
    fmt,
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    contestant::{Contestant, Task},
    parse::parse,
    shape::Shape,
};
use crate::{
    process::{Server, finish, on},
    sides::Sides,
    table::thousands,
};

/// Beyond its duration, for connecting and reporting.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Bench {
    pub(crate) wirebench: PathBuf,
    pub(crate) server: &'static str,
    pub(crate) sides: Sides,
    pub(crate) duration: Duration,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Sample {
    pub(crate) block: u32,
    pub(crate) shape: &'static str,
    pub(crate) contestant: String,
    /// Whether it is `wirebench load`.
    pub(crate) is_ours: bool,
    pub(crate) requests: u64,
    pub(crate) requests_per_second: f64,
    pub(crate) errors: u64,
    /// User and system time of the whole process, from its start to its end.
    pub(crate) generator_cpu_us_per_request: f64,
    pub(crate) server_cpu_us_per_request: f64,
    /// Share of the process's life in which the server did nothing, 0 to 1.
    pub(crate) server_idle: f64,
}

impl Bench {
    /// A null server for this shape.
    pub(crate) fn start_server(&self, shape: Shape) -> anyhow::Result<Server> {
        let body_bytes = shape.body_bytes.to_string();
        let words =
            ["null-server", self.server, "hello", "127.0.0.1", "0", "1", "5000", &body_bytes];
        Server::start(on(&self.sides.server_cpus, &self.wirebench, words))
    }

    /// Runs the contestant once; its program is `wirebench` if it is ours.
    pub(crate) fn attempt(
        &self,
        block: u32,
        shape: Shape,
        contestant: Contestant,
        wirebench: &Path,
        server: &Server,
    ) -> anyhow::Result<Sample> {
        let (address, duration) = (server.address, self.duration);
        let task = Task { wirebench, shape, duration, address, reply_bytes: reply_bytes(address)? };
        let command = contestant.command(&task, &self.sides.generator_cpus)?;
        let before = server.cpu()?;
        let finished = finish(command, duration + PATIENCE)?;
        let server_cpu = server.cpu()?.saturating_sub(before);
        let (elapsed, cpu) = (finished.elapsed, finished.cpu);
        let counted = parse(contestant, &finished.output()?)?;
        // Without any request there is no cost of one; the rate of 0 says it all.
        let per_request =
            |time: Duration| time.as_secs_f64() * 1e6 / counted.requests.max(1) as f64;
        Ok(Sample {
            block,
            shape: shape.name,
            contestant: contestant.name(),
            is_ours: contestant.is_ours(),
            requests: counted.requests,
            requests_per_second: counted.requests_per_second,
            errors: counted.errors,
            generator_cpu_us_per_request: per_request(cpu),
            server_cpu_us_per_request: per_request(server_cpu),
            server_idle: 1.0 - (server_cpu.as_secs_f64() / elapsed.as_secs_f64()).min(1.0),
        })
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, contestant, requests_per_second, errors, .. } = self;
        write!(formatter, "{shape}: {contestant} {} requests/s", thousands(*requests_per_second))?;
        if *errors > 0 {
            write!(formatter, ", {errors} errors")?;
        }
        Ok(())
    }
}

/// The samples of one contestant in a shape.
pub(crate) fn of<'a>(samples: &'a [Sample], shape: Shape, contestant: &str) -> Vec<&'a Sample> {
    let is_it = |it: &&Sample| (it.shape, &*it.contestant) == (shape.name, contestant);
    samples.iter().filter(is_it).collect()
}

/// A figure by block; those of one block are added up.
pub(crate) fn by_block(samples: &[&Sample], figure: fn(&Sample) -> f64) -> BTreeMap<u32, f64> {
    let mut sums = BTreeMap::new();
    samples.iter().for_each(|it| *sums.entry(it.block).or_default() += figure(it));
    sums
}

/// The length of a reply of this server, head and body: it closes after the client has ended its side.
fn reply_bytes(address: SocketAddr) -> anyhow::Result<usize> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    stream.shutdown(Shutdown::Write)?;
    Ok(stream.read_to_end(&mut Vec::new())?)
}

#[cfg(test)]
impl Sample {
    /// One that a test changes to its needs.
    pub(crate) fn example(block: u32, contestant: Contestant, rate: f64) -> Self {
        Self {
            block,
            shape: "connections-64",
            contestant: contestant.name(),
            is_ours: contestant.is_ours(),
            requests: rate as u64,
            requests_per_second: rate,
            errors: 0,
            generator_cpu_us_per_request: 5.0,
            server_cpu_us_per_request: 4.0,
            server_idle: 0.25,
        }
    }
}
