//! The share of the two CPUs that other programs used during a benchmark. The load average at its
//! start does not show later load.

use procfs::{CurrentSI, KernelStats};
use std::time::{Duration, Instant};

use super::Sides;

/// Share of the CPUs' time above which other programs are reported.
const NOTICED_SHARE: f64 = 0.05;

/// Keeps count from when it is made.
#[derive(Debug)]
pub(crate) struct Neighbours {
    cpus: Vec<u32>,
    began: Instant,
    busy_before: Option<Duration>,
    own: Duration,
}

impl Neighbours {
    pub(crate) fn watch(sides: &Sides) -> Self {
        let mut cpus = [&sides.server_cpus[..], &sides.generator_cpus[..]].concat();
        cpus.dedup();
        let busy_before = busy(&cpus);
        Self { cpus, began: Instant::now(), busy_before, own: Duration::ZERO }
    }

    /// CPU time of the bench's own server or generator.
    pub(crate) fn add_own(&mut self, cpu: Duration) {
        self.own += cpu;
    }

    /// The CPU time of other programs, if it is large enough to report and the kernel shows it.
    pub(crate) fn complaint(&self) -> Option<String> {
        let busy = busy(&self.cpus)?.checked_sub(self.busy_before?)?;
        let available = self.began.elapsed() * u32::try_from(self.cpus.len()).ok()?;
        complaint(busy, self.own, available)
    }
}

fn complaint(busy: Duration, own: Duration, available: Duration) -> Option<String> {
    let share = busy.saturating_sub(own).as_secs_f64() / available.as_secs_f64();
    (share > NOTICED_SHARE).then(|| {
        format!(
            "other programs used {:.0} % of both CPUs meanwhile: end them and measure again",
            share * 100.0
        )
    })
}

/// Time in which these CPUs did anything, or in which the hypervisor had them do something else.
fn busy(cpus: &[u32]) -> Option<Duration> {
    let stats = KernelStats::current().ok()?;
    let ticks = cpus.iter().map(|cpu| {
        let time = stats.cpu_time.get(*cpu as usize)?;
        let seldom = [time.irq, time.softirq, time.steal].into_iter().flatten().sum::<u64>();
        Some(time.user + time.nice + time.system + seldom)
    });
    let ticks: u64 = ticks.sum::<Option<u64>>()?;
    Some(Duration::from_secs(ticks) / u32::try_from(procfs::ticks_per_second()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_others_took_is_complained_of() {
        let ms = Duration::from_millis;
        assert_eq!(complaint(ms(1900), ms(1850), ms(2000)), None);
        assert_eq!(complaint(ms(1000), ms(1100), ms(2000)), None);
        let complaint = complaint(ms(1900), ms(900), ms(2000)).unwrap();
        assert_eq!(
            complaint,
            "other programs used 50 % of both CPUs meanwhile: end them and measure again"
        );
    }

    #[test]
    fn this_machine_tells_how_busy_its_cpus_were() {
        let cpus = wirebench_sys::affinity::current().unwrap();
        assert!(busy(&cpus).unwrap() > Duration::ZERO);
        assert_eq!(busy(&[u32::MAX]), None);
    }
}
