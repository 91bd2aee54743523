//! Settings of a child process between `fork` and `exec`: its CPUs, and a signal when its parent
//! ends.

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::{io, os::unix::process::CommandExt, process::Command};

/// Makes the kernel kill the child when the thread that starts it ends, also by `kill -9`.
///
/// The signal follows the *thread*: start the child from one that lives as long as the child shall.
pub fn die_with_parent(command: &mut Command) {
    let parent = getpid();
    let arm = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the signal was armed; then no signal would come.
        if getppid() != Some(parent) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe work is allowed; `arm` makes two system
    // calls and neither allocates nor locks.
    unsafe { command.pre_exec(arm) };
}

/// Binds the child to `cpus` before its program begins.
pub fn on_cpus(command: &mut Command, cpus: &[u32]) -> io::Result<()> {
    let set = crate::affinity::set_of(cpus)?;
    let bind = move || Ok(rustix::thread::sched_setaffinity(None, &set)?);
    // SAFETY: `bind` makes one system call with a set that was filled before the fork.
    unsafe { command.pre_exec(bind) };
    Ok(())
}
