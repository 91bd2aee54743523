//! The process tree below one process, as `/proc` shows it.

use procfs::process::{FDTarget, Process, Stat, all_processes};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

/// All living descendants of `root`, without itself.
///
/// Processes that have ended and wait to be reaped are left out.
#[must_use]
pub fn descendants(root: Pid) -> Vec<Pid> {
    below(root)
        .iter()
        .filter(|stat| lives(stat))
        .filter_map(|stat| Pid::from_raw(stat.pid))
        .collect()
}

/// Whether there is such a process, and it has not ended.
#[must_use]
pub fn is_alive(pid: Pid) -> bool {
    process(pid).and_then(|process| process.stat().ok()).is_some_and(|stat| lives(&stat))
}

/// One whose first thread has ended while others go on is alive.
pub(crate) fn lives(stat: &Stat) -> bool {
    stat.state != 'Z' || stat.num_threads > 1
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

/// The numbers of the children that these processes have right now, without those in `known`. A look takes
/// microseconds, and sees none where the kernel lists no children of threads.
#[must_use]
pub fn children_besides(known: &[Pid]) -> Vec<i32> {
    let processes = known.iter().filter_map(|pid| process(*pid));
    let tasks = processes.flat_map(|process| process.tasks().into_iter().flatten().flatten());
    let children = tasks.flat_map(|task| task.children().unwrap_or_default());
    let known = numbers(known);
    children.map(u32::cast_signed).filter(|child| !known.contains(child)).collect()
}

/// The name of a process, or `?` when it is gone.
#[must_use]
pub fn name(pid: Pid) -> String {
    process(pid).and_then(|process| process.stat().ok()).map_or("?".to_owned(), |stat| stat.comm)
}

/// Processes by their numbers.
#[must_use]
pub fn numbers(pids: &[Pid]) -> Vec<i32> {
    pids.iter().map(|pid| pid.as_raw_nonzero().get()).collect()
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

/// All processes that carry the variable `name` with a value that `is_meant` in the environment that
/// they began with, wherever they are in the tree.
#[must_use]
pub fn marked(name: &str, is_meant: &dyn Fn(&str) -> bool) -> Vec<Pid> {
    let carries = |process: &Process| {
        let value = process.environ().ok().and_then(|mut it| it.remove(OsStr::new(name)));
        value.is_some_and(|value| value.to_str().is_some_and(is_meant))
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

/// Whether `mark` is one that the process with the number `owner` made.
#[must_use]
pub fn is_mark_of(mark: &str, owner: &str) -> bool {
    mark.split_once('-').is_some_and(|(process, _)| process == owner)
}

/// Kills all processes that [`marked`] finds, in rounds until nothing is found any more. One look may
/// miss a process: one that has just been forked is behind the listing, and one that is being replaced
/// by another program has no environment for a moment.
pub fn kill_marked(name: &str, is_meant: &dyn Fn(&str) -> bool) {
    /// Longer than the kernel needs to end anything that it can end.
    const PATIENCE: Duration = Duration::from_secs(5);
    /// Looks in a row that find nothing.
    const EMPTY_LOOKS: u32 = 4;
    let until = Instant::now() + PATIENCE;
    let mut empty = 0;
    while empty < EMPTY_LOOKS && Instant::now() < until {
        let left = marked(name, is_meant);
        empty = if left.is_empty() { empty + 1 } else { 0 };
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_that_waits_to_be_reaped_is_not_alive() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        assert!(is_alive(pid));
        drop(child.stdin.take());
        let until = Instant::now() + Duration::from_secs(5);
        while is_alive(pid) {
            assert!(Instant::now() < until, "it runs on");
            thread::sleep(Duration::from_millis(1));
        }
        child.wait().unwrap();
        assert!(!is_alive(pid));
    }

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
    fn children_are_those_of_the_processes_and_none_that_are_known() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let own = rustix::process::getpid();
        let number = pid.as_raw_nonzero().get();
        assert!(children_besides(&[own]).contains(&number));
        assert!(!children_besides(&[own, pid]).contains(&number));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children_besides(&[own]).contains(&number));
    }

    #[test]
    fn a_mark_names_the_process_that_made_it() {
        let (mark, own) = (new_mark(), std::process::id());
        assert!(is_mark_of(&mark, &own.to_string()));
        assert!(!is_mark_of(&mark, &format!("{own}0")) && !is_mark_of("", ""));
    }
}
