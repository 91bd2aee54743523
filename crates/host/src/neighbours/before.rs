//! Other programs that use the CPUs when a run begins. It looks for a moment, while nothing of the run is
//! there yet, and names programs only when there is something to name.

use std::{thread, time::Duration};
use wirebench_judge::neighbours;
use wirebench_schema::journal::Reason;

use super::{cpu_times::CpuTimes, programs::Programs};

/// How long is looked: a few ticks, and little beside a run.
const LOOK: Duration = Duration::from_millis(50);

/// What must be said of the time before a run that will use `cpus`.
pub fn busy_before(cpus: &[u32]) -> Option<Reason> {
    let before = CpuTimes::read();
    thread::sleep(LOOK);
    let after = CpuTimes::read();
    let elapsed_ns = after.since(&before).as_nanos() as f64;
    let share = |cpu: &u32| {
        let busy_ns = after.used_since(&before, std::slice::from_ref(cpu)).busy_ns;
        (*cpu, (busy_ns as f64 / elapsed_ns).min(1.0))
    };
    let busiest = cpus.iter().map(share).max_by(|a, b| a.1.total_cmp(&b.1));
    let (cpu, share) = busiest?;
    // To name programs takes another look, which is worth it only where there is something to say.
    neighbours::busy_before(cpu, share, &[])?;
    let before = Programs::read();
    thread::sleep(LOOK);
    neighbours::busy_before(cpu, share, &Programs::read().since(&before, &[cpu]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cpu_is_not_busy() {
        assert_eq!(busy_before(&[u32::MAX]), None);
        assert_eq!(busy_before(&[]), None);
    }
}
