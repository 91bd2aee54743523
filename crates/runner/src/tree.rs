//! The process tree below one process, as `/proc` shows it.

use procfs::process::{FDTarget, Process, Stat, all_processes};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

/// All living descendants of `root`, without itself.
///
/// Processes that have ended and wait to be reaped are left out. One whose first thread has ended
/// while others go on is alive.
#[must_use]
pub fn descendants(root: Pid) -> Vec<Pid> {
    let found = below(root).into_iter();
    let alive = found.filter(|stat| stat.state != 'Z' || stat.num_threads > 1);
    alive.filter_map(|stat| Pid::from_raw(stat.pid)).collect()
}

/// What `/proc/PID/stat` shows of all descendants of `root`, without itself, also of those that
/// have ended and wait to be reaped.
#[must_use]
pub fn below(root: Pid) -> Vec<Stat> {
    let mut children: BTreeMap<i32, Vec<Stat>> = BTreeMap::new();
    // A process that vanishes between the listing and the reading has no place in the tree any
    // more.
    for stat in all_processes().into_iter().flatten().flatten().filter_map(|p| p.stat().ok()) {
        children.entry(stat.ppid).or_default().push(stat);
    }
    let mut found = Vec::new();
    let mut open = vec![root.as_raw_nonzero().get()];
    while let Some(parent) = open.pop() {
        let children = children.remove(&parent).unwrap_or_default();
        open.extend(children.iter().map(|child| child.pid));
        found.extend(children);
    }
    found
}

/// The name of a process, or `?` when it is gone.
#[must_use]
pub fn name(pid: Pid) -> String {
    process(pid).and_then(|process| process.stat().ok()).map_or("?".to_owned(), |stat| stat.comm)
}

/// The handle on one process, if it exists.
#[must_use]
pub fn process(pid: Pid) -> Option<Process> {
    Process::new(pid.as_raw_nonzero().get()).ok()
}

/// What the open descriptors of a process point to.
#[must_use]
pub fn descriptors(pid: Pid) -> Vec<(i32, FDTarget)> {
    let Some(process) = process(pid) else { return Vec::new() };
    let mut found: Vec<(i32, FDTarget)> =
        process.fd().into_iter().flatten().flatten().map(|fd| (fd.fd, fd.target)).collect();
    if found.is_empty() {
        // The first thread may have ended and taken its view of the table along; the folder of
        // another thread has the same files as a process's.
        let tasks = process.tasks().into_iter().flatten().flatten();
        let handles = tasks.filter_map(|task| {
            let folder = format!("/proc/{}/task/{}", task.pid, task.tid);
            Process::new_with_root(folder.into()).ok()?.fd().ok()
        });
        found.extend(handles.flat_map(Iterator::flatten).map(|fd| (fd.fd, fd.target)));
    }
    found
}

/// All processes that carry the variable `name` with `value` in the environment that they began
/// with, wherever they stand in the tree.
#[must_use]
pub fn marked(name: &str, value: &str) -> Vec<Pid> {
    let (name, value) = (std::ffi::OsStr::new(name), std::ffi::OsStr::new(value));
    let carries = |process: &Process| {
        process.environ().is_ok_and(|variables| variables.get(name).is_some_and(|v| v == value))
    };
    let all = all_processes().into_iter().flatten().flatten();
    all.filter(carries).filter_map(|process| Pid::from_raw(process.pid)).collect()
}

/// A value for a variable of the environment that no other tree of this machine carries.
#[must_use]
pub fn new_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Kills all processes that [`marked`] finds, in rounds until nothing is found any more.
pub fn kill_marked(name: &str, value: &str) {
    /// Longer than the kernel needs to end anything that it can end.
    const PATIENCE: Duration = Duration::from_secs(5);
    let until = Instant::now() + PATIENCE;
    loop {
        let left = marked(name, value);
        if left.is_empty() || Instant::now() >= until {
            return;
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Whether one of `pids` holds the listening TCP socket of `port`.
#[must_use]
pub fn listens(pids: &[Pid], port: u16) -> bool {
    let tables = [procfs::net::tcp(), procfs::net::tcp6()];
    let inodes: Vec<u64> = tables
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            entry.local_address.port() == port && entry.state == procfs::net::TcpState::Listen
        })
        .map(|entry| entry.inode)
        .collect();
    pids.iter()
        .flat_map(|pid| descriptors(*pid))
        .any(|(_, target)| matches!(target, FDTarget::Socket(inode) if inodes.contains(&inode)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_child_is_a_descendant_until_it_has_ended() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        assert!(descendants(rustix::process::getpid()).contains(&pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!descendants(rustix::process::getpid()).contains(&pid));
    }

    #[test]
    fn the_process_that_holds_a_listening_socket_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(listens(&[rustix::process::getpid()], port));
        drop(listener);
        assert!(!listens(&[rustix::process::getpid()], port));
    }
}
