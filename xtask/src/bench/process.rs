//! Processes bound to CPUs: a server that lives for a while, a generator that runs to its end. Each
//! ends with this program. Their output is not interpreted here.

use anyhow::{Context, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};
use wirebench_sys::{
    child::{die_with_parent, on_cpus},
    cpu_clock::process_cpu_ns,
    usage,
};

/// A server that is ready; dropping it kills it.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Server {
    /// Starts it on these CPUs and waits for its line `listening HOST:PORT`.
    pub(crate) fn start(mut command: Command, cpus: &[u32]) -> anyhow::Result<Self> {
        let shown = show(&command);
        let mut child = spawn(command.stdout(Stdio::piped()), cpus)?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let mut line = String::new();
        // A server that cannot serve ends, which ends the line too.
        let result = BufReader::new(output).read_line(&mut line);
        let address = line.strip_prefix("listening ").and_then(|text| text.trim().parse().ok());
        let Some(address) = address else {
            let _ = child.kill();
            let _ = child.wait();
            bail!("`{shown}` did not say where it listens, but `{}` ({result:?})", line.trim());
        };
        Ok(Self { address, child })
    }

    /// CPU time that it has used so far.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        Ok(Duration::from_nanos(process_cpu_ns(Pid::from_child(&self.child))?))
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

#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// From its start to its end.
    pub(crate) elapsed: Duration,
    /// Its CPU time, user and system.
    pub(crate) cpu: Duration,
    pub(crate) shown: String,
}

impl Finished {
    /// What it printed. A program that failed is an error with all of its output.
    pub(crate) fn output(self) -> anyhow::Result<String> {
        let Self { status, stdout, stderr, shown, .. } = self;
        ensure!(status.success(), "`{shown}` ended with {status}:\n{stdout}{stderr}");
        Ok(stdout)
    }
}

/// Runs it on these CPUs to its end. After `limit` it is killed, which is an error.
pub(crate) fn finish(
    mut command: Command,
    cpus: &[u32],
    limit: Duration,
) -> anyhow::Result<Finished> {
    let shown = show(&command);
    let began = Instant::now();
    let mut child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()), cpus)?;
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let in_time = ends_within(&child, limit)?;
    if !in_time {
        child.kill().with_context(|| shown.clone())?;
    }
    let (status, cpu) = usage::wait(&mut child).with_context(|| shown.clone())?;
    let elapsed = began.elapsed();
    ensure!(in_time, "`{shown}` did not end within {limit:?}, and was killed");
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    Ok(Finished { status, stdout: text(stdout), stderr: text(stderr), elapsed, cpu, shown })
}

fn spawn(command: &mut Command, cpus: &[u32]) -> anyhow::Result<Child> {
    die_with_parent(command);
    on_cpus(command, cpus)?;
    command.stdin(Stdio::null()).spawn().with_context(|| format!("`{}`", show(command)))
}

fn collect(mut output: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Whatever could be read is better than nothing in a message.
        let _ = output.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn ends_within(child: &Child, limit: Duration) -> anyhow::Result<bool> {
    let descriptor = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left)?;
        match poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&timeout)) {
            Ok(count) => return Ok(count > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn cpus() -> Vec<u32> {
        wirebench_sys::affinity::current().unwrap()
    }

    #[test]
    fn a_program_that_ends_is_reported_with_all_that_it_said() {
        let finished =
            finish(shell("echo out; echo err >&2; exit 3"), &cpus(), Duration::from_secs(20))
                .unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let error = finish(shell("exec sleep 60"), &cpus(), Duration::from_millis(100));
        assert_eq!(
            error.unwrap_err().to_string(),
            "`sh -c exec sleep 60` did not end within 100ms, and was killed"
        );
    }

    #[test]
    fn a_server_is_ready_with_its_line_and_refused_without() {
        let server = Server::start(shell("echo listening 127.0.0.1:80; exec sleep 60"), &cpus());
        assert_eq!(server.unwrap().address, "127.0.0.1:80".parse().unwrap());
        let error = Server::start(shell("echo no"), &cpus()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`sh -c echo no` did not say where it listens, but `no` (Ok(3))"
        );
    }
}
