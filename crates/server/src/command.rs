//! Runs programs to their end: argument lists, never a shell; bounded output, bounded time, ended
//! whole.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
    },
};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::{executable::start_error, tree};

/// The most output of a program that is kept.
const OUTPUT_BYTES: u64 = 256 * 1024;
/// Output above which a program is killed: it lies in memory until the program ends.
const OUTPUT_LIMIT_BYTES: u64 = 64 << 20;
/// How often a wait looks at the stop flag. The end of the program itself is noticed at once.
const STEP: Duration = Duration::from_millis(50);

/// Looks whether a child has ended, which is still to be waited for.
const ENDED: WaitIdOptions =
    WaitIdOptions::EXITED.union(WaitIdOptions::NOHANG).union(WaitIdOptions::NOWAIT);

/// What a program printed, and how it ended.
#[derive(Debug)]
pub struct Output {
    pub status: ExitStatus,
    pub text: String,
}

/// Why a program has no end of its own.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It could not be started. The reason is a sentence.
    #[error("{0}")]
    Start(String),
    /// Its output could not be read, or its end not be waited for.
    #[error("`{program}` could not be run: {error}")]
    Io { program: String, error: io::Error },
    /// It took too long and was killed.
    #[error("`{program}` did not end within {} s and was killed", .after.as_secs())]
    Timeout { program: String, after: Duration },
    /// It printed more than fits in memory sensibly and was killed.
    #[error("`{0}` printed more than {limit} MiB and was killed", limit = OUTPUT_LIMIT_BYTES >> 20)]
    Flood(String),
    #[error("interrupted")]
    Interrupted,
}

/// The variable by which everything that a job started is found when the job must end early, or when
/// wirebench is killed.
pub const MARK: &str = "WIREBENCH_JOB";

/// No variables beyond the inherited ones.
pub const NO_ENV: &BTreeMap<String, String> = &BTreeMap::new();

#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    pub argv: &'a [String],
    pub folder: &'a Path,
    /// Environment variables beyond the inherited ones.
    pub env: &'a BTreeMap<String, String>,
    pub timeout: Duration,
}

impl Job<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.argv[0]);
        command
            .args(&self.argv[1..])
            .current_dir(self.folder)
            .envs(self.env)
            .stdin(Stdio::null())
            .process_group(0);
        command
    }

    fn io<T>(&self, result: io::Result<T>) -> Result<T, CommandError> {
        result.map_err(|error| CommandError::Io { program: self.argv[0].clone(), error })
    }

    fn start_error(&self, error: io::Error) -> CommandError {
        CommandError::Start(start_error(&self.argv[0], self.folder, error))
    }

    /// Runs it and returns what it printed.
    pub fn output(&self, stop: &AtomicBool) -> Result<Output, CommandError> {
        let (status, _, [out, errors]) = self.measured(None, stop)?;
        Ok(Output { status, text: out + &errors })
    }

    /// Runs it on `cpus`. The answer is how it ended, its CPU time, and what it wrote to standard output and to
    /// standard error.
    pub fn measured(
        &self,
        cpus: Option<&[u32]>,
        stop: &AtomicBool,
    ) -> Result<(ExitStatus, Duration, [String; 2]), CommandError> {
        let mut files = [self.io(temporary_file())?, self.io(temporary_file())?];
        let mut command = self.command();
        command.stdout(self.io(files[0].try_clone())?).stderr(self.io(files[1].try_clone())?);
        if let Some(cpus) = cpus {
            self.io(wirebench_sys::child::on_cpus(&mut command, cpus))?;
        }
        let (status, cpu) = self.wait(command, &files.each_ref(), stop)?;
        let [out, errors] = files.each_mut().map(read_from_start);
        Ok((status, cpu, [self.io(out)?, self.io(errors)?]))
    }

    /// Runs it with both of its outputs going to `log`.
    pub fn log_to(&self, log: &File, stop: &AtomicBool) -> Result<ExitStatus, CommandError> {
        let mut command = self.command();
        command.stdout(self.io(log.try_clone())?).stderr(self.io(log.try_clone())?);
        self.wait(command, &[], stop).map(|(status, _)| status)
    }

    /// Runs it in the foreground with this program's own input and outputs, so that it can ask for
    /// a password. It has no time limit, and a Ctrl-C at the terminal reaches it directly.
    pub fn foreground(&self) -> Result<ExitStatus, CommandError> {
        let mut command = Command::new(&self.argv[0]);
        command.args(&self.argv[1..]).current_dir(self.folder).envs(self.env);
        command.status().map_err(|error| self.start_error(error))
    }

    /// Runs it between an input and an output. The answer is how it ended, and what it wrote to standard error.
    pub fn between(
        &self,
        (stdin, stdout): (Stdio, Stdio),
        stop: &AtomicBool,
    ) -> Result<(ExitStatus, String), CommandError> {
        let mut errors = self.io(temporary_file())?;
        let mut command = self.command();
        command.stdin(stdin).stdout(stdout).stderr(self.io(errors.try_clone())?);
        let (status, _) = self.wait(command, &[&errors], stop)?;
        Ok((status, self.io(read_from_start(&mut errors))?))
    }

    /// Runs it with `input` on standard input and throws its output away.
    pub fn feed(&self, input: &str, stop: &AtomicBool) -> Result<ExitStatus, CommandError> {
        let file = self.io(file_of(input))?;
        self.between((file.into(), Stdio::null()), stop).map(|(status, _)| status)
    }

    /// Waits for the end, unless the program prints too much into `files`.
    fn wait(
        &self,
        mut command: Command,
        files: &[&File],
        stop: &AtomicBool,
    ) -> Result<(ExitStatus, Duration), CommandError> {
        wirebench_sys::child::die_with_parent(&mut command);
        let mark = tree::new_mark();
        command.env(MARK, &mark);
        let mut child = command.spawn().map_err(|error| self.start_error(error))?;
        let group = Pid::from_child(&child);
        // Some sandboxes forbid it; the end is then noticed a step later.
        let ended = pidfd_open(group, PidfdFlags::empty());
        let mut ended: Vec<PollFd<'_>> =
            ended.iter().map(|it| PollFd::new(it, PollFlags::IN)).collect();
        let until = Instant::now() + self.timeout;
        loop {
            let has_ended = waitid(WaitId::Pid(group), ENDED).map_err(io::Error::from);
            if self.io(has_ended)?.is_some() {
                return self.io(wirebench_sys::usage::wait(&mut child));
            }
            let printed = files.iter().map(|file| file.metadata().map_or(0, |it| it.len()));
            let failure = if stop.load(Ordering::Relaxed) {
                Some(CommandError::Interrupted)
            } else if printed.sum::<u64>() > OUTPUT_LIMIT_BYTES {
                Some(CommandError::Flood(self.argv[0].clone()))
            } else if Instant::now() >= until {
                Some(CommandError::Timeout { program: self.argv[0].clone(), after: self.timeout })
            } else {
                None
            };
            if let Some(failure) = failure {
                let _ = kill_process_group(group, Signal::KILL);
                let _ = child.wait();
                tree::kill_marked(MARK, &|it| it == mark);
                return Err(failure);
            }
            let step = Timespec { tv_sec: 0, tv_nsec: i64::from(STEP.subsec_nanos()) };
            let _ = poll(&mut ended, Some(&step));
        }
    }
}

