//! CPU time of the processes of servers on this host.

use rustix::process::Pid;

/// CPU time of each process so far, in nanoseconds; none of one that has ended.
#[must_use]
pub fn read(pids: &[i32]) -> Vec<Option<u64>> {
    pids.iter().map(|pid| of(Pid::from_raw(*pid)?)).collect()
}

/// CPU time of a process so far, in nanoseconds; none of one that has ended.
#[must_use]
pub fn of(pid: Pid) -> Option<u64> {
    wirebench_sys::cpu_clock::process_cpu_ns(pid).ok()
}

/// The growth between two readings of the same processes, where each could be read at both.
pub(crate) fn grown_ns(start_ns: &[Option<u64>], end_ns: &[Option<u64>]) -> Option<u64> {
    let grown =
        start_ns.iter().zip(end_ns).map(|(start, end)| Some((*end)?.saturating_sub((*start)?)));
    let sum = grown.sum::<Option<u64>>()?;
    (!start_ns.is_empty() && start_ns.len() == end_ns.len()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_does_not_exist_has_no_clock() {
        let own = std::process::id().cast_signed();
        // The kernel gives no process the number PID_MAX_LIMIT.
        let readings: Vec<bool> = read(&[4_194_304, own]).iter().map(Option::is_some).collect();
        assert_eq!(readings, [false, true]);
    }
    #[test]
    fn a_process_that_ends_within_the_visit_leaves_no_figure() {
        assert_eq!(grown_ns(&[Some(5), Some(1)], &[Some(9), Some(4)]), Some(7));
        assert_eq!(grown_ns(&[Some(5), Some(1)], &[Some(9), None]), None);
        assert_eq!(grown_ns(&[], &[]), None);
    }
}
