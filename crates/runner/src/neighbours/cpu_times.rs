//! The time of every CPU as `/proc/stat` shows it. It knows no sides and accuses nobody.

use procfs::{CurrentSI, KernelStats};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// What some CPUs were used for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Used {
    /// By programs, and by the kernel for them. Interrupts are left out: some kernels count them
    /// in the time of the program that they interrupt, some do not, and a network server
    /// causes many.
    pub(super) busy_ns: u64,
    /// By the hypervisor's other guests.
    pub(super) stolen_ns: u64,
}

/// The times of every CPU at one moment.
#[derive(Clone, Debug)]
pub(super) struct CpuTimes {
    at: Instant,
    times: BTreeMap<u32, Used>,
}

impl CpuTimes {
    /// Reads them. Where `/proc/stat` cannot be read, there are none.
    pub(super) fn read() -> Self {
        let at = Instant::now();
        let nanoseconds = |ticks: u64| ticks * 1_000_000_000 / procfs::ticks_per_second();
        let stats = KernelStats::current().ok();
        let cpus = stats.into_iter().flat_map(|stats| stats.cpu_time);
        let times = (0..).zip(cpus).map(|(cpu, time)| {
            let busy_ns = nanoseconds(time.user + time.nice + time.system);
            (cpu, Used { busy_ns, stolen_ns: nanoseconds(time.steal.unwrap_or(0)) })
        });
        Self { at, times: times.collect() }
    }

    /// The time since an earlier moment.
    pub(super) fn since(&self, before: &Self) -> Duration {
        self.at.duration_since(before.at)
    }

    /// What `cpus` together were used for since `before`.
    pub(super) fn used_since(&self, before: &Self, cpus: &[u32]) -> Used {
        let since = |cpu: &u32| {
            let (now, then) = (self.times.get(cpu)?, before.times.get(cpu)?);
            Some(Used {
                busy_ns: now.busy_ns.saturating_sub(then.busy_ns),
                stolen_ns: now.stolen_ns.saturating_sub(then.stolen_ns),
            })
        };
        cpus.iter().filter_map(since).fold(Used::default(), |sum, one| Used {
            busy_ns: sum.busy_ns + one.busy_ns,
            stolen_ns: sum.stolen_ns + one.stolen_ns,
        })
    }
}

#[cfg(test)]
impl CpuTimes {
    pub(super) const fn new(at: Instant, times: BTreeMap<u32, Used>) -> Self {
        Self { at, times }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_tells_the_time_of_its_cpus() {
        assert!(!CpuTimes::read().times.is_empty());
    }

    #[test]
    fn only_the_named_cpus_count_and_only_since_then() {
        let used = |busy_ns, stolen_ns| Used { busy_ns, stolen_ns };
        let at = Instant::now();
        let before = CpuTimes::new(at, BTreeMap::from([(0, used(7, 7)), (1, used(0, 0))]));
        let later = BTreeMap::from([(0, used(17, 9)), (1, used(100, 100)), (2, used(5, 5))]);
        let after = CpuTimes::new(at + Duration::from_secs(1), later);
        assert_eq!(after.used_since(&before, &[0]), used(10, 2));
        // Of a CPU that has come since then nothing is known.
        assert_eq!(after.used_since(&before, &[0, 2]), used(10, 2));
        assert_eq!(after.since(&before), Duration::from_secs(1));
    }
}
