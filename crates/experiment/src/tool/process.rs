//! One process of another load generator: started on its CPUs, waited for, and ended when no owner
//! wants it any more. What it prints is only kept here.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::{
    io::Read,
    process::{Command, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::{Duration, Instant},
};
use wirebench_server::{
    launch::{STDERR_PATIENCE, StderrTail},
    parallel,
};

/// How often a wait looks whether a signal asked to end.
const STEP: Duration = Duration::from_millis(50);

/// No report of any of the programs is longer.
const OUTPUT_LIMIT_BYTES: u64 = 256 * 1024;

/// A generator that has ended well.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) output: String,
    /// CPU time of all its threads.
    pub(crate) cpu: Duration,
}

/// Runs `argv` to its end. An error is a sentence on how it ended otherwise.
pub(super) fn run(
    argv: &[String],
    cpus: Option<&[u32]>,
    patience: Duration,
    stop: &AtomicBool,
) -> Result<Finished, String> {
    let program = &argv[0];
    let sentence = |error: std::io::Error| format!("{program} could not be run: {error}");
    let mut command = Command::new(program);
    command.args(&argv[1..]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    wirebench_sys::child::die_with_parent(&mut command);
    if let Some(cpus) = cpus {
        wirebench_sys::child::on_cpus(&mut command, cpus).map_err(sentence)?;
    }
    let mut child = command.spawn().map_err(parallel::at_limit).map_err(sentence)?;
    // It has not been waited for yet, so the number cannot be another process's.
    let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
    let handle = handle.map_err(|error| {
        let _ = child.kill().and_then(|()| child.wait());
        format!("pidfd_open fails ({error}), which ends {program} in time: allow it in the seccomp profile")
    })?;
    let missing = || format!("{program} could not be run: a pipe is missing");
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stderr = StderrTail::follow(child.stderr.take().ok_or_else(missing)?).map_err(sentence)?;
    let output = parallel::spawn(move || read(stdout)).map_err(sentence)?;
    let (sender, ended) = mpsc::channel();
    let waiter = parallel::spawn(move || {
        // The other side is gone only when it does not care any more.
        let _ = sender.send(wirebench_sys::usage::wait(&mut child));
    })
    .map_err(sentence)?;
    let until = Instant::now() + patience;
    let mut killed = None;
    let waited = loop {
        match ended.recv_timeout(STEP) {
            Ok(waited) => break waited,
            Err(RecvTimeoutError::Disconnected) => return Err(missing()),
            Err(RecvTimeoutError::Timeout) if killed.is_some() => {}
            Err(RecvTimeoutError::Timeout) => {
                killed = if stop.load(Ordering::Relaxed) {
                    Some("interrupted".to_owned())
                } else {
                    let late = Instant::now() >= until;
                    late.then(|| format!("{program} did not end in time and was killed"))
                };
                if killed.is_some() {
                    // It may have ended meanwhile, which is what is wanted.
                    let _ = pidfd_send_signal(&handle, Signal::KILL);
                }
            }
        }
    };
    let _ = waiter.join();
    let output = output.join().unwrap_or_default();
    if let Some(reason) = killed {
        return Err(reason);
    }
    let (status, cpu) = waited.map_err(sentence)?;
    if !status.success() {
        stderr.wait_for_end(STDERR_PATIENCE);
        let said = [stderr.text(), output].map(|text| text.trim().to_owned());
        let said = said.iter().find(|text| !text.is_empty()).and_then(|text| text.lines().last());
        return Err(match said {
            Some(line) => format!("{program} ended with {status}: {line}"),
            None => format!("{program} ended with {status} and said nothing"),
        });
    }
    Ok(Finished { output, cpu })
}

/// What is printed, up to a limit; the rest is read too, so that the program does not wait.
fn read(mut stdout: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = stdout.by_ref().take(OUTPUT_LIMIT_BYTES).read_to_end(&mut bytes);
    let _ = std::io::copy(&mut stdout, &mut std::io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}
