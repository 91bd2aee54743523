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

/// How long a synthetic machine is in either state: near for longer, so that slices near are compared.
pub(super) const NEAR_SECONDS: u32 = 12;
pub(super) const FAR_SECONDS: u32 = 6;

/// Requests of the two loads whose difference counts, so that start and end of the server do not.
const FEW: u64 = 10_000;
const MANY: u64 = 30_000;

/// The folder of the builds, and how long a step of work takes by itself.
#[derive(Debug)]
pub(crate) struct Workshop {
    folder: PathBuf,
    pub(crate) step_ns: f64,
}

impl Workshop {
    pub(crate) fn open(target: &Path) -> anyhow::Result<Self> {
        let folder = target.join("bench-difference");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let program = folder.join("step_time");
        let mut compile = command("cc", ["-O3", "-std=gnu11", "-DEXTRA_STEPS=1", STEP_TIME, "-o"]);
        compile.arg(&program);
        output(compile)?;
        let text = output(command(&program, [""; 0]))?;
        let step_ns = text.trim().parse();
        let step_ns = step_ns.with_context(|| format!("`{text}` is not the time of a step"))?;
        Ok(Self { folder, step_ns })
    }

    pub(crate) fn plain(&self) -> anyhow::Result<PathBuf> {
        self.server("plain", &[])
    }

    /// The server with this many steps more for each reply, and with this many further ones while the machine is far.
    pub(crate) fn slowed(
        &self,
        name: &str,
        near: u64,
        far: Option<u64>,
    ) -> anyhow::Result<PathBuf> {
        // `prefork.c` says the same of _GNU_SOURCE, which must come before any header.
        let mut words = vec!["-D_GNU_SOURCE=".to_owned(), format!("-DEXTRA_STEPS={near}ul")];
        if let Some(far) = far {
            words.push(format!("-DFAR_STEPS={far}ul"));
            words.push(format!("-DNEAR_SECONDS={NEAR_SECONDS}"));
            words.push(format!("-DFAR_SECONDS={FAR_SECONDS}"));
        }
        words.extend(["-include".to_owned(), EXTRA_WORK.to_owned()]);
        self.server(name, &words)
    }

    fn server(&self, name: &str, words: &[String]) -> anyhow::Result<PathBuf> {
        let program = self.folder.join(name);
        let mut command = command("cc", ["-O3", "-std=c11", "-Wall", "-Wextra", "-pthread", "-o"]);
        command.arg(&program).args(words).args(["../shared/prefork.c", "loop.c"]);
        command.current_dir(root().join("entries/c/epoll"));
        output(command)?;
        Ok(program)
    }
}

/// User instructions of `server` for each request, as a text.
pub(super) fn counted(bench: &Bench, server: &Path) -> anyhow::Result<String> {
    if !executable::exists("valgrind") {
        return Ok("not installed (Debian: valgrind)".to_owned());
    }
    let (few, many) = (instructions(bench, server, FEW)?, instructions(bench, server, MANY)?);
    ensure!(many > few, "callgrind counted {few} for {FEW} requests and {many} for {MANY}");
    Ok(format!("{:.0} user instructions a request", (many - few) as f64 / (MANY - FEW) as f64))
}

fn instructions(bench: &Bench, server: &Path, requests: u64) -> anyhow::Result<u64> {
    // Each process of the server writes a file of its own, also the one that only waits for the workers.
    let folder = tempfile::tempdir()?;
    let line = format!(
        "--tool=callgrind --log-file=/dev/null --callgrind-out-file={}/%p {} hello 127.0.0.1 0 1",
        folder.path().display(),
        server.display()
    );
    let running = bench.serve("valgrind", &line)?;
    // The requests are no window, and slow under callgrind.
    let load = format!("load -t 1 -c 1 -n {requests} --timeout 20s http://{}/", running.address);
    bench.run(&bench.wirebench, &load, Duration::ZERO)?.output()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_can_be_built_and_differ_and_a_step_takes_time() {
        let target = tempfile::tempdir().unwrap();
        let workshop = Workshop::open(target.path()).unwrap();
        let slowed =
            |name, steps, far| fs::read(workshop.slowed(name, steps, far).unwrap()).unwrap();
        let plain = fs::read(workshop.plain().unwrap()).unwrap();
        assert_ne!(plain, slowed("slowed", 170, None));
        assert_ne!(plain, slowed("changing", 0, Some(170)));
        assert!(workshop.step_ns > 0.0);
    }
}
