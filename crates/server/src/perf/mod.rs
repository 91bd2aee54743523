//! `perf` on the processes of a server: counts of system calls, or samples of stacks, while something else loads it.
//!
//! `access` says why it cannot be used, `parse` reads what it prints. What the figures mean is not decided here.

mod access;
mod events;
mod parse;

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{CWD, FileType, Mode, mknodat},
    process::{Pid, Signal, kill_process},
};
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

pub use self::parse::Calls;
use crate::command::{Job, NO_ENV};

const PROGRAM: &str = "perf";
/// Samples per second of CPU time: a prime number, so that they do not keep step with a timer of the server.
const FREQUENCY: &str = "997";
/// How long `perf` may take to attach to all threads, and to write its result.
const PATIENCE: Duration = Duration::from_secs(15);
const STEP: Duration = Duration::from_millis(10);
/// The result of a recording, and what it said, in its folder.
const RESULT: &str = "result";
const SAID: &str = "said";

/// What is recorded of a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum What {
    Calls,
    Stacks,
}

impl What {
    /// The arguments without the processes.
    fn arguments(self) -> Vec<String> {
        let (words, events): (&[&str], String) = match self {
            Self::Calls => (&["stat", "-x", ",", "-o", RESULT, "-e"], events::list()),
            // Without the cache of builds, which would stay in the home folder.
            Self::Stacks => (
                &["record", "-q", "-B", "-N", "-o", RESULT, "-g", "-F", FREQUENCY, "-e"],
                "cpu-clock".to_owned(),
            ),
        };
        words.iter().copied().map(str::to_owned).chain([events]).collect()
    }
}

/// `perf`, which has been tried out.
#[derive(Clone, Copy, Debug)]
pub struct Perf(());

impl Perf {
    /// Finds it and tries both kinds of recording. The error says what to do.
    pub fn find(stop: &AtomicBool) -> Result<Self, String> {
        if !crate::executable::exists(PROGRAM) {
            return Err(access::missing());
        }
        for what in [What::Calls, What::Stacks] {
            let folder = folder()?;
            let mut words = vec![PROGRAM.to_owned()];
            words.extend(what.arguments().into_iter().chain(["true".to_owned()]));
            let output = job(&words, folder.path()).output(stop).map_err(|it| it.to_string())?;
            if !output.status.success() {
                return Err(access::explain(&output.text, &access::Settings::read()));
            }
        }
        Ok(Self(()))
    }

    /// Begins to count the system calls of `pids`, with all their threads and those that they start.
    pub fn count(self, pids: &[Pid], stop: &AtomicBool) -> Result<Recording, String> {
        Recording::begin(What::Calls, pids, stop)
    }

    /// Begins to sample the stacks of `pids`, with all their threads and those that they start.
    pub fn sample(self, pids: &[Pid], stop: &AtomicBool) -> Result<Recording, String> {
        Recording::begin(What::Stacks, pids, stop)
    }
}

/// A `perf` that records. Dropping it ends it and removes its files.
#[derive(Debug)]
pub struct Recording {
    child: Child,
    folder: TempDir,
}

