//! Programs that may hold up a thread that runs before all others, and how busy the CPUs are.

use procfs::process::{Stat, all_processes};
use std::{collections::BTreeMap, fs, process};

/// The flag of threads of the kernel (proc_pid_stat(5)), and the classes that run before usual programs (sched(7)).
const KERNEL_THREAD: u32 = 0x0020_0000;
const REAL_TIME: [u32; 3] = [1, 2, 6];

/// The ticks that each CPU was busy, and all.
#[derive(Debug)]
pub(super) struct CpuShares(BTreeMap<u32, [u64; 2]>);

impl CpuShares {
    pub(super) fn read() -> Self {
        Self::of(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    fn of(text: &str) -> Self {
        let of_line = |line: &str| {
            let (cpu, ticks) = line.strip_prefix("cpu")?.split_once(' ')?;
            // Those of guests are contained in the first ones.
            let ticks: Vec<u64> =
                ticks.split(' ').filter_map(|it| it.parse().ok()).take(8).collect();
            let idle: u64 = ticks.get(3..5)?.iter().sum();
            let all: u64 = ticks.iter().sum();
            Some((cpu.parse().ok()?, [all - idle, all]))
        };
        Self(text.lines().filter_map(of_line).collect())
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.keys().copied()
    }

    /// The share of the time that this CPU was busy since then.
    pub(super) fn busy_since(&self, before: &Self, cpu: u32) -> f64 {
        let [Some(now), Some(then)] = [self, before].map(|it| it.0.get(&cpu)) else { return 0.0 };
        let [busy, all] = [0, 1].map(|it| now[it].saturating_sub(then[it]) as f64);
        if all > 0.0 { busy / all } else { 0.0 }
    }
}

/// Threads of other programs that run before usual ones, by number: the name, and the ticks used.
#[derive(Debug)]
pub(super) struct RealTime(BTreeMap<i32, (String, u64)>);

impl RealTime {
    pub(super) fn read() -> Self {
        let own = process::id().cast_signed();
        let others = all_processes().into_iter().flatten().flatten().filter(|it| it.pid != own);
        let threads = others.filter_map(|it| it.tasks().ok()).flatten().flatten();
        Self(threads.filter_map(|it| real_time(it.stat().ok()?)).collect())
    }

    /// The one that has worked the most since then, if one has.
    pub(super) fn worked_since(&self, before: &Self) -> Option<String> {
        let ticks = |(number, (_, now)): &(&i32, &(String, u64))| {
            now - before.0.get(number).map_or(0, |it| it.1.min(*now))
        };
        let most = self.0.iter().max_by_key(ticks)?;
        (ticks(&most) > 0).then(|| most.1.0.clone())
    }
}

/// The number, the name and the ticks of a thread, if it is no thread of the kernel and runs before usual ones.
fn real_time(stat: Stat) -> Option<(i32, (String, u64))> {
    let is_meant = stat.flags & KERNEL_THREAD == 0 && REAL_TIME.contains(&stat.policy?);
    is_meant.then_some((stat.pid, (stat.comm, stat.utime + stat.stime)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs::FromRead as _;

    #[test]
    fn a_cpu_is_busy_when_it_neither_rests_nor_waits() {
        let [before, now] =
            ["cpu  9 9 9\ncpu1 10 0 10 100 5 0 0 0 7 7\n", "cpu1 40 0 20 140 25 0 0 0 7 7\n"]
                .map(CpuShares::of);
        assert!((now.busy_since(&before, 1) - 0.4).abs() < 1e-9);
        assert!(now.busy_since(&before, 0).abs() < 1e-9);
    }

    #[test]
    fn a_program_that_runs_before_others_is_named_if_it_worked() {
        let line = |number: i32, flags: u32, ticks: u64, policy: u32| {
            let gap = "0 ".repeat(25);
            let stat = format!(
                "{number} (a (b) c) S 1 1 1 0 -1 {flags} 0 0 0 0 {ticks} 1 {gap}{policy} 0\n"
            );
            real_time(Stat::from_read(stat.as_bytes()).unwrap())
        };
        assert_eq!(line(7, 0, 5, 1), Some((7, ("a (b) c".to_owned(), 6))));
        assert_eq!(line(7, KERNEL_THREAD, 5, 1).or(line(7, 0, 5, 0)), None);
        let of = |ticks| RealTime(line(7, 0, ticks, 2).into_iter().collect());
        assert_eq!(of(9).worked_since(&of(5)), Some("a (b) c".to_owned()));
        assert_eq!(of(5).worked_since(&of(5)), None);
    }
}
