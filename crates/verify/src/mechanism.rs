//! Whether a server learns of events the way that its entry declares, as the kernel shows it in
//! `/proc/PID/fdinfo`.
//!
//! What counts is what serves the connections: an epoll instance that watches none, or a ring that
//! completes nothing, is no mechanism. Many runtimes open such for other purposes.

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};
use wirebench_schema::{entry::Mechanism, scenario::Protocol};
use wirebench_server::{launch::Server, tree};

use super::{process, protocols::support, show};

/// Requests that are served while the rings are watched.
const REQUESTS: u32 = 20;
/// Completions for this many requests show that a ring serves them. A server that first tries without
/// the ring, or takes several events at once, has fewer than one for each.
const COMPLETIONS_LEAST: u32 = REQUESTS / 4;
/// Between requests, so that the server has to wait for each.
const PAUSE: Duration = Duration::from_millis(1);
/// How long to look for a state that may be absent for a moment while the server handles an event.
const LOOK: Duration = Duration::from_millis(500);

/// What was found in a process tree.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Found {
    epolls: usize,
    /// Epoll instances that watch a connection.
    epolls_in_use: usize,
    rings: usize,
    /// What the rings completed while [`REQUESTS`] were served.
    completions: u32,
}

impl Found {
    const fn uses_rings(self) -> bool {
        self.completions >= COMPLETIONS_LEAST
    }

    fn judge(self, declared: Mechanism) -> Result<(), String> {
        let contradiction = match declared {
            Mechanism::IoUring if self.uses_rings() => return Ok(()),
            Mechanism::Epoll if self.epolls_in_use > 0 && !self.uses_rings() => return Ok(()),
            Mechanism::Blocking if self.epolls_in_use == 0 && !self.uses_rings() => return Ok(()),
            Mechanism::IoUring if self.rings == 0 => "no process of it has a ring open",
            Mechanism::IoUring => "its rings do not serve the requests",
            Mechanism::Epoll if self.epolls == 0 => "no process of it has an epoll instance open",
            Mechanism::Epoll if self.epolls_in_use == 0 => {
                "none of its epoll instances watches a connection"
            }
            Mechanism::Epoll => "its rings serve the requests",
            Mechanism::Blocking => "it does not wait in calls that block",
        };
        Err(format!("declares {declared}, but {contradiction}; {}", self.describe()))
    }

    fn describe(self) -> String {
        let epoll = match (self.epolls, self.epolls_in_use) {
            (0, _) => None,
            (_, 0) => Some("it has an epoll instance, which watches no connection".to_owned()),
            _ => Some("it has an epoll instance that watches its connections".to_owned()),
        };
        let ring = (self.rings > 0).then(|| {
            let completions = show::count(self.completions as usize, "operation", "operations");
            format!("it has a ring, which completed {completions} during {REQUESTS} requests")
        });
        match (epoll, ring) {
            (Some(epoll), Some(ring)) => format!("{epoll}, and {ring}"),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => "it has neither an epoll instance nor a ring".to_owned(),
        }
    }
}

/// Serves requests and compares what the kernel shows with what is declared.
pub(super) fn check(
    server: &Server,
    protocol: Protocol,
    declared: Mechanism,
) -> Result<(), String> {
    let mut streams = Vec::new();
    for _ in 0..4 {
        streams.push((support(protocol).open)(server.address())?);
    }
    for stream in &mut streams {
        stream.exchange()?;
    }
    let (mut found, before) = look(server)?;
    for _ in 0..REQUESTS {
        streams[0].exchange()?;
        std::thread::sleep(PAUSE);
    }
    let after = look(server)?.1;
    found.rings = after.len();
    found.completions = after
        .iter()
        .map(|(ring, tail)| tail.wrapping_sub(before.get(ring).copied().unwrap_or(0)))
        .fold(0, u32::saturating_add);
    found.judge(declared)
}

/// Completion counts of rings by process and descriptor.
type Rings = BTreeMap<(i32, i32), u32>;

