//! CPU time of the processes of servers on this host, around and within a load.

use rustix::process::Pid;
use std::{
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::{agent::LoadProcesses, load::EdgeClocks};

/// A server is at rest when it uses at most this share of a CPU.
const REST_SHARE: f64 = 0.02;

/// The time between two looks whether all servers are at rest, and how long they may take. A server
/// that spins while it waits would take for ever.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
const REST_WITHIN: Duration = Duration::from_millis(40);

/// CPU time of each process so far, in nanoseconds; none of one that has ended.
#[must_use]
pub fn read(pids: &[i32]) -> Vec<Option<u64>> {
    let clock = |pid: &i32| {
        Pid::from_raw(*pid).and_then(|pid| wirebench_sys::cpu_clock::process_cpu_ns(pid).ok())
    };
    pids.iter().map(clock).collect()
}

/// The sum over the processes of each server.
#[must_use]
pub fn sums(servers: &[LoadProcesses]) -> Vec<u64> {
    servers.iter().map(|server| read(&server.pids).into_iter().flatten().sum()).collect()
}

/// Waits until no server uses CPU time any more, or for so long that it will not. Returns the sums
/// then.
#[must_use]
pub fn wait_for_rest(servers: &[LoadProcesses]) -> Vec<u64> {
    let began = Instant::now();
    wait((sums(servers), Duration::ZERO), || {
        thread::sleep(BETWEEN_LOOKS);
        (sums(servers), began.elapsed())
    })
}

/// How much the sum of each server has grown, by load.
#[must_use]
pub fn used(servers: &[LoadProcesses], before: &[u64], after: &[u64]) -> Vec<(u32, u64)> {
    let grown = before.iter().zip(after).map(|(before, after)| after.saturating_sub(*before));
    servers.iter().map(|server| server.load).zip(grown).collect()
}

/// The growth between the edges, where each process could be read at both.
#[must_use]
pub fn counted_ns(edges: &EdgeClocks) -> Option<u64> {
    let pairs = edges.start_ns.iter().zip(&edges.end_ns);
    let grown = pairs.map(|(start, end)| Some((*end)?.saturating_sub((*start)?)));
    let sum = grown.sum::<Option<u64>>()?;
    (!edges.start_ns.is_empty() && edges.start_ns.len() == edges.end_ns.len()).then_some(sum)
}

/// Looks until two looks in a row say that nothing works. Each has the sums and the time passed.
fn wait(first: (Vec<u64>, Duration), mut look: impl FnMut() -> (Vec<u64>, Duration)) -> Vec<u64> {
    let (mut last, mut last_at) = first;
    while last_at < REST_WITHIN {
        let (now, at) = look();
        let used_ns: u64 = now.iter().zip(&last).map(|(now, last)| now.saturating_sub(*last)).sum();
        let length_ns = at.saturating_sub(last_at).as_nanos();
        (last, last_at) = (now, at);
        if (used_ns as f64) <= REST_SHARE * length_ns as f64 {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at two servers, of which the second works for this long.
    fn waited(works: Duration) -> (usize, Vec<u64>) {
        let (mut looks, mut passed) = (0, Duration::ZERO);
        let sums = wait((vec![5, 7], passed), || {
            looks += 1;
            passed += BETWEEN_LOOKS;
            let worked = u64::try_from(passed.min(works).as_nanos()).unwrap();
            (vec![5, 7 + worked], passed)
        });
        (looks, sums)
    }

    #[test]
    fn a_server_that_still_works_is_waited_for_and_one_that_spins_not_for_ever() {
        assert_eq!(waited(Duration::ZERO), (1, vec![5, 7]));
        assert_eq!(waited(Duration::from_millis(3)), (4, vec![5, 3_000_007]));
        assert_eq!(waited(Duration::MAX), (40, vec![5, 40_000_007]));
    }

    #[test]
    fn a_process_that_does_not_exist_has_no_clock() {
        let own = std::process::id().cast_signed();
        // The kernel gives no process the number PID_MAX_LIMIT.
        let readings: Vec<bool> = read(&[4_194_304, own]).iter().map(Option::is_some).collect();
        assert_eq!(readings, [false, true]);
        assert!(sums(&[LoadProcesses { load: 0, pids: vec![own] }])[0] > 0);
    }
    #[test]
    fn a_process_that_ends_within_the_slice_leaves_no_figure() {
        let edges = |start_ns, end_ns| EdgeClocks { start_ns, end_ns, series_ns: Vec::new() };
        assert_eq!(counted_ns(&edges(vec![Some(5), Some(1)], vec![Some(9), Some(4)])), Some(7));
        assert_eq!(counted_ns(&edges(vec![Some(5), Some(1)], vec![Some(9), None])), None);
        assert_eq!(counted_ns(&EdgeClocks::default()), None);
    }
}
