//! The process tree below one process, as `/proc` shows it.

use procfs::process::{FDTarget, Process, all_processes};
use rustix::process::Pid;
use std::collections::BTreeMap;

/// All living descendants of `root`, without itself. Processes that have ended and wait to be
/// reaped are left out.
#[must_use]
pub fn descendants(root: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    // A process that vanishes between the listing and the reading has no place in the tree any
    // more.
    let stats = all_processes().into_iter().flatten().flatten().filter_map(|p| p.stat().ok());
    for stat in stats.filter(|stat| stat.state != 'Z') {
        children.entry(stat.ppid).or_default().push(stat.pid);
    }
    let mut found = Vec::new();
    let mut open = vec![root.as_raw_nonzero().get()];
    while let Some(parent) = open.pop() {
        for &child in children.get(&parent).into_iter().flatten() {
            open.push(child);
            found.extend(Pid::from_raw(child));
        }
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
    let Some(table) = process(pid).and_then(|process| process.fd().ok()) else {
        return Vec::new();
    };
    table.flatten().map(|fd| (fd.fd, fd.target)).collect()
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
