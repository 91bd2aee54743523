//! The share of the two CPUs that other programs used during a benchmark. The load average at its
//! start does not show later load.

use std::time::Duration;
use wirebench_host::neighbours::CpuTimes;

use super::Sides;

/// Share of the CPUs' time above which other programs are reported.
const NOTICED_SHARE: f64 = 0.05;

/// Keeps count from when it is made.
#[derive(Debug)]
pub(crate) struct Neighbours {
    cpus: Vec<u32>,
    before: CpuTimes,
    own: Duration,
}

impl Neighbours {
    pub(crate) fn watch(sides: &Sides) -> Self {
        let mut cpus = [&sides.server_cpus[..], &sides.generator_cpus[..]].concat();
        cpus.dedup();
        Self { cpus, before: CpuTimes::read(), own: Duration::ZERO }
    }

    /// CPU time of the bench's own server or generator.
    pub(crate) fn add_own(&mut self, cpu: Duration) {
        self.own += cpu;
    }

    /// The CPU time of other programs, if it is large enough to report and the kernel shows it.
    pub(crate) fn complaint(&self) -> Option<String> {
        let own_ns = u64::try_from(self.own.as_nanos()).unwrap_or(u64::MAX);
        complaint(CpuTimes::read().others_since(&self.before, &self.cpus, own_ns))
    }
}

fn complaint(share: f64) -> Option<String> {
    (share > NOTICED_SHARE).then(|| {
        format!(
            "other programs used {:.0} % of both CPUs meanwhile: end them and measure again",
            share * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_others_took_is_complained_of() {
        assert_eq!(complaint(0.05), None);
        let complaint = complaint(0.5).unwrap();
        assert_eq!(
            complaint,
            "other programs used 50 % of both CPUs meanwhile: end them and measure again"
        );
    }
}
