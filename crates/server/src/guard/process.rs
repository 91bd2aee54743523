//! The guard's own process: starts one server, watches it, and ends its whole tree. See the module
//! above for the order.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, wait};
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::{fd::AsFd, unix::process::CommandExt},
    path::Path,
    process::{ChildStdout, Command, ExitCode, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    time::{Duration, Instant},
};

use super::{Exit, GuardEvent, LINGER, LINGER_AT_WORK, jobs};
use crate::{cost::ended_ns, executable::start_error, parallel, tree};

/// Lines of the server's standard output that are passed on; the contract allows one.
const STDOUT_LINES_PASSED: u64 = 8;
/// Bytes of such a line that are passed on.
const STDOUT_LINE_BYTES: u64 = 1024;
/// How long killing the tree may take before the guard gives up on processes that the kernel cannot
/// end.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// How often it is looked whether descendants are still at work.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

enum WakeReason {
    /// A child, or an adopted descendant, has ended.
    Reaped(Pid, Exit),
    /// No process of the tree is left.
    NoneLeft,
    /// wirebench asks for a graceful end.
    Stop(Duration),
    Orphaned,
}

/// The option of a guard whose server prints no ready line: its standard output goes where its
/// standard error goes, so that what it writes is counted, and read by one thread only.
pub(crate) const ONE_OUTPUT: &str = "--one-output";

/// How a guard starts its server.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct GuardOptions {
    /// The CPUs of the server; absent means all that are allowed.
    cpus: Option<Vec<u32>>,
    /// Whether [`ONE_OUTPUT`] is given.
    has_one_output: bool,
}

/// Splits the guard's arguments `[--cpus 0,1] [--one-output] -- PROGRAM [ARGUMENT...]`.
pub fn parse_arguments(arguments: &[String]) -> Result<(GuardOptions, Vec<String>), String> {
    let usage =
        || "the guard takes `[--cpus LIST] [--one-output] -- PROGRAM [ARGUMENT...]`".to_owned();
    let at = arguments.iter().position(|argument| argument == "--").ok_or_else(usage)?;
    let (mut words, command) = (arguments[..at].iter(), arguments[at + 1..].to_vec());
    let mut options = GuardOptions::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--cpus" => {
                let list = words.next().ok_or_else(usage)?;
                let cpus: Result<Vec<u32>, _> = list.split(',').map(str::parse).collect();
                options.cpus = Some(cpus.map_err(|_| usage())?);
            }
            ONE_OUTPUT => options.has_one_output = true,
            _ => return Err(usage()),
        }
    }
    if command.is_empty() { Err(usage()) } else { Ok((options, command)) }
}

/// Runs the guard in this process until nothing of the server is left, or until wirebench ends for a
/// guard of jobs.
#[must_use]
pub fn main(arguments: &[String]) -> ExitCode {
    if let [option, owner] = arguments
        && option == jobs::OPTION
    {
        return jobs::main(owner);
    }
    let (options, command) = match parse_arguments(arguments) {
        Ok(parsed) => parsed,
        Err(reason) => {
            emit(&GuardEvent::SpawnFailed { reason });
            return ExitCode::from(2);
        }
    };
    let started = start(&options, &command);
    let ended = match started {
        Ok((pid, stdout)) => {
            emit(&GuardEvent::Started { pid: pid.as_raw_nonzero().get() });
            // Without a watch the kernel kills the server with this process.
            watch(pid, stdout).map_err(|error| error.to_string())
        }
        Err(error) => Err(start_error(&command[0], Path::new(""), error)),
    };
    ended.map_or_else(
        |reason| {
            emit(&GuardEvent::SpawnFailed { reason });
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Writes one event. Once wirebench has gone, no process reads it; that is noticed on standard
/// input.
fn emit(event: &GuardEvent) {
    if let Ok(mut line) = serde_json::to_vec(event) {
        line.push(b'\n');
        let mut stdout = io::stdout().lock();
        let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
    }
}

fn start(options: &GuardOptions, argv: &[String]) -> io::Result<(Pid, Option<ChildStdout>)> {
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).process_group(0).stdin(Stdio::null());
    command.stdout(match options.has_one_output {
        true => io::stderr().as_fd().try_clone_to_owned()?.into(),
        false => Stdio::piped(),
    });
    wirebench_sys::child::die_with_parent(&mut command);
    if let Some(cpus) = &options.cpus {
        wirebench_sys::child::on_cpus(&mut command, cpus)?;
    }
    let mut child = command.spawn()?;
    let stdout = child.stdout.take();
    Ok((Pid::from_child(&child), stdout))
}

fn watch(server: Pid, stdout: Option<ChildStdout>) -> io::Result<()> {
    let (sender, wakes) = mpsc::channel();
    stdout.map(|stdout| parallel::spawn(move || forward_stdout(stdout))).transpose()?;
    let commands = sender.clone();
    parallel::spawn(move || read_commands(&commands))?;
    parallel::spawn(move || reap(&sender))?;
    let tree_is_gone = live(server, &wakes);
    if !tree_is_gone {
        end_tree(&wakes);
    }
    emit(&GuardEvent::Done { cpu_ns: ended_ns(&[rustix::process::getpid()]) });
    Ok(())
}

/// Passes the first lines on and hands the rest to standard error, where it is counted and thrown
/// away, so that a server that prints without end never blocks.
fn forward_stdout(stdout: ChildStdout) {
    let mut passed = 0;
    let mut reader = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(STDOUT_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if passed < STDOUT_LINES_PASSED {
            passed += 1;
            let line = String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned();
            emit(&GuardEvent::Stdout { line });
        } else {
            let _ = io::stderr().write_all(&line);
        }
    }
}

fn read_commands(sender: &Sender<WakeReason>) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let grace_ms = line.strip_prefix("stop ").and_then(|text| text.parse().ok());
        if let Some(grace_ms) = grace_ms {
            let _ = sender.send(WakeReason::Stop(Duration::from_millis(grace_ms)));
        }
    }
    let _ = sender.send(WakeReason::Orphaned);
}

