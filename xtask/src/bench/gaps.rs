//! Measures how often a CPU is taken away: a loop that only reads the clock sees when another
//! program or the hypervisor had it. Benchmarks on this machine cannot be more accurate.

use anyhow::Context;
use std::{
    thread,
    time::{Duration, Instant},
};
use wirebench_sys::affinity;

const NOTABLE: Duration = Duration::from_micros(50);

/// The times at which a CPU was away.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Gaps {
    pub(crate) count: u32,
    /// How long all of them were together.
    pub(crate) sum: Duration,
    pub(crate) longest: Duration,
}

impl Gaps {
    fn add(&mut self, gap: Duration) {
        if gap > NOTABLE {
            self.count += 1;
            self.sum += gap;
            self.longest = self.longest.max(gap);
        }
    }
}

/// Looks at the clock on these CPUs for so long.
pub(crate) fn watch(cpus: &[u32], time: Duration) -> anyhow::Result<Gaps> {
    let cpus = cpus.to_vec();
    let watching = thread::spawn(move || {
        affinity::bind(&cpus)?;
        let began = Instant::now();
        let (mut last, mut gaps) = (began, Gaps::default());
        while last - began < time {
            let now = Instant::now();
            gaps.add(now - last);
            last = now;
        }
        Ok::<_, std::io::Error>(gaps)
    });
    let result = watching.join().map_err(|_| anyhow::anyhow!("the watching thread panicked"))?;
    result.context("a thread cannot be bound to a CPU")
}

pub(crate) fn sentence(gaps: &Gaps, time: Duration) -> String {
    format!(
        "a loop alone on the generator's CPU was away {} times for more than {} us in {} s, together {:.1} ms, at \
         most {:.1} ms",
        gaps.count,
        NOTABLE.as_micros(),
        time.as_secs(),
        gaps.sum.as_secs_f64() * 1e3,
        gaps.longest.as_secs_f64() * 1e3
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_notable_gaps_are_added_up() {
        let mut gaps = Gaps::default();
        for microseconds in [10, 50, 60, 1000] {
            gaps.add(Duration::from_micros(microseconds));
        }
        let (sum, longest) = (Duration::from_micros(1060), Duration::from_millis(1));
        assert_eq!(gaps, Gaps { count: 2, sum, longest });
    }
}
