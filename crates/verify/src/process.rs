//! What `/proc` tells of a server's processes: their CPUs, their threads, and its connections.

use procfs::net::{TcpNetEntry, TcpState};
use rustix::process::Pid;
use std::{
    fs,
    time::{Duration, Instant},
};
use wirebench_host::topology::parse_list;

/// One thread of a tree: the numbers of its process and its own.
type ThreadId = (i32, i32);

/// Threads of the kernel that work for `io_uring` are listed among the process's own.
pub(super) const KERNEL_THREAD_PREFIX: &str = "iou-";

/// All threads of the processes, with their folders below `/proc`.
pub(super) fn threads(pids: &[Pid]) -> Vec<(ThreadId, String)> {
    let mut found = Vec::new();
    for pid in pids {
        let pid = pid.as_raw_nonzero().get();
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        for task in tasks {
            if let Some(tid) = task.file_name().to_str().and_then(|name| name.parse().ok()) {
                found.push(((pid, tid), format!("/proc/{pid}/task/{tid}")));
            }
        }
    }
    found
}

/// Each thread of the tree may run only on `allowed`.
pub(super) fn affinity(pids: &[Pid], allowed: &[u32]) -> Result<(), String> {
    let mut seen = 0;
    for ((pid, tid), folder) in threads(pids) {
        let Ok(status) = fs::read_to_string(format!("{folder}/status")) else { continue };
        let Some(list) = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        else {
            continue;
        };
        let list = list.trim();
        let Some(cpus) = parse_list(list) else { continue };
        seen += 1;
        if cpus.iter().any(|cpu| !allowed.contains(cpu)) {
            let name = fs::read_to_string(format!("{folder}/comm")).unwrap_or_default();
            return Err(format!(
                "thread {tid} ({}) of process {pid} may run on the CPUs {list}, the server was given {}",
                name.trim(),
                allowed.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
            ));
        }
    }
    if seen == 0 { Err("the server has no thread whose CPUs can be read".into()) } else { Ok(()) }
}

fn connections(port: u16) -> Result<Vec<TcpNetEntry>, String> {
    let tables = [procfs::net::tcp(), procfs::net::tcp6()];
    // A kernel without IPv6 has no second table; without the first nothing can be said.
    let [Ok(first), second] = tables else {
        return Err("the kernel's table of connections cannot be read".into());
    };
    let all = first.into_iter().chain(second.into_iter().flatten());
    Ok(all.filter(|entry| entry.local_address.port() == port).collect())
}

/// Bytes that wait in the kernel at the server's side of a connection. While they change, the
/// server makes progress.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Waiting {
    to_be_sent: u32,
    to_be_read: u32,
}

/// The server's side of the connection from `client_port`, while it is in one of these states.
fn connection(
    server_port: u16,
    client_port: u16,
    states: &[TcpState],
) -> Result<Option<TcpNetEntry>, String> {
    let is_meant =
        |it: &TcpNetEntry| it.remote_address.port() == client_port && states.contains(&it.state);
    Ok(connections(server_port)?.into_iter().find(is_meant))
}

/// What waits at the server's side of the connection from `client_port`; nothing once that is no
/// longer open in both directions.
pub(super) fn waiting(server_port: u16, client_port: u16) -> Result<Option<Waiting>, String> {
    let open = [TcpState::Established, TcpState::CloseWait];
    let found = connection(server_port, client_port, &open)?;
    Ok(found.map(|it| Waiting { to_be_sent: it.tx_queue, to_be_read: it.rx_queue }))
}

/// Waits until the server has sent all that the kernel takes from it on the connection from
/// `client_port`: bytes wait in the kernel, and for a while no more come. For at most `most`.
pub(super) fn wait_until_blocked(
    server_port: u16,
    client_port: u16,
    most: Duration,
) -> Result<(), String> {
    const SETTLED: Duration = Duration::from_millis(200);
    let until = Instant::now() + most;
    let mut last = (0, Instant::now());
    while Instant::now() < until {
        let waiting = connections(server_port)?
            .iter()
            .find(|entry| entry.remote_address.port() == client_port)
            .map_or(0, |entry| entry.tx_queue);
        if waiting != last.0 {
            last = (waiting, Instant::now());
        } else if waiting > 0 && last.1.elapsed() > SETTLED {
            break;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    Ok(())
}

/// The inode numbers of the server's side of its open connections.
pub(super) fn connection_inodes(server_port: u16) -> Result<Vec<u64>, String> {
    let open = connections(server_port)?.into_iter();
    Ok(open.filter(|e| e.state == TcpState::Established).map(|e| e.inode).collect())
}

/// The inode number of the server's side of the open connection from `client_port`.
pub(super) fn connection_inode(server_port: u16, client_port: u16) -> Result<Option<u64>, String> {
    let found = connection(server_port, client_port, &[TcpState::Established])?;
    Ok(found.map(|entry| entry.inode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::Write,
        net::{TcpListener, TcpStream},
    };

    #[test]
    fn a_process_on_other_cpus_than_asked_is_found() {
        let own = [rustix::process::getpid()];
        let all: Vec<u32> = (0..1024).collect();
        assert_eq!(affinity(&own, &all), Ok(()));
        let finding = affinity(&own, &[]).unwrap_err();
        assert!(finding.contains("may run on the CPUs"), "{finding}");
        assert!(affinity(&[], &all).is_err());
    }

    #[test]
    fn a_connection_is_open_until_the_server_closes_it_and_what_waits_in_it_is_known() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let client_port = client.local_addr().unwrap().port();
        let (server, _) = listener.accept().unwrap();
        assert_eq!(waiting(port, client_port), Ok(Some(Waiting::default())));
        client.write_all(b"abc").unwrap();
        let unread = Waiting { to_be_sent: 0, to_be_read: 3 };
        assert_eq!(waiting(port, client_port), Ok(Some(unread)));
        // Another test may use the same port at another address.
        let inode = connection_inode(port, client_port).unwrap().unwrap();
        assert!(connection_inodes(port).unwrap().contains(&inode));
        assert_eq!(connection_inode(port, 0), Ok(None));
        drop(server);
        assert_eq!(waiting(port, client_port), Ok(None));
    }
}
