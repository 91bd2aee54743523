//! Processes bound to CPUs: a server that runs for a while, a generator that runs to its end. The first ends with this
//! program, the second at its limit at the latest.

use anyhow::{Context, bail, ensure};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::retry_on_intr,
    process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open},
};
use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read as _, Seek as _},
    net::SocketAddr,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use crate::{
    clock,
    programs::{command, show},
};

/// The command of a program in the project's folder, on these CPUs. The kernel kills it when this program ends.
pub(crate) fn on(
    cpus: &[u32],
    program: impl AsRef<OsStr>,
    words: impl IntoIterator<Item: AsRef<OsStr>>,
) -> Command {
    let cpus = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let mut bound = command("setpriv", ["--pdeathsig", "KILL", "taskset", "--cpu-list", &cpus]);
    bound.arg(program).args(words);
    bound
}

/// A server that is ready; dropping it kills it.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Server {
    /// Starts it and waits for its line `listening HOST:PORT`.
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Self> {
        let shown = show(&command);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let mut line = String::new();
        // A server that cannot serve ends, which ends the line too.
        let result = BufReader::new(output).read_line(&mut line);
        let address = line.strip_prefix("listening ").and_then(|text| text.trim().parse().ok());
        let Some(address) = address else {
            let _ = child.kill();
            let _ = child.wait();
            bail!("`{shown}` did not print where it listens, but `{}` ({result:?})", line.trim());
        };
        Ok(Self { address, child })
    }

    /// CPU time that it has used so far.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        Ok(clock::cpu(&self.child)?)
    }

    pub(crate) fn resident_bytes(&self) -> anyhow::Result<u64> {
        let process = procfs::process::Process::new(i32::try_from(self.child.id())?)?;
        Ok(process.statm()?.resident * procfs::page_size())
    }

    /// Asks it to end, as users do, and waits for that.
    pub(crate) fn end(&mut self) -> anyhow::Result<ExitStatus> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        Ok(self.child.wait()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that has run to its end.
#[derive(Debug)]
pub(crate) struct Finished {
    status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// From its start to its end.
    pub(crate) elapsed: Duration,
    /// Its CPU time, user and system.
    pub(crate) cpu: Duration,
    shown: String,
}

impl Finished {
    /// What it printed. A program that failed is an error with all of its output.
    pub(crate) fn output(self) -> anyhow::Result<String> {
        let Self { status, stdout, stderr, shown, .. } = self;
        ensure!(status.success(), "`{shown}` ended with {status}:\n{stdout}{stderr}");
        Ok(stdout)
    }
}

/// Runs it to its end. After `limit` it is killed, which is an error.
pub(crate) fn finish(mut command: Command, limit: Duration) -> anyhow::Result<Finished> {
    let shown = show(&command);
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let began = Instant::now();
    let mut child = command.spawn()?;
    let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    let timeout = Timespec::try_from(limit)?;
    let is_over = || poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout));
    if retry_on_intr(is_over)? == 0 {
        child.kill()?;
        child.wait()?;
        bail!("`{shown}` did not end within {limit:?}, and was killed");
    }
    let elapsed = began.elapsed();
    let cpu = clock::cpu(&child)?;
    let status = child.wait()?;
    let [stdout, stderr] = [&mut stdout, &mut stderr].map(|file| {
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes))?;
        anyhow::Ok(String::from_utf8_lossy(&bytes).into_owned())
    });
    Ok(Finished { status, stdout: stdout?, stderr: stderr?, elapsed, cpu, shown })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        on(&crate::sides::usable().unwrap(), "sh", ["-c", script])
    }

    #[test]
    fn a_program_is_reported_with_its_cpu_time_or_with_all_that_it_printed() {
        let work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo out";
        let finished = finish(shell(work), Duration::from_secs(20)).unwrap();
        assert!(finished.cpu > Duration::from_millis(1) && finished.cpu < finished.elapsed * 2);
        assert_eq!(finished.output().unwrap(), "out\n");
        let failed = finish(shell("echo out; echo err >&2; exit 3"), Duration::from_secs(20));
        let error = failed.unwrap().output().unwrap_err().to_string();
        assert!(error.ends_with("ended with exit status: 3:\nout\nerr\n"), "{error}");
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let error = finish(shell("exec sleep 60"), Duration::from_millis(100)).unwrap_err();
        let end = "sh -c exec sleep 60` did not end within 100ms, and was killed";
        assert!(error.to_string().ends_with(end), "{error}");
    }

    #[test]
    fn a_server_is_ready_with_its_line_and_refused_without() {
        let server = Server::start(shell("echo listening 127.0.0.1:80; exec sleep 60")).unwrap();
        assert_eq!(server.address, "127.0.0.1:80".parse().unwrap());
        let error = Server::start(shell("echo no")).unwrap_err().to_string();
        let end = "sh -c echo no` did not print where it listens, but `no` (Ok(3))";
        assert!(error.ends_with(end), "{error}");
    }
}