impl Recording {
    /// Returns when all threads are recorded.
    fn begin(what: What, pids: &[Pid], stop: &AtomicBool) -> Result<Self, String> {
        if pids.is_empty() {
            return Err("no process of the server is known on this host".to_owned());
        }
        let folder = folder()?;
        let (mut orders, answers) =
            (pipe(&folder.path().join("orders"))?, pipe(&folder.path().join("answers"))?);
        let said = File::create(folder.path().join(SAID)).map_err(sentence)?;
        let pids: Vec<String> = pids.iter().map(|it| it.as_raw_nonzero().to_string()).collect();
        let mut command = Command::new(PROGRAM);
        command
            .args(what.arguments())
            .args(["-D", "-1", "--control", "fifo:orders,answers", "-p", &pids.join(",")])
            .current_dir(folder.path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(said.try_clone().map_err(sentence)?)
            .stderr(said)
            // Ctrl-C reaches it through the end of this value.
            .process_group(0);
        wirebench_sys::child::die_with_parent(&mut command);
        let child = command.spawn().map_err(sentence)?;
        let mut recording = Self { child, folder };
        orders.write_all(b"enable\n").map_err(sentence)?;
        recording.wait_until(stop, |_| has_answered(&answers))?;
        Ok(recording)
    }

    /// Ends the counting.
    pub fn calls(mut self, stop: &AtomicBool) -> Result<Calls, String> {
        self.finish(stop)?;
        let text = fs::read_to_string(self.folder.path().join(RESULT)).map_err(sentence)?;
        parse::calls(&text)
    }

    /// Ends the sampling. The answer is the number of samples, and the sampled CPU time of each stack in nanoseconds.
    pub fn stacks(mut self, stop: &AtomicBool) -> Result<(u64, BTreeMap<String, u64>), String> {
        self.finish(stop)?;
        let words = [PROGRAM, "script", "--no-inline", "-i", RESULT].map(str::to_owned);
        let path = self.folder.path().join("script");
        let out = File::create(&path).map_err(sentence)?;
        let job = job(&words, self.folder.path());
        let ended = job.between((Stdio::null(), out.into()), stop);
        let (status, errors) = ended.map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("`perf script` ended with {status}: {}", access::end(&errors)));
        }
        parse::stacks(&fs::read(&path).map_err(sentence)?)
    }

    /// Ends it in order, so that it writes its result.
    fn finish(&mut self, stop: &AtomicBool) -> Result<(), String> {
        // It has not been waited for, so the number cannot be another process's.
        kill_process(Pid::from_child(&self.child), Signal::INT)
            .map_err(|error| sentence(error.into()))?;
        self.wait_until(stop, |child| Ok(child.try_wait()?.is_some()))
    }

    /// Waits until it is so. It is an error if `perf` ends before.
    fn wait_until(
        &mut self,
        stop: &AtomicBool,
        is_so: impl Fn(&mut Child) -> io::Result<bool>,
    ) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        loop {
            if is_so(&mut self.child).map_err(sentence)? {
                return Ok(());
            }
            if stop.load(Ordering::Relaxed) {
                return Err("interrupted".to_owned());
            }
            if let Some(status) = self.child.try_wait().map_err(sentence)? {
                let said = fs::read(self.folder.path().join(SAID)).unwrap_or_default();
                let said = String::from_utf8_lossy(&said);
                return Err(format!("perf ended with {status}: {}", access::end(&said)));
            }
            if Instant::now() >= until {
                return Err(format!("perf did not answer within {} s", PATIENCE.as_secs()));
            }
            thread::sleep(STEP);
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // It has usually ended.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// A pipe with a name. It is open on this side for both directions, so that neither side waits for the other.
fn pipe(path: &Path) -> Result<File, String> {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
        .map_err(|error| sentence(error.into()))?;
    OpenOptions::new().read(true).write(true).open(path).map_err(sentence)
}

fn has_answered(mut answers: &File) -> io::Result<bool> {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if poll(&mut [PollFd::new(answers, PollFlags::IN)], Some(&now))? == 0 {
        return Ok(false);
    }
    answers.read(&mut [0; 16]).map(|bytes| bytes > 0)
}

fn folder() -> Result<TempDir, String> {
    TempDir::with_prefix("wirebench-perf-").map_err(sentence)
}

fn job<'a>(argv: &'a [String], folder: &'a Path) -> Job<'a> {
    Job { argv, folder, env: NO_ENV, timeout: 4 * PATIENCE }
}

#[allow(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
fn sentence(error: io::Error) -> String {
    format!("perf could not be run: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_of_a_process_that_runs() {
        let stop = AtomicBool::new(false);
        let error = Perf(()).count(&[], &stop).unwrap_err();
        assert_eq!(error, "no process of the server is known on this host");
    }

    /// A loop that opens a file. Dropping it ends it.
    struct Opening(Child);

    impl Drop for Opening {
        fn drop(&mut self) {
            let _ = self.0.kill().and_then(|()| self.0.wait());
        }
    }

    #[test]
    #[ignore = "needs perf with its permissions"]
    fn calls_and_stacks_are_recorded_and_nothing_is_left_with_perf() {
        let stop = AtomicBool::new(false);
        let perf = Perf::find(&stop).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "while :; do : < /dev/null; done"]).stdout(Stdio::null());
        let opening = Opening(command.spawn().unwrap());
        let pids = [Pid::from_child(&opening.0)];
        let recording = perf.count(&pids, &stop).unwrap();
        let folder = recording.folder.path().to_owned();
        thread::sleep(Duration::from_millis(100));
        let calls = recording.calls(&stop).unwrap();
        assert!(!folder.exists());
        assert!(calls.by_name["openat"] > 0 && calls.by_name["openat"] <= calls.by_name["close"]);
        let recording = perf.sample(&pids, &stop).unwrap();
        thread::sleep(Duration::from_millis(300));
        let (samples, stacks) = recording.stacks(&stop).unwrap();
        assert!(samples > 0);
        assert!(stacks.keys().any(|stack| stack.ends_with("_[k]")), "{stacks:?}");
        assert!(stacks.keys().all(|stack| stack.starts_with("sh;")), "{stacks:?}");
        let dropped = perf.sample(&pids, &stop).unwrap();
        let pid = Pid::from_child(&dropped.child);
        drop(dropped);
        assert!(!crate::tree::is_alive(pid));
    }
}
