//! CPU time of another process, in nanoseconds, with all of its threads, also those that have
//! ended.

use rustix::process::Pid;
use std::io;

/// CPU time that the process has used since it began.
///
/// Threads of the kernel that work for it, such as those of `io_uring`, belong to it and count. Its
/// children do not. The clock is that of clock_getcpuclockid(3). `ESRCH` when there is no such
/// process.
pub fn process_cpu_ns(pid: Pid) -> io::Result<u64> {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: `clock` is a valid place for the result.
    let error = unsafe { libc::clock_getcpuclockid(pid.as_raw_nonzero().get(), &raw mut clock) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result; an unknown clock is answered with EINVAL.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let nanoseconds = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    u64::try_from(nanoseconds).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::getpid;

    #[test]
    fn the_clock_counts_threads_that_have_ended() {
        let before = process_cpu_ns(getpid()).unwrap();
        std::thread::spawn(|| std::hint::black_box((0..3_000_000u64).fold(0, u64::wrapping_add)))
            .join()
            .unwrap();
        let after = process_cpu_ns(getpid()).unwrap();
        assert!(after > before, "{before} to {after}");
    }

    #[test]
    fn a_process_that_does_not_exist_is_an_error() {
        // The kernel's PID_MAX_LIMIT is the first number that no process can have.
        let unused = Pid::from_raw(4_194_304).unwrap();
        assert!(process_cpu_ns(unused).is_err());
    }
}
