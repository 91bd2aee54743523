//! The time of every CPU as `/proc/stat` shows it. It does not attribute the time to a side.

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

/// Share of the CPUs' time above which a process may have to wait for one.
const FULL_SHARE: f64 = 0.9;

/// What some CPUs were used for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Used {
    /// By programs, and by the kernel for them. Interrupts are left out: some kernels count them
    /// in the time of the program that they interrupt, some do not, and a network server
    /// causes many.
    pub(super) busy_ns: u64,
    pub(super) stolen_ns: u64,
    /// Idle, also while it waits for a disk.
    pub(super) idle_ns: u64,
}

/// The times of every CPU at one moment.
#[derive(Clone, Debug)]
pub struct CpuTimes {
    at: Instant,
    times: BTreeMap<u32, Used>,
}

impl CpuTimes {
    /// Reads them. Where `/proc/stat` cannot be read, there are none.
    pub fn read() -> Self {
        let at = Instant::now();
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self { at, times: times(&text, procfs::ticks_per_second()) }
    }

    /// The time since an earlier moment.
    pub(super) fn since(&self, before: &Self) -> Duration {
        self.at.duration_since(before.at)
    }

    /// Whether all CPUs were busy since `before`.
    pub fn is_full_since(&self, before: &Self) -> bool {
        let cpus: Vec<u32> = self.times.keys().copied().collect();
        let idle_ns = self.used_since(before, &cpus).idle_ns as f64;
        let available_ns = self.since(before).as_nanos() as f64 * cpus.len() as f64;
        !cpus.is_empty() && idle_ns < (1.0 - FULL_SHARE) * available_ns
    }

    /// The share of the time of `cpus` since `before` that others used, when `own_ns` of it was used
    /// by those that ask.
    pub fn others_since(&self, before: &Self, cpus: &[u32], own_ns: u64) -> f64 {
        let Used { busy_ns, stolen_ns, .. } = self.used_since(before, cpus);
        let available_ns = self.since(before).as_nanos() as f64 * cpus.len() as f64;
        (busy_ns + stolen_ns).saturating_sub(own_ns) as f64 / available_ns.max(1.0)
    }

    /// What `cpus` together were used for since `before`.
    pub(super) fn used_since(&self, before: &Self, cpus: &[u32]) -> Used {
        let since = |of: fn(&Used) -> u64, cpu| {
            Some(of(self.times.get(cpu)?).saturating_sub(of(before.times.get(cpu)?)))
        };
        let sum = |of| cpus.iter().filter_map(|cpu| since(of, cpu)).sum();
        let (busy_ns, stolen_ns) = (sum(|it| it.busy_ns), sum(|it| it.stolen_ns));
        Used { busy_ns, stolen_ns, idle_ns: sum(|it| it.idle_ns) }
    }
}

/// The times in the text of `/proc/stat`, by the CPU number that each line carries: CPUs that are
/// offline have no line.
fn times(text: &str, ticks_per_second: u64) -> BTreeMap<u32, Used> {
    let nanoseconds = |ticks: u64| ticks * 1_000_000_000 / ticks_per_second;
    let of_line = |line: &str| {
        let mut words = line.split_whitespace();
        // The first line, `cpu` without a number, is the sum over all CPUs.
        let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
        let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        let [user, nice, system, ..] = ticks[..] else { return None };
        let of = |field: usize| ticks.get(field).copied().unwrap_or(0);
        let (busy, idle, stolen) = (user + nice + system, of(3) + of(4), of(7));
        let [busy_ns, stolen_ns, idle_ns] = [busy, stolen, idle].map(nanoseconds);
        Some((cpu, Used { busy_ns, stolen_ns, idle_ns }))
    };
    text.lines().filter_map(of_line).collect()
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
    fn a_line_belongs_to_the_cpu_whose_number_it_carries() {
        let text = "cpu  60 0 6 100 0 0 0 3\ncpu0 10 0 1 90 0 0 0 0 0 0\n\
                    cpu2 20 1 2 80 7 7 7 3 0 0\ncpu3 30 0 3\nintr 5 0\nctxt 9\n";
        let used = |of_ms: [u64; 3]| {
            let [busy_ns, stolen_ns, idle_ns] = of_ms.map(|ms| ms * 1_000_000);
            Used { busy_ns, stolen_ns, idle_ns }
        };
        let cpus = [(0, [110, 0, 900]), (2, [230, 30, 870]), (3, [330, 0, 0])];
        let expected = cpus.map(|(cpu, of_ms)| (cpu, used(of_ms))).into();
        assert_eq!(times(text, 100), expected);
    }

    #[test]
    fn only_the_named_cpus_count_and_only_since_then() {
        let used = |busy_ns, stolen_ns| Used { busy_ns, stolen_ns, idle_ns: 0 };
        let at = Instant::now();
        let before = CpuTimes::new(at, BTreeMap::from([(0, used(7, 7)), (1, used(0, 0))]));
        let later = BTreeMap::from([(0, used(17, 9)), (1, used(100, 100)), (2, used(5, 5))]);
        let after = CpuTimes::new(at + Duration::from_secs(1), later);
        assert_eq!(after.used_since(&before, &[0]), used(10, 2));
        assert_eq!(after.used_since(&before, &[0, 2]), used(10, 2));
        assert_eq!(after.since(&before), Duration::from_secs(1));
    }

    #[test]
    fn a_machine_is_full_when_hardly_any_cpu_was_idle() {
        let at = Instant::now();
        let used = |idle_ms: u64| Used { idle_ns: idle_ms * 1_000_000, ..Used::default() };
        let before = CpuTimes::new(at, BTreeMap::from([(0, used(0)), (1, used(0))]));
        let after = |idle_ms: u64| {
            let times = BTreeMap::from([(0, used(0)), (1, used(idle_ms))]);
            CpuTimes::new(at + Duration::from_millis(500), times)
        };
        assert!(after(50).is_full_since(&before));
        assert!(!after(150).is_full_since(&before));
    }
}
