//! The scheduling class of this thread.

use std::io;

/// The lowest real-time priority that still precedes those of most other programs.
const PRIORITY: i32 = 10;

/// From now on this thread runs before all threads of the usual class (`SCHED_FIFO`, sched(7)). `EPERM` without
/// `CAP_SYS_NICE` or a limit on real-time priorities that allows it.
pub fn run_before_others() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: `parameters` is valid for the call; 0 is this thread.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_run_before_others_or_lacks_the_right() {
        let result = std::thread::spawn(run_before_others).join().unwrap();
        let is_refused = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        assert!(result.is_ok_and(|()| true) || is_refused(run_before_others().unwrap_err()));
    }
}
