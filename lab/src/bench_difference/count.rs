//! Counts the user instructions that a server executes for each request, with callgrind: exact where
//! times are noisy. What the kernel executes for it is not counted.

use anyhow::{Context, ensure};
use std::{fs, path::Path, time::Duration};

use crate::{
    process::{Server, finish, on},
    programs::exists,
    sides::Sides,
};

/// Requests of the two loads whose difference counts, so that start and end of the server do not.
const FEW: u64 = 10_000;
const MANY: u64 = 30_000;

/// How long a load may take on a server that runs under callgrind.
const PATIENCE: Duration = Duration::from_secs(120);

/// User instructions of `server` for each request, as a text.
pub(super) fn shown(wirebench: &Path, server: &Path, sides: &Sides) -> anyhow::Result<String> {
    if !exists("valgrind") {
        return Ok("not installed (Debian: valgrind)".to_owned());
    }
    let few = instructions(wirebench, server, sides, FEW)?;
    let many = instructions(wirebench, server, sides, MANY)?;
    ensure!(
        many > few,
        "callgrind counted {few} instructions for {FEW} requests and {many} for {MANY}"
    );
    let each = (many - few) as f64 / (MANY - FEW) as f64;
    Ok(format!("{each:.0} user instructions a request"))
}

fn instructions(
    wirebench: &Path,
    server: &Path,
    sides: &Sides,
    requests: u64,
) -> anyhow::Result<u64> {
    let folder = server.parent().context("a program lies in a folder")?.join("callgrind");
    // Each process of the server writes a file of its own.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut command =
        on(&sides.server_cpus, "valgrind", ["--tool=callgrind", "--log-file=/dev/null"]);
    command.arg(format!("--callgrind-out-file={}/%p", folder.display()));
    command.arg(server).args(["hello", "127.0.0.1", "0", "1"]);
    let mut running = Server::start(command)?;
    let words = format!("load -t 1 -c 1 -n {requests} --timeout 20s http://{}/", running.address);
    finish(on(&sides.generator_cpus, wirebench, words.split(' ')), PATIENCE)?.output()?;
    running.end()?;
    let mut sum = 0;
    for file in fs::read_dir(&folder)? {
        sum += total(&fs::read_to_string(file?.path())?);
    }
    ensure!(sum > 0, "callgrind wrote no total into {}", folder.display());
    Ok(sum)
}

/// The total of one of callgrind's files; the process that only waits for the workers has one too.
fn total(text: &str) -> u64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("summary:").or_else(|| line.strip_prefix("totals:")));
    line.and_then(|rest| rest.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_callgrinds_file_is_found() {
        assert_eq!(total("version: 1\nevents: Ir\nfn=(1)\n1 5\ntotals: 12345\n"), 12_345);
        assert_eq!(total("version: 1\n"), 0);
    }
}
