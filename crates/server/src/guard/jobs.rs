//! The guard of jobs: builds, fetches and other commands that wirebench runs to their end. One
//! such process ends what all of them have started when wirebench is killed.
//!
//! It is not the parent of the jobs: it finds their processes by the mark in their environment.
//! When wirebench ends by itself it leaves alone what jobs started to stay, such as compiler
//! servers.

use std::{
    io::{self, Read, Write},
    process::{Child, Command, ExitCode, Stdio},
};

use crate::{command, parallel, tree};

/// The argument that makes the guard one of jobs; the number of wirebench's process follows.
pub(super) const OPTION: &str = "--jobs-of";

/// wirebench's side of the guard. Dropping it ends the guard and nothing else.
#[derive(Debug)]
pub struct JobGuard(Child);

impl JobGuard {
    /// Starts the guard of this process's jobs by `guard_command`.
    pub fn start(guard_command: &[String]) -> io::Result<Self> {
        let mut guard = Command::new(&guard_command[0]);
        guard.args(&guard_command[1..]).args([OPTION, &std::process::id().to_string()]);
        guard.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A Ctrl-C at the terminal is for wirebench alone, which then ends its jobs.
        std::os::unix::process::CommandExt::process_group(&mut guard, 0);
        guard.spawn().map(Self).map_err(parallel::at_limit)
    }
}

impl Drop for JobGuard {
    fn drop(&mut self) {
        if let Some(mut lifeline) = self.0.stdin.take() {
            let _ = lifeline.write_all(b"end");
        }
        let _ = self.0.wait();
    }
}

/// Waits for the end of wirebench, the process `owner`. Without a word from it the end was sudden,
/// and the processes of its jobs are killed.
pub(super) fn main(owner: &str) -> ExitCode {
    let mut word = Vec::new();
    let _ = io::stdin().lock().read_to_end(&mut word);
    if word.is_empty() {
        tree::kill_marked(command::MARK, &|value| tree::is_mark_of(value, owner));
    }
    ExitCode::SUCCESS
}