fn look(server: &Server) -> Result<(Found, Rings), String> {
    let pids = server.tree();
    let until = Instant::now() + LOOK;
    loop {
        let inodes = process::connection_inodes(server.address().port())?;
        let mut found = Found::default();
        let mut rings = Rings::new();
        let mut hidden = false;
        for &pid in &pids {
            for (fd, target) in tree::descriptors(pid) {
                let procfs::process::FDTarget::AnonInode(kind) = target else { continue };
                let number = pid.as_raw_nonzero().get();
                let Ok(info) = fs::read_to_string(format!("/proc/{number}/fdinfo/{fd}")) else {
                    continue;
                };
                if kind.contains("eventpoll") {
                    found.epolls += 1;
                    let used = watched_inodes(&info).any(|inode| inodes.contains(&inode));
                    found.epolls_in_use += usize::from(used);
                } else if kind.contains("io_uring") {
                    let tail = completion_tail(&info);
                    // The kernel skips the figures while another thread holds the ring's lock.
                    hidden |= tail.is_none();
                    rings.insert((number, fd), tail.unwrap_or(0));
                }
            }
        }
        let settled = !hidden && (found.epolls == 0 || found.epolls_in_use > 0);
        if settled || Instant::now() > until {
            return Ok((found, rings));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The inode numbers that an epoll instance watches.
fn watched_inodes(info: &str) -> impl Iterator<Item = u64> {
    info.lines().filter(|line| line.starts_with("tfd:")).filter_map(|line| {
        let inode = line.split_whitespace().find_map(|word| word.strip_prefix("ino:"))?;
        u64::from_str_radix(inode, 16).ok()
    })
}

/// How many completions a ring has posted, modulo 2^32.
fn completion_tail(info: &str) -> Option<u32> {
    info.lines().find_map(|line| line.strip_prefix("CqTail:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_texts_are_read() {
        let epoll = "pos:\t0\nflags:\t02000002\nino:\t1038\n\
            tfd:        3 events:       19 data:                3  pos:0 ino:10475 sdev:9\n";
        assert_eq!(watched_inodes(epoll).collect::<Vec<_>>(), [66677]);
        assert_eq!(watched_inodes("pos:\t0\n").count(), 0);
        let ring = "SqMask:\t0xff\nCqHead:\t7\nCqTail:\t41\nCachedCqTail:\t42\nPollList:\n";
        assert_eq!(completion_tail(ring), Some(41));
        assert_eq!(completion_tail("pos:\t0\n"), None);
    }

    #[test]
    fn what_was_found_is_compared_with_what_was_declared() {
        use Mechanism::{Blocking, Epoll, IoUring};
        let epoll = Found { epolls: 2, epolls_in_use: 1, ..Found::default() };
        let idle_epoll = Found { epolls: 1, ..Found::default() };
        let ring = Found { rings: 1, completions: 40, ..Found::default() };
        let idle_ring = Found { rings: 1, ..epoll };
        let none = Found::default();
        for (found, declared, words) in [
            (epoll, Epoll, None),
            (idle_ring, Epoll, None),
            (ring, IoUring, None),
            (none, Blocking, None),
            (idle_epoll, Blocking, None),
            (epoll, IoUring, Some("no process of it has a ring open; it has an epoll instance")),
            (idle_ring, IoUring, Some("which completed 0 operations during 20 requests")),
            (none, IoUring, Some("it has neither an epoll instance nor a ring")),
            (none, Epoll, Some("declares epoll, but no process of it has an epoll instance open")),
            (idle_epoll, Epoll, Some("none of its epoll instances watches a connection")),
            (
                Found { epolls: 1, epolls_in_use: 1, ..ring },
                Epoll,
                Some("its rings serve the requests"),
            ),
            (epoll, Blocking, Some("it has an epoll instance that watches its connections")),
            (ring, Blocking, Some("which completed 40 operations")),
        ] {
            match (found.judge(declared), words) {
                (Ok(()), None) => {}
                (Err(finding), Some(words)) if finding.contains(words) => {}
                (outcome, _) => panic!("{found:?} as {declared}: {outcome:?}"),
            }
        }
    }
}
