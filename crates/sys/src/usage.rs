//! Resource usage of a child process at its end.

use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::{Child, ExitStatus},
    time::Duration,
};

/// Waits for the end of `child`, and returns how it ended and its CPU time, user and system
/// together, with that of the children that it has waited for itself. See wait4(2).
pub fn wait(child: &mut Child) -> io::Result<(ExitStatus, Duration)> {
    // A child that waits for input would never end.
    drop(child.stdin.take());
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    loop {
        let mut status = 0;
        // SAFETY: zeroes are a valid value of this plain structure of numbers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to valid places for the results. The process is a child that
        // has not been waited for, because `child` is borrowed and would know.
        let result = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if result == pid {
            let cpu = duration(usage.ru_utime) + duration(usage.ru_stime);
            return Ok((ExitStatus::from_raw(status), cpu));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    // The kernel's times are never negative.
    let microseconds = i128::from(time.tv_sec) * 1_000_000 + i128::from(time.tv_usec);
    Duration::from_micros(u64::try_from(microseconds).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_that_works_has_used_time_and_its_exit_code_is_known() {
        let work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 3";
        let mut child = Command::new("sh").args(["-c", work]).spawn().unwrap();
        let (status, cpu) = wait(&mut child).unwrap();
        assert_eq!(status.code(), Some(3));
        assert!(cpu > Duration::ZERO);
    }

    #[test]
    fn a_child_that_waits_for_input_ends() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        assert!(wait(&mut child).unwrap().0.success());
    }

    #[test]
    fn waiting_twice_is_an_error() {
        let mut child = Command::new("true").spawn().unwrap();
        wait(&mut child).unwrap();
        assert!(wait(&mut child).is_err());
    }
}
