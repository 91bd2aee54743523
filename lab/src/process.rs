//! Processes in the project's folder: steps of a build, a server that runs for a while, and programs that run to their
//! end. A server ends with this program, the others at their limit at the latest.

use anyhow::{Context as _, bail, ensure};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::retry_on_intr,
    process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open},
};
use std::{
    ffi::OsStr,
    fs::File,
    io::{self, BufRead as _, BufReader, Seek as _},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};
use wirebench_sys::{
    child::{die_with_parent, on_cpus},
    cpu_clock::process_cpu_ns,
    usage,
};

/// How long a program may take for all that it does besides a window.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The command of a program in the project's folder. The kernel kills it when this program ends.
pub(crate) fn command(
    program: impl AsRef<OsStr>,
    words: impl IntoIterator<Item: AsRef<OsStr>>,
) -> Command {
    let mut command = Command::new(program);
    // Cargo describes this package to its children, and build scripts that watch these variables would run again.
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let describes = |it: &String| it.starts_with("CARGO_PKG_") || it.starts_with("CARGO_MANIFEST_");
    names.filter(describes).for_each(|name| _ = command.env_remove(name));
    command.args(words).current_dir(root());
    die_with_parent(&mut command);
    command
}

/// The command, bound to these CPUs.
pub(crate) fn on(cpus: &[u32], mut command: Command) -> io::Result<Command> {
    on_cpus(&mut command, cpus)?;
    Ok(command)
}

/// Runs the cargo that runs this program, with its output shown; it must succeed.
pub(crate) fn cargo(words: &[&str]) -> anyhow::Result<()> {
    step(command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), words))
}

/// Runs a command, with its output shown; it must succeed.
pub(crate) fn step(mut command: Command) -> anyhow::Result<()> {
    let line = show(&command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("`{line}` cannot be run"))?;
    ensure!(status.success(), "`{line}` ended with {status}");
    Ok(())
}

pub(crate) fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Builds wirebench as it is released, and returns the program.
pub(crate) fn wirebench() -> anyhow::Result<PathBuf> {
    cargo(&["build", "--release", "--locked", "-p", "wirebench"])?;
    // This program is in the folder of the same target, or of another profile of it.
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).context("a program is in a folder of its profile")?;
    Ok(target.join("release/wirebench"))
}

/// A child that dropping kills.
#[derive(Debug)]
pub(crate) struct Killed(pub(crate) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that is ready; dropping it kills it.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Killed,
}

impl Server {
    /// Starts it and waits for its line `listening HOST:PORT`.
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Self> {
        let shown = show(&command);
        let mut child = Killed(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?);
        let output = child.0.stdout.take().context("its output is a pipe")?;
        let mut line = String::new();
        // A server that cannot serve ends, which ends the line too.
        let result = BufReader::new(output).read_line(&mut line);
        match line.strip_prefix("listening ").and_then(|text| text.trim().parse().ok()) {
            Some(address) => Ok(Self { address, child }),
            None => bail!("`{shown}` printed no address, but `{}` ({result:?})", line.trim()),
        }
    }

    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        Ok(Duration::from_nanos(process_cpu_ns(Pid::from_child(&self.child.0))?))
    }

    pub(crate) fn resident_bytes(&self) -> anyhow::Result<u64> {
        let process = procfs::process::Process::new(i32::try_from(self.child.0.id())?)?;
        Ok(process.statm()?.resident * procfs::page_size())
    }

    /// Asks it to end, as users do, and waits for that.
    pub(crate) fn end(mut self) -> anyhow::Result<ExitStatus> {
        kill_process(Pid::from_child(&self.child.0), Signal::TERM)?;
        Ok(self.child.0.wait()?)
    }
}

/// A program that has run to its end.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) elapsed: Duration,
    /// Its CPU time, user and system.
    pub(crate) cpu: Duration,
    shown: String,
}

impl Finished {
    /// Its standard output. A program that failed is an error with all of its output.
    pub(crate) fn output(self) -> anyhow::Result<String> {
        let Self { status, stdout, stderr, shown, .. } = self;
        ensure!(status.success(), "`{shown}` ended with {status}:\n{stdout}{stderr}");
        Ok(stdout)
    }
}

/// The standard output of a program, which must succeed in time.
pub(crate) fn output(command: Command) -> anyhow::Result<String> {
    finish(command, PATIENCE)?.output()
}

/// Runs it to its end. After `limit` it is killed, which is an error.
pub(crate) fn finish(mut command: Command, limit: Duration) -> anyhow::Result<Finished> {
    let shown = show(&command);
    let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let began = Instant::now();
    let mut child = command.spawn().with_context(|| format!("`{shown}` cannot be run"))?;
    let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    let timeout = Timespec::try_from(limit)?;
    let is_over = || poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout));
    let is_late = retry_on_intr(is_over)? == 0;
    let elapsed = began.elapsed();
    if is_late {
        child.kill()?;
    }
    let (status, cpu) = usage::wait(&mut child)?;
    ensure!(!is_late, "`{shown}` did not end within {limit:?}, and was killed");
    let text = |mut file: File| file.rewind().and_then(|()| io::read_to_string(file));
    Ok(Finished { status, stdout: text(stdout)?, stderr: text(stderr)?, elapsed, cpu, shown })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        command("sh", ["-c", script])
    }

    #[test]
    fn a_program_that_fails_or_is_late_is_an_error_that_shows_it() {
        let error = output(shell("echo out; echo err >&2; exit 3")).unwrap_err().to_string();
        assert!(error.ends_with("ended with exit status: 3:\nout\nerr\n"), "{error}");
        let late = finish(shell("exec sleep 60"), Duration::from_millis(100));
        let error = late.unwrap_err().to_string();
        assert_eq!(error, "`sh -c exec sleep 60` did not end within 100ms, and was killed");
        let error = Server::start(shell("echo no")).unwrap_err().to_string();
        assert_eq!(error, "`sh -c echo no` printed no address, but `no` (Ok(3))");
    }
}
