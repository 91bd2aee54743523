//! Which sockets take the connections to an address, and whose they are. Several processes can
//! listen on one port (`SO_REUSEPORT`); the kernel then shares the connections among them.

use procfs::{
    net::TcpState,
    process::{FDTarget, all_processes},
};
use rustix::process::Pid;
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use super::inet_diag;
use crate::tree;

/// The sockets to which the kernel gives connections to `address`, each by its inode.
pub(super) fn taking(address: SocketAddr) -> BTreeSet<u64> {
    choose(&listening(), address)
}

/// The addresses on which `processes` listen.
pub(super) fn of(processes: &[Pid]) -> BTreeSet<SocketAddr> {
    let all = listening().into_iter();
    let own = all.filter(|(_, socket)| processes.iter().any(|pid| holds(*pid, *socket)));
    own.map(|(local, _)| local).collect()
}

/// The addresses and inodes of all listening sockets.
fn listening() -> Vec<(SocketAddr, u64)> {
    inet_diag::listening().unwrap_or_else(|_| in_tables())
}

/// Reads the kernel's tables, because some kernels and sandboxes lack `inet_diag`.
fn in_tables() -> Vec<(SocketAddr, u64)> {
    let tables = [procfs::net::tcp(), procfs::net::tcp6()];
    let all = tables.into_iter().flatten().flatten();
    let listening = all.filter(|entry| entry.state == TcpState::Listen);
    listening.map(|entry| (entry.local_address, entry.inode)).collect()
}

/// Listeners on exactly the address win over those on all addresses.
fn choose(all: &[(SocketAddr, u64)], address: SocketAddr) -> BTreeSet<u64> {
    let target = match address.ip().to_canonical() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let matching = |matches: &dyn Fn(IpAddr) -> bool| -> BTreeSet<u64> {
        let on_port = all.iter().filter(|(local, _)| local.port() == address.port());
        let chosen = on_port.filter(|(local, _)| matches(local.ip().to_canonical()));
        chosen.map(|(_, inode)| *inode).collect()
    };
    let exact = matching(&|local| local == target);
    if !exact.is_empty() {
        return exact;
    }
    // A listener on all addresses of IPv6 usually takes connections over IPv4 as well.
    matching(&|local| local.is_unspecified() && (target.is_ipv4() || local.is_ipv6()))
}

/// Those of `sockets` that none of `processes` holds.
pub(super) fn foreign(mut sockets: BTreeSet<u64>, processes: &[Pid]) -> BTreeSet<u64> {
    for pid in processes {
        sockets.retain(|socket| !holds(*pid, *socket));
    }
    sockets
}

/// All processes that hold one of `sockets`. Processes of other users may hide theirs.
pub(super) fn holders(sockets: &BTreeSet<u64>) -> Vec<Pid> {
    let all = all_processes().into_iter().flatten().flatten();
    let pids = all.filter_map(|process| Pid::from_raw(process.pid));
    pids.filter(|pid| sockets.iter().any(|socket| holds(*pid, *socket))).collect()
}

/// The process that holds `socket`. Processes of other users may hide theirs.
pub(super) fn holder(socket: u64) -> Option<Pid> {
    holders(&BTreeSet::from([socket])).into_iter().next()
}

pub(super) fn named(holder: Option<Pid>) -> String {
    holder.map_or("another process".to_owned(), |pid| {
        format!("process {} ({})", pid.as_raw_nonzero(), tree::name(pid))
    })
}

fn holds(pid: Pid, socket: u64) -> bool {
    let is_it = |target| matches!(target, FDTarget::Socket(inode) if inode == socket);
    tree::descriptors(pid).into_iter().any(|(_, target)| is_it(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::getpid;
    use std::{
        net::TcpListener,
        thread,
        time::{Duration, Instant},
    };

    #[test]
    fn the_process_that_holds_a_listening_socket_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sockets = taking(address);
        assert_eq!(sockets.len(), 1);
        assert_eq!(foreign(sockets.clone(), &[]), sockets);
        assert_eq!(foreign(sockets.clone(), &[getpid()]), BTreeSet::new());
        assert!(of(&[getpid()]).contains(&address));
        let named = named(holder(*sockets.first().unwrap()));
        assert!(named.starts_with(&format!("process {} (", std::process::id())), "{named}");
        drop(listener);
        // A child that another test starts just now has the socket until it executes its program.
        let begun = Instant::now();
        while !taking(address).is_empty() && begun.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(taking(address), BTreeSet::new());
        assert_eq!(super::named(holder(u64::MAX)), "another process");
    }

    #[test]
    fn the_kernel_tells_the_same_in_both_ways() {
        let listeners = ["127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0"];
        let listeners: Vec<_> = listeners.iter().flat_map(TcpListener::bind).collect();
        assert!(listeners.len() >= 2);
        let (diag, tables) = (inet_diag::listening().unwrap(), in_tables());
        for address in listeners.iter().map(|it| it.local_addr().unwrap()) {
            let [diag, tables] = [&diag, &tables]
                .map(|it| it.iter().filter(|it| it.0 == address).collect::<Vec<_>>());
            assert_eq!((diag.len(), &diag), (1, &tables));
        }
    }

    #[test]
    fn listeners_on_the_very_address_win_over_those_on_all_addresses() {
        let all: Vec<(SocketAddr, u64)> = [
            "127.0.0.1:80",
            "127.0.0.1:80",
            "127.0.0.2:80",
            "0.0.0.0:80",
            "[::]:80",
            "[::1]:80",
            "[::ffff:127.0.0.1]:80",
            "0.0.0.0:81",
            "[::]:81",
        ]
        .into_iter()
        .map(|text| text.parse().unwrap())
        .zip(0..)
        .collect();
        let rows: [(&str, &[u64]); 8] = [
            ("127.0.0.1:80", &[0, 1, 6]),
            ("0.0.0.0:80", &[0, 1, 6]),
            ("127.0.0.2:80", &[2]),
            ("127.0.0.3:80", &[3, 4]),
            ("[::1]:80", &[5]),
            ("[::]:80", &[5]),
            ("[::1]:81", &[8]),
            ("127.0.0.1:82", &[]),
        ];
        for (address, expected) in rows {
            let found = choose(&all, address.parse().unwrap());
            assert_eq!(found, expected.iter().copied().collect(), "{address}");
        }
    }
}