fn reap(sender: &Sender<WakeReason>) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => {
                let exit = match status.terminating_signal() {
                    Some(signal) => Exit::Signal(signal),
                    None => Exit::Code(status.exit_status().unwrap_or(-1)),
                };
                let _ = sender.send(WakeReason::Reaped(pid, exit));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                let _ = sender.send(WakeReason::NoneLeft);
                return;
            }
        }
    }
}

/// Waits until the server has ended, by itself, on request or by force. Returns whether its whole
/// tree is gone too.
fn live(server: Pid, wakes: &Receiver<WakeReason>) -> bool {
    let mut force_at: Option<Instant> = None;
    let mut at_work = LINGER_AT_WORK;
    loop {
        let wake = match force_at {
            None => wakes.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => wakes.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match wake {
            Ok(WakeReason::Reaped(pid, exit)) if pid == server => {
                emit(&GuardEvent::Exited { exit });
                return linger(wakes, at_work);
            }
            Ok(WakeReason::Reaped(..)) => {}
            Ok(WakeReason::NoneLeft) => return true,
            Ok(WakeReason::Stop(grace)) => {
                let _ = kill_process(server, Signal::TERM);
                force_at = Some(Instant::now() + grace);
                // After Ctrl-C the grace is short, and so is the rest.
                at_work = if grace < LINGER { LINGER } else { LINGER_AT_WORK };
            }
            Ok(WakeReason::Orphaned) | Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {
                emit(&GuardEvent::Forced);
                return false;
            }
        }
    }
}

/// Gives descendants their time to follow the server, `at_work` to those that run. Returns whether
/// they did.
fn linger(wakes: &Receiver<WakeReason>, at_work: Duration) -> bool {
    let began = Instant::now();
    let mut until = began + LINGER;
    loop {
        match wakes.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(WakeReason::NoneLeft) => return true,
            Ok(WakeReason::Orphaned) | Err(RecvTimeoutError::Disconnected) => return false,
            Ok(WakeReason::Reaped(..) | WakeReason::Stop(_)) => {}
            Err(RecvTimeoutError::Timeout) => {
                let left = tree::descendants(rustix::process::getpid());
                // One that has ended since the last look is about to be reaped.
                let ends = !left.iter().any(|pid| tree::is_alive(*pid))
                    || left.iter().any(|pid| is_at_work(*pid));
                if began.elapsed() < at_work && ends {
                    until = Instant::now() + LOOK_AGAIN;
                    continue;
                }
                let processes = left
                    .into_iter()
                    .map(|pid| format!("{} ({})", pid.as_raw_nonzero(), tree::name(pid)))
                    .collect();
                emit(&GuardEvent::LeftBehind { processes });
                return false;
            }
        }
    }
}

/// Whether a thread of the process runs or waits for a CPU, or for a disk.
fn is_at_work(pid: Pid) -> bool {
    let tasks = tree::process(pid).and_then(|process| process.tasks().ok());
    let stats = tasks.into_iter().flatten().flatten().filter_map(|task| task.stat().ok());
    stats.into_iter().any(|stat| matches!(stat.state, 'R' | 'D'))
}

/// Kills until nothing is left. A process that forks while it is being killed is found in the next
/// round.
fn end_tree(wakes: &Receiver<WakeReason>) {
    let until = Instant::now() + KILL_PATIENCE;
    while Instant::now() < until {
        for pid in tree::descendants(rustix::process::getpid()) {
            let _ = kill_process(pid, Signal::KILL);
        }
        loop {
            match wakes.recv_timeout(Duration::from_millis(5)) {
                Ok(WakeReason::NoneLeft) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn arguments_split_into_cpus_and_command() {
        let plain = GuardOptions::default();
        assert_eq!(parse_arguments(&words("-- a b")), Ok((plain, words("a b"))));
        let all = GuardOptions { cpus: Some(vec![0, 3]), has_one_output: true };
        assert_eq!(
            parse_arguments(&words("--cpus 0,3 --one-output -- a -- b")),
            Ok((all, words("a -- b")))
        );
        for wrong in ["", "a b", "--", "--cpus -- a", "--cpus x -- a", "--cups 1 -- a"] {
            assert!(parse_arguments(&words(wrong)).is_err(), "{wrong}");
        }
    }
}
