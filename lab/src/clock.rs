//! The CPU clock of another process.

use std::{io, process::Child, time::Duration};

/// CPU time, user and system, that `child` has used since its start, until it is reaped. Its ended threads and the
/// threads of the kernel that work for it count, its children do not: see clock_getcpuclockid(3).
pub(crate) fn cpu(child: &Child) -> io::Result<Duration> {
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut clock: libc::clockid_t = 0;
    // SAFETY: `clock` is a valid place for the result.
    let error = unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let nanoseconds = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    Ok(Duration::from_nanos(u64::try_from(nanoseconds).map_err(io::Error::other)?))
}
