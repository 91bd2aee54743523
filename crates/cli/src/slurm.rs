//! Hosts from a Slurm allocation, which lasts as long as wirebench needs it.

use anyhow::Context as _;
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread,
    time::Duration,
};
use wirebench_experiment::remote::Carrier;
use wirebench_server::parallel;

use crate::{exit::usage, interrupt::Interrupt, out};

/// How often a wait looks whether a signal asked to end.
const STEP: Duration = Duration::from_millis(50);
/// One for the servers and one for the load, unless the user's options say another number.
const USUAL: [&str; 3] = ["--no-shell", "--job-name=wirebench", "--nodes=2"];

/// A job without a script. Dropping it cancels it.
#[derive(Debug)]
pub(crate) struct Allocation {
    job: String,
    pub(crate) hosts: Vec<String>,
}

impl Allocation {
    /// Asks for an allocation with the user's options for salloc, and waits until it is granted.
    pub(crate) fn wait(options: &str, interrupt: &Interrupt) -> anyhow::Result<Self> {
        let words = shlex::split(options)
            .ok_or_else(|| usage(format!("--slurm {options}: a quote has no end")))?;
        let mut command = Command::new("salloc");
        command.args(USUAL).args(words);
        // Ctrl-C is for wirebench, which cancels the job.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut salloc = command.spawn().map_err(|error| missing("salloc", &error))?;
        let said = salloc.stderr.take();
        let said =
            said.map(|it| parallel::spawn(move || listen(BufReader::new(it)))).transpose()?;
        let status = loop {
            if let Some(status) = salloc.try_wait()? {
                break status;
            }
            if interrupt.exit().is_some() {
                // It takes its request back when it is asked to end.
                let pid = rustix::process::Pid::from_child(&salloc);
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
                salloc.wait()?;
                anyhow::bail!("interrupted while waiting for Slurm");
            }
            thread::sleep(STEP);
        };
        let said = said.and_then(|it| it.join().ok()).unwrap_or_default();
        anyhow::ensure!(status.success(), "salloc failed ({status}): {}", said.join("; "));
        let job = said.iter().find_map(|line| job(line)).context("salloc has named no job")?;
        let mut allocation = Self { job, hosts: Vec::new() };
        let nodes = read("squeue", &["--noheader", "--format=%N", "--jobs", &allocation.job])?;
        let hosts = read("scontrol", &["show", "hostnames", nodes.trim()])?;
        allocation.hosts = hosts.split_whitespace().map(str::to_owned).collect();
        anyhow::ensure!(!allocation.hosts.is_empty(), "job {} has no nodes", allocation.job);
        Ok(allocation)
    }

    /// Steps of the job. They share its nodes, because servers and load are steps of their own.
    pub(crate) fn carrier(&self) -> anyhow::Result<Carrier> {
        let step = "--overlap --nodes=1 --ntasks=1 --cpu-bind=none --quiet";
        let command = format!("srun --jobid={} {step} --nodelist={{host}} sh -c", self.job);
        command.parse().map_err(anyhow::Error::msg)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let _ = Command::new("scancel").args(["--quiet", &self.job]).status();
    }
}

/// Repeats what salloc says while it waits, and returns it.
fn listen(stderr: impl BufRead) -> Vec<String> {
    let lines = stderr.lines().map_while(Result::ok);
    lines
        .inspect(|line| {
            if line.contains("Pending") || line.contains("queued") {
                out::note(line);
            }
        })
        .collect()
}

/// The number of the job that salloc names.
fn job(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("Granted job allocation ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

fn read(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| missing(program, &error))?;
    let words = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{program} failed: {}", words.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn missing(program: &str, error: &std::io::Error) -> anyhow::Error {
    anyhow::anyhow!("{program} cannot be started ({error}): --slurm needs Slurm's commands")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_is_the_one_that_was_granted() {
        assert_eq!(job("salloc: Granted job allocation 65"), Some("65".to_owned()));
        assert_eq!(job("salloc: Pending job allocation 65"), None);
        assert_eq!(job("salloc: Granted job allocation "), None);
    }
}
