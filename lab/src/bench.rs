//! The parts of every bench: the program under test, one CPU for the server and one for the load generator, and the
//! programs that used them meanwhile.

use anyhow::{Context as _, bail};
use std::{ffi::OsStr, path::PathBuf, time::Duration};
use wirebench_host::{neighbours::Programs, place::PlacementRequest, place_here};
use wirebench_schema::load::{LoadReport, LoadResult};

use crate::process::{self, Finished, PATIENCE, Server, command, finish, on};

/// Share of a CPU above which a program is named.
const NOTICED: f64 = 0.05;

/// Measures a window. A smoke run, which judges no time, makes it longer until there are requests: a busy machine may
/// answer none in a short one.
pub(crate) fn until_answered<T>(
    is_smoke: bool,
    mut window: Duration,
    measure: impl Fn(Duration) -> anyhow::Result<T>,
    requests: impl Fn(&T) -> u64,
) -> anyhow::Result<T> {
    let longest = if is_smoke { window * 25 } else { window };
    loop {
        let result = measure(window);
        if window >= longest || result.as_ref().is_ok_and(|it| requests(it) > 0) {
            return result;
        }
        window *= 5;
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// CPUs of the server and of the generator [default: two cores under one cache]
    #[arg(long, value_name = "SERVER,GENERATOR", value_delimiter = ',')]
    cpus: Vec<u32>,
}

pub(crate) struct Bench {
    pub(crate) wirebench: PathBuf,
    /// CPUs of the server and of the generator.
    pub(crate) cpus: [u32; 2],
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
        Ok(Self { wirebench, cpus: [server, generator], before: Programs::read() })
    }

    /// Starts a server on its CPU. Spaces separate its arguments.
    pub(crate) fn serve(&self, program: impl AsRef<OsStr>, line: &str) -> anyhow::Result<Server> {
        Server::start(on(&self.cpus[..1], command(program, line.split(' ')))?)
    }

    /// Runs a generator with this window on its CPU to its end. Spaces separate its arguments.
    pub(crate) fn run(
        &self,
        program: impl AsRef<OsStr>,
        line: &str,
        window: Duration,
    ) -> anyhow::Result<Finished> {
        finish(on(&self.cpus[1..], command(program, line.split(' ')))?, window + PATIENCE)
    }

    /// Runs `wirebench load --json` with this window and these options against a server. A load that is disturbed or
    /// has no replies has a report too; its complaints are printed.
    pub(crate) fn load(
        &self,
        window: Duration,
        options: &str,
        server: &Server,
    ) -> anyhow::Result<LoadReport> {
        let (ms, address) = (window.as_millis(), server.address);
        let line = format!("load --json -t 1 -d {ms}ms {options} http://{address}/");
        let Finished { status, stdout, stderr, .. } = self.run(&self.wirebench, &line, window)?;
        if !status.success() {
            print!("{stderr}");
        }
        let report = LoadResult::parse(&stdout).and_then(Result::ok).map(|it| it.report);
        report.with_context(|| format!("`wirebench {line}` printed no report:\n{stdout}"))
    }

    /// Prints a warning if programs other than this one and its descendants used the CPUs meanwhile.
    pub(crate) fn warn(&self) {
        let seen = Programs::read().since(&self.before, &self.cpus);
        let seen = seen.iter().filter(|it| it.share > NOTICED);
        let names = seen.map(|it| format!("{} {:.0} %", it.name, it.share * 100.0));
        let names = names.collect::<Vec<_>>().join(", ");
        if !names.is_empty() {
            println!("warning: {names} of a CPU meanwhile: end them and measure again");
        }
    }
}
