//! A child process that writes one JSON object a line, and may read lines.

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use crate::{
    launch::{STDERR_PATIENCE, StderrTail},
    parallel,
};

/// The longest line that is read: a report with its histograms is shorter.
const LINE_BYTES: u64 = 64 << 20;
/// Lines that wait to be read before their writer has to wait.
const LINES: usize = 1024;
/// Characters of a wrong line that are shown.
const SHOWN: usize = 200;

/// The lines of `source`. One that is too long comes in pieces, which no reader accepts.
fn lines(source: impl Read) -> impl Iterator<Item = String> {
    let mut source = BufReader::new(source);
    std::iter::from_fn(move || {
        let mut line = String::new();
        let length = source.by_ref().take(LINE_BYTES).read_line(&mut line).ok()?;
        line.truncate(line.trim_end_matches(['\r', '\n']).len());
        (length > 0).then_some(line)
    })
}

/// A child that is heard line by line. Dropping it kills it.
#[derive(Debug)]
pub struct PipedChild {
    pub(crate) child: Child,
    pub(crate) input: Option<Writer>,
    /// With the moments at which they arrived.
    pub(crate) lines: Receiver<(Instant, String)>,
    pub(crate) stderr: StderrTail,
}

#[derive(Clone, Debug)]
pub struct Writer(Arc<Mutex<ChildStdin>>);

impl Writer {
    /// Writes a message as one line.
    pub fn say(&self, message: &impl Serialize) -> Result<(), String> {
        let line = serde_json::to_string(message).map_err(std::io::Error::other);
        line.and_then(|line| self.line(&line))
            .map_err(|error| format!("cannot write to the process: {error}"))
    }

    /// Writes one line. One to a child that has ended is lost: its last event says why it has.
    pub(crate) fn line(&self, line: &str) -> std::io::Result<()> {
        let mut input = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match writeln!(input, "{line}") {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }
}

impl PipedChild {
    /// Starts it on `cpus`. It ends with this process.
    pub fn spawn(mut command: Command, cpus: Option<&[u32]>) -> std::io::Result<Self> {
        wirebench_sys::child::die_with_parent(&mut command);
        if let Some(cpus) = cpus {
            wirebench_sys::child::on_cpus(&mut command, cpus)?;
        }
        Self::outliving(command)
    }

    /// Starts one that does not end with this process. A Ctrl-C at the terminal is not for it.
    pub(crate) fn outliving(mut command: Command) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(parallel::at_limit)?;
        let missing = || std::io::Error::other("a pipe is missing");
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = StderrTail::follow(child.stderr.take().ok_or_else(missing)?)?;
        let input = child.stdin.take().map(|it| Writer(Arc::new(Mutex::new(it))));
        let (sender, receiver) = mpsc::sync_channel(LINES);
        parallel::spawn(move || {
            for line in lines(stdout) {
                if sender.send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { child, input, lines: receiver, stderr })
    }

    /// Writes one line to it. One that has ended says why in its last event.
    pub fn say(&self, message: &impl Serialize) -> Result<(), String> {
        self.input.as_ref().ok_or("the process takes no input")?.say(message)
    }

    /// What writes to it, for several threads.
    pub fn writer(&self) -> Option<Writer> {
        self.input.clone()
    }

    /// The next event and the moment at which it arrived, which may be before it was asked for; none within `timeout`.
    /// An error is a sentence on how the process ended, which `name` names.
    pub fn next<E: DeserializeOwned>(
        &mut self,
        name: &str,
        timeout: Duration,
    ) -> Result<Option<(Instant, E)>, String> {
        match self.lines.recv_timeout(timeout) {
            Ok((at, line)) => {
                serde_json::from_str(&line).map(|event| Some((at, event))).map_err(|error| {
                    let line: String = line.chars().take(SHOWN).collect();
                    format!("the {name} wrote `{line}`: {error}")
                })
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
                self.stderr.wait_for_end(STDERR_PATIENCE);
                let text = format!("the {name} ended without a report ({status}) ");
                Err((text + &self.stderr.text()).trim_end().to_owned())
            }
        }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for PipedChild {
    fn drop(&mut self) {
        // A carrier may have started others. The number of one that has been waited for may be another's.
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.wait();
    }
}
