//! The events that `perf` counts: the system calls that servers make for requests, each by its name, all system
//! calls together, and context switches.

use std::path::Path;

pub(super) const CALL: &str = "syscalls:sys_enter_";
pub(super) const ALL_CALLS: &str = "raw_syscalls:sys_enter";
pub(super) const SWITCHES: &str = "context-switches";
/// The name of all system calls that are not in the list.
pub(super) const OTHER: &str = "other";

/// Where the kernel has a folder for each system call.
pub(super) const FOLDER: &str = "/sys/kernel/tracing/events/syscalls";

/// System calls by name. The kernel takes up to 40 ms for each, so that all of them would take up to 15 s.
const CALLS: &str = "
    accept accept4 brk clock_gettime clock_nanosleep close epoll_ctl epoll_pwait epoll_pwait2 epoll_wait fcntl
    futex futex_wait futex_wake getpid getrandom getsockopt gettid io_uring_enter ioctl madvise mmap mprotect
    munmap nanosleep newfstat openat poll ppoll pread64 pselect6 read readv recvfrom recvmmsg recvmsg
    rt_sigprocmask sched_yield select sendfile64 sendmmsg sendmsg sendto setsockopt splice tgkill
    timerfd_settime write writev
";

/// The events as one argument. Kernels lack some of the system calls.
pub(super) fn list() -> String {
    let exists = |call: &&str| Path::new(FOLDER).join(format!("sys_enter_{call}")).is_dir();
    let calls = CALLS.split_whitespace().filter(exists).map(|call| format!("{CALL}{call}"));
    calls.chain([ALL_CALLS, SWITCHES].map(str::to_owned)).collect::<Vec<_>>().join(",")
}
