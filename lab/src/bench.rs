//! The parts of every bench: the program under test, one CPU for the server and one for the load generator, and the
//! programs that used them meanwhile.

use anyhow::bail;
use std::{ffi::OsStr, path::PathBuf, time::Duration};
use wirebench_host::{neighbours::Programs, place::PlacementRequest, place_here};

use crate::process::{self, Finished, Server, finish, on};

/// Share of a CPU above which a program is named.
const NOTICED: f64 = 0.05;

/// By how much windows are longer: only a smoke run, which judges no time, tries further ones.
pub(crate) const ONCE: &[u32] = &[1];
pub(crate) const SMOKE: &[u32] = &[1, 5, 25];

/// Measures with each factor in turn, until one brings requests: a busy machine may answer none in a short window.
pub(crate) fn until_answered<T>(
    factors: &[u32],
    measure: impl Fn(u32) -> anyhow::Result<T>,
    requests: impl Fn(&T) -> u64,
) -> anyhow::Result<T> {
    let mut result = measure(factors[0]);
    for factor in &factors[1..] {
        if !result.as_ref().is_ok_and(|it| requests(it) > 0) {
            result = measure(*factor);
        }
    }
    result
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// CPUs of the server and of the generator [default: two cores under one cache]
    #[arg(long, value_name = "SERVER,GENERATOR", value_delimiter = ',')]
    cpus: Vec<u32>,
}

pub(crate) struct Bench {
    pub(crate) wirebench: PathBuf,
    pub(crate) server_cpus: Vec<u32>,
    pub(crate) generator_cpus: Vec<u32>,
    before: Programs,
}

impl Bench {
    /// Builds wirebench, and takes the requested CPUs or the first one of either half of the machine; prints them.
    pub(crate) fn open(options: &Options) -> anyhow::Result<Self> {
        let (server_cpus, generator_cpus) = match options.cpus[..] {
            [] => (None, None),
            [server, generator] => (Some(vec![server]), Some(vec![generator])),
            _ => bail!("--cpus: write two numbers, such as 0,2"),
        };
        let wish = PlacementRequest { server_cpus, generator_cpus, ..PlacementRequest::default() };
        let placement = place_here(&wish).map_err(anyhow::Error::msg)?;
        let wirebench = process::wirebench()?;
        let (server, generator) = (placement.server_cpus[0], placement.generator_cpus[0]);
        println!("\nserver on CPU {server}, generator on CPU {generator}, one thread each");
        if !placement.disjoint {
            println!("warning: server and generator share one CPU: use a machine with two");
        }
        let (server_cpus, generator_cpus) = (vec![server], vec![generator]);
        Ok(Self { wirebench, server_cpus, generator_cpus, before: Programs::read() })
    }

    pub(crate) fn cpus(&self) -> Vec<u32> {
        [&self.server_cpus[..], &self.generator_cpus].concat()
    }

    /// Starts a server on its CPU. Spaces separate its arguments.
    pub(crate) fn serve(&self, program: impl AsRef<OsStr>, line: &str) -> anyhow::Result<Server> {
        Server::start(on(&self.server_cpus, program, line.split(' '))?)
    }

    /// Runs a generator on its CPU to its end. Spaces separate its arguments.
    pub(crate) fn run(
        &self,
        program: impl AsRef<OsStr>,
        line: &str,
        limit: Duration,
    ) -> anyhow::Result<Finished> {
        finish(on(&self.generator_cpus, program, line.split(' '))?, limit)
    }

    /// Runs `wirebench load --json` with these options against a server.
    pub(crate) fn load(
        &self,
        options: &str,
        server: &Server,
        limit: Duration,
    ) -> anyhow::Result<Finished> {
        let line = format!("load --json -t 1 {options} http://{}/", server.address);
        self.run(&self.wirebench, &line, limit)
    }

    /// Prints a warning if programs other than this one and its descendants used the CPUs meanwhile.
    pub(crate) fn warn(&self) {
        let seen = Programs::read().since(&self.before, &self.cpus());
        let noticed = seen.iter().filter(|it| it.share > NOTICED);
        let names: Vec<String> =
            noticed.map(|it| format!("{} {:.0} %", it.name, it.share * 100.0)).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            println!("warning: {names} of a CPU meanwhile: end them and measure again");
        }
    }
}
