//! Who else used the CPUs on which a run was made: other programs, and the hypervisor's other guests.
//!
//! The kernel counts the time of a CPU in ticks of 10 ms, so small shares of short windows do not
//! show.

use procfs::{CurrentSI, KernelStats};
use std::{collections::BTreeMap, time::Instant};
use wirebench_schema::journal::{Reason, ReasonKind, Weight};

/// Share of the window above which a neighbour counts.
const NOTICED_SHARE: f64 = 0.1;
/// Time below which the ticks are too coarse to accuse anybody.
const NOTICED_NS: f64 = 50e6;

/// The times of every CPU at one moment.
#[derive(Clone, Debug)]
pub(crate) struct CpuTimes {
    at: Instant,
    /// Busy and stolen time in nanoseconds by CPU.
    times: BTreeMap<u32, (u64, u64)>,
}

impl CpuTimes {
    /// Reads them. Where `/proc/stat` cannot be read, nobody is accused.
    pub(crate) fn read() -> Self {
        let at = Instant::now();
        let nanoseconds = |ticks: u64| ticks * 1_000_000_000 / procfs::ticks_per_second();
        let stats = KernelStats::current().ok();
        let cpus = stats.into_iter().flat_map(|stats| stats.cpu_time);
        let times = (0..).zip(cpus).map(|(cpu, time)| {
            let interrupts = time.irq.unwrap_or(0) + time.softirq.unwrap_or(0);
            let busy = time.user + time.nice + time.system + interrupts;
            (cpu, (nanoseconds(busy), nanoseconds(time.steal.unwrap_or(0))))
        });
        Self { at, times: times.collect() }
    }

    /// What others used of `cpus` since `before`, beside the `own_ns` of the side that runs there.
    /// `who` names that side. None when it is not worth a word.
    pub(crate) fn complaint(
        &self,
        before: &Self,
        cpus: &[u32],
        own_ns: u64,
        who: &str,
    ) -> Option<Reason> {
        let available_ns =
            (self.at.duration_since(before.at).as_nanos() * cpus.len() as u128) as f64;
        let since = |cpu: &u32| {
            let (now, then) = (self.times.get(cpu)?, before.times.get(cpu)?);
            Some((now.0.saturating_sub(then.0), now.1.saturating_sub(then.1)))
        };
        let (busy, stolen) =
            cpus.iter().filter_map(since).fold((0, 0), |sum, cpu| (sum.0 + cpu.0, sum.1 + cpu.1));
        let others = busy.saturating_sub(own_ns) as f64;
        let noticed = |ns: f64| ns > NOTICED_NS && ns > NOTICED_SHARE * available_ns;
        let percent = |ns: f64| ns * 100.0 / available_ns;
        if noticed(others) {
            let text = format!(
                "other programs used {:.0} % of the {who}'s CPUs in the window: end them and measure again",
                percent(others)
            );
            let share = Some(others / available_ns);
            return Some(ReasonKind::Neighbour.reason(Weight::Invalid, share, text));
        }
        noticed(stolen as f64).then(|| {
            let text = format!(
                "the hypervisor took {:.0} % of the {who}'s CPUs in the window",
                percent(stolen as f64)
            );
            let share = Some(stolen as f64 / available_ns);
            ReasonKind::Stolen.reason(Weight::Invalid, share, text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn complaint(busy_ms: u64, stolen_ms: u64, own_ms: u64) -> Option<String> {
        let at = Instant::now();
        let before = CpuTimes { at, times: BTreeMap::from([(0, (7, 7)), (1, (0, 0))]) };
        let times = (7 + busy_ms * 1_000_000, 7 + stolen_ms * 1_000_000);
        let after = CpuTimes {
            at: at + Duration::from_secs(1),
            times: BTreeMap::from([(0, times), (1, (1_000_000_000, 0))]),
        };
        let complaint = after.complaint(&before, &[0], own_ms * 1_000_000, "server");
        complaint.map(|reason| reason.text)
    }

    #[test]
    fn only_what_others_took_of_the_sides_own_cpus_is_complained_of() {
        assert_eq!(complaint(990, 0, 980), None);
        assert_eq!(complaint(990, 0, 900), None);
        assert!(
            complaint(990, 0, 500).unwrap().contains("other programs used 49 % of the server's")
        );
        assert!(complaint(500, 300, 500).unwrap().contains("the hypervisor took 30 %"));
    }

    #[test]
    fn this_machine_tells_the_time_of_its_cpus() {
        assert!(!CpuTimes::read().times.is_empty());
    }
}