/// The answer of `ask`, which is asked a second time if its program did not end: on a busy machine
/// the start of `erl`, which takes 0.2 s, once took over 20 s, and the entry counted as missing.
pub fn ask_twice<T>(ask: impl Fn() -> Result<T, CommandError>) -> Result<T, CommandError> {
    match ask() {
        Err(CommandError::Timeout { .. }) => ask(),
        answer => answer,
    }
}

/// A file without a name, so that output never blocks the program.
fn temporary_file() -> io::Result<File> {
    let memory = rustix::fs::memfd_create("wirebench-output", rustix::fs::MemfdFlags::CLOEXEC)?;
    Ok(File::from(memory))
}

/// A file without a name that has this text.
pub fn file_of(text: &str) -> io::Result<File> {
    let mut file = temporary_file()?;
    file.write_all(text.as_bytes())?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

fn read_from_start(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(OUTPUT_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job<T>(argv: &[&str], run: impl FnOnce(Job<'_>) -> T) -> T {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let (folder, timeout) = (Path::new("/"), Duration::from_secs(30));
        run(Job { argv: &argv, folder, env: NO_ENV, timeout })
    }

    #[test]
    fn output_of_any_size_is_bounded() {
        let stop = AtomicBool::new(false);
        let output = job(&["head", "-c", "1000000", "/dev/zero"], |job| job.output(&stop)).unwrap();
        assert_eq!(output.text.len() as u64, OUTPUT_BYTES);
        assert!(output.status.success());
    }

    #[test]
    fn a_program_that_prints_without_end_is_killed() {
        let stop = AtomicBool::new(false);
        let error = job(&["cat", "/dev/zero"], |job| job.output(&stop)).unwrap_err();
        assert!(matches!(error, CommandError::Flood(_)), "{error}");
    }

    #[test]
    fn a_program_that_does_not_exist_is_named() {
        let stop = AtomicBool::new(false);
        let error = job(&["no-such-program"], |job| job.output(&stop)).unwrap_err();
        assert_eq!(error.to_string(), "there is no program `no-such-program`");
    }

    #[test]
    fn a_program_that_takes_too_long_is_killed() {
        let stop = AtomicBool::new(false);
        let argv = ["sleep".to_owned(), "60".to_owned()];
        let timeout = Duration::from_millis(50);
        let job = Job { argv: &argv, folder: Path::new("/"), env: NO_ENV, timeout };
        assert!(matches!(job.output(&stop), Err(CommandError::Timeout { .. })));
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(job.output(&stop), Err(CommandError::Interrupted)));
    }

    #[test]
    fn a_program_that_hangs_once_is_asked_again() {
        let folder = tempfile::tempdir().unwrap();
        let argv =
            ["sh", "-c", "mkdir asked 2>/dev/null && sleep 60; echo there"].map(str::to_owned);
        let timeout = Duration::from_secs(2);
        let job = Job { argv: &argv, folder: folder.path(), env: NO_ENV, timeout };
        let stop = AtomicBool::new(false);
        assert_eq!(ask_twice(|| job.output(&stop)).unwrap().text, "there\n");
        let hangs = ["sleep".to_owned(), "60".to_owned()];
        let job = Job { argv: &hangs, timeout: Duration::from_millis(50), ..job };
        assert!(matches!(ask_twice(|| job.output(&stop)), Err(CommandError::Timeout { .. })));
    }

    #[test]
    fn what_a_killed_program_has_started_in_a_session_of_its_own_ends_too() {
        let sleeper = ["sleep", "7391"];
        let wait = ["sh", "-c", "setsid --fork sleep 7391; sleep 60"].map(str::to_owned);
        let timeout = Duration::from_millis(300);
        let job = Job { argv: &wait, folder: Path::new("/"), env: NO_ENV, timeout };
        assert!(matches!(job.output(&AtomicBool::new(false)), Err(CommandError::Timeout { .. })));
        let all = procfs::process::all_processes().unwrap().flatten();
        let left = all.filter(|p| p.cmdline().is_ok_and(|words| words == sleeper)).count();
        assert_eq!(left, 0);
    }
}
