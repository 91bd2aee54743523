//! Other programs that use the CPUs when a run begins. It looks for a moment, while nothing of the run is
//! there yet, and names programs only when there is something to name.

use procfs::process::{Stat, all_processes};
use std::{collections::BTreeMap, thread, time::Duration};
use wirebench_judge::neighbours;
use wirebench_schema::journal::Reason;

use super::cpu_times::CpuTimes;

/// How long is looked: a few ticks, and little beside a run.
const LOOK: Duration = Duration::from_millis(50);
/// Programs that are named.
const NAMED_MOST: usize = 3;

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
    neighbours::busy_before(cpu, share, &culprits(cpu))
}

/// The programs that use the most time of this CPU just now.
fn culprits(cpu: u32) -> Vec<String> {
    let before = ticks(cpu);
    thread::sleep(LOOK);
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut used: Vec<(u64, String)> = ticks(cpu)
        .into_iter()
        .filter_map(|(pid, (name, now))| {
            let ticks = now.saturating_sub(before.get(&pid)?.1);
            (ticks > 0 && pid != own).then(|| (ticks, format!("{name}, process {pid}")))
        })
        .collect();
    used.sort_by_key(|(ticks, _)| std::cmp::Reverse(*ticks));
    used.into_iter().take(NAMED_MOST).map(|(_, name)| name).collect()
}

/// Name and CPU time of every process that can be seen and was last on this CPU.
fn ticks(cpu: u32) -> BTreeMap<i32, (String, u64)> {
    let all = all_processes().into_iter().flatten().flatten();
    let stats = all.filter_map(|process| process.stat().ok());
    let is_there = |stat: &Stat| stat.processor.is_some_and(|it| i64::from(it) == i64::from(cpu));
    let stats = stats.filter(is_there);
    stats.map(|stat| (stat.pid, (stat.comm, stat.utime + stat.stime))).collect()
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
