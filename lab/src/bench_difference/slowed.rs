//! Builds `c/epoll` as it is, and once more with a known number of steps of work before each reply. The user
//! instructions that a server executes for each request are counted with callgrind: exact where times are noisy. The
//! kernel's instructions are not counted.

use anyhow::{Context, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};
use wirebench_server::executable;

use crate::{
    bench::Bench,
    process::{command, output, root},
};

/// The work, for the compiler's `-include`.
const EXTRA_WORK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bench_difference/extra_work.h");
const STEP_TIME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bench_difference/step_time.c");

/// How long a synthetic machine is in either state: near for longer, so that visits near are compared.
pub(super) const NEAR_SECONDS: u32 = 12;
pub(super) const FAR_SECONDS: u32 = 6;

/// Requests of the two loads whose difference counts, so that start and end of the server do not.
const FEW: u64 = 10_000;
const MANY: u64 = 30_000;

/// Builds servers, and knows how long a step of work takes by itself.
pub(super) struct Workshop {
    pub(super) bench: Bench,
    folder: PathBuf,
    step_ns: f64,
}

impl Workshop {
    pub(super) fn open(bench: Bench) -> anyhow::Result<Self> {
        let target = bench.wirebench.ancestors().nth(2).context("a build is in a folder")?;
        let folder = target.join("bench-difference");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let step_ns = step_ns(&folder)?;
        Ok(Self { bench, folder, step_ns })
    }

    pub(super) fn plain(&self) -> anyhow::Result<PathBuf> {
        server(&self.folder, "plain", &[])
    }

    /// The server whose requests take this much more CPU time; prints the instructions that it adds.
    pub(super) fn slowed(&self, percent: f64, cost_ns: f64) -> anyhow::Result<PathBuf> {
        let (steps, step_ns) = (self.steps(percent, cost_ns), self.step_ns);
        let server = server(&self.folder, &format!("slowed-{percent}"), &[steps])?;
        let counted = self.counted(&server)?;
        println!(
            "{percent} % of {cost_ns:.0} ns a request are {steps} steps of {step_ns:.3} ns; callgrind: {counted}"
        );
        Ok(server)
    }

    /// The server that is slower by one share while the machine is near, and by both while it is far.
    pub(super) fn changing(&self, near: f64, far: f64, cost_ns: f64) -> anyhow::Result<PathBuf> {
        let steps = [near, far].map(|it| self.steps(it, cost_ns));
        server(&self.folder, &format!("changing-{near}"), &steps)
    }

    fn steps(&self, percent: f64, cost_ns: f64) -> u64 {
        (cost_ns * percent / 100.0 / self.step_ns).round() as u64
    }

    /// User instructions of `server` for each request, as a text.
    fn counted(&self, server: &Path) -> anyhow::Result<String> {
        if !executable::exists("valgrind") {
            return Ok("not installed (Debian: valgrind)".to_owned());
        }
        let (few, many) = (self.instructions(server, FEW)?, self.instructions(server, MANY)?);
        ensure!(many > few, "callgrind counted {few} for {FEW} requests and {many} for {MANY}");
        Ok(format!("{:.0} user instructions a request", (many - few) as f64 / (MANY - FEW) as f64))
    }

    fn instructions(&self, server: &Path, requests: u64) -> anyhow::Result<u64> {
        // Each process of the server writes a file of its own, also the one that only waits for the workers.
        let folder = tempfile::tempdir()?;
        let line = format!(
            "--tool=callgrind --log-file=/dev/null --callgrind-out-file={}/%p {} hello 127.0.0.1 0 1",
            folder.path().display(),
            server.display()
        );
        let running = self.bench.serve("valgrind", &line)?;
        let address = running.address;
        let load = format!("load -t 1 -c 1 -n {requests} --timeout 20s http://{address}/");
        // The requests are no window, and slow under callgrind.
        self.bench.run(&self.bench.wirebench, &load, Duration::ZERO)?.output()?;
        running.end()?;
        let mut sum = 0;
        for file in fs::read_dir(&folder)? {
            let text = fs::read_to_string(file?.path())?;
            let totals = text.lines().filter_map(|line| line.strip_prefix("totals:"));
            sum += totals.filter_map(|it| it.trim().parse::<u64>().ok()).sum::<u64>();
        }
        ensure!(sum > 0, "callgrind wrote no total");
        Ok(sum)
    }
}

/// Builds the server with this many steps more for each reply, and with this many further ones while the machine is
/// far; without any it is `c/epoll` itself.
fn server(folder: &Path, name: &str, steps: &[u64]) -> anyhow::Result<PathBuf> {
    let defined = ["EXTRA_STEPS", "FAR_STEPS"].iter().zip(steps);
    let mut words: Vec<String> = defined.map(|(name, it)| format!("-D{name}={it}ul")).collect();
    if !steps.is_empty() {
        words.push(format!("-DNEAR_SECONDS={NEAR_SECONDS}"));
        words.push(format!("-DFAR_SECONDS={FAR_SECONDS}"));
        // `prefork.c` says the same of _GNU_SOURCE, which must come before any header.
        words.extend(["-D_GNU_SOURCE=", "-include", EXTRA_WORK].map(str::to_owned));
    }
    let program = folder.join(name);
    let mut command = command("cc", ["-O3", "-std=c11", "-Wall", "-Wextra", "-pthread", "-o"]);
    command.arg(&program).args(words).args(["../shared/prefork.c", "loop.c"]);
    command.current_dir(root().join("entries/c/epoll"));
    output(command)?;
    Ok(program)
}

/// How long one step takes, in nanoseconds.
fn step_ns(folder: &Path) -> anyhow::Result<f64> {
    let program = folder.join("step_time");
    let mut compile = command("cc", ["-O3", "-std=gnu11", "-DEXTRA_STEPS=1", STEP_TIME, "-o"]);
    compile.arg(&program);
    output(compile)?;
    let text = output(command(&program, [""; 0]))?;
    text.trim().parse().with_context(|| format!("the time of a step is no number: `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_can_be_built_and_differ_and_a_step_takes_time() {
        let folder = tempfile::tempdir().unwrap();
        let build =
            |steps: &[u64]| fs::read(server(folder.path(), "built", steps).unwrap()).unwrap();
        let plain = build(&[]);
        assert_ne!(plain, build(&[170]));
        assert_ne!(plain, build(&[0, 170]));
        assert!(step_ns(folder.path()).unwrap() > 0.0);
    }
}
