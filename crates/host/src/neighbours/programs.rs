//! CPU time of every process, to name those that ran beside a measurement. To read it takes milliseconds, so
//! it is read only while nothing counts.

use procfs::process::{Stat, all_processes};
use std::{collections::BTreeMap, time::Instant};
use wirebench_schema::journal::{Owner, ProgramShare};

const NAMED_MOST: usize = 3;
/// Share of a CPU below which a program is not named.
const NAMED_LEAST: f64 = 0.001;
/// The flag of a thread of the kernel (`PF_KTHREAD`).
const KERNEL_THREAD: u32 = 0x0020_0000;

#[derive(Clone, Debug)]
pub struct Programs {
    at: Instant,
    processes: BTreeMap<i32, Stat>,
}

impl Programs {
    /// Reads all that can be seen.
    #[must_use]
    pub fn read() -> Self {
        let all = all_processes().into_iter().flatten().flatten();
        let stats = all.filter_map(|process| process.stat().ok());
        Self { at: Instant::now(), processes: stats.map(|it| (it.pid, it)).collect() }
    }

    /// Those that ran since `before` and were last on one of `cpus`, the one with the most time first. This
    /// process and its descendants are not among them.
    #[must_use]
    pub fn since(&self, before: &Self, cpus: &[u32]) -> Vec<ProgramShare> {
        let elapsed = self.at.duration_since(before.at).as_secs_f64();
        let mut ticks: BTreeMap<(bool, &str), u64> = BTreeMap::new();
        for stat in self.processes.values().filter(|it| !self.is_own(it)) {
            let is_there = |it: i32| u32::try_from(it).is_ok_and(|cpu| cpus.contains(&cpu));
            if !stat.processor.is_some_and(is_there) {
                continue;
            }
            let then = before.processes.get(&stat.pid).filter(|it| it.starttime == stat.starttime);
            let is_kernel = stat.flags & KERNEL_THREAD != 0;
            let name = if is_kernel { "kernel threads" } else { &stat.comm };
            let used = (stat.utime + stat.stime) - then.map_or(0, |it| it.utime + it.stime);
            *ticks.entry((is_kernel, name)).or_default() += used;
        }
        let share = |((is_kernel, name), ticks): ((bool, &str), u64)| ProgramShare {
            name: name.to_owned(),
            owner: if is_kernel { Owner::Kernel } else { Owner::Other },
            share: ticks as f64 / procfs::ticks_per_second() as f64 / elapsed,
        };
        let mut shares: Vec<ProgramShare> = ticks.into_iter().map(share).collect();
        shares.retain(|it| it.share >= NAMED_LEAST);
        shares.sort_by(|one, other| other.share.total_cmp(&one.share));
        shares.truncate(NAMED_MOST);
        shares
    }

    /// Whether it is this process or one of its descendants.
    fn is_own(&self, stat: &Stat) -> bool {
        let own = std::process::id().cast_signed();
        let parent = |it: &&Stat| self.processes.get(&it.ppid);
        std::iter::successors(Some(stat), parent).any(|it| it.pid == own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const NAMES: [&str; 5] = ["rustc", "rustc", "kworker/0:1", "sh", "own"];

    /// Processes of which the last one is a child of this process. Each has used so much, in hundredths of a second.
    fn at(start: Instant, seconds: u64, ticks: [u64; 5]) -> Programs {
        let model = procfs::process::Process::myself().unwrap().stat().unwrap();
        let stat = |(place, ticks): (usize, u64)| {
            let pid = 10_000_000 + i32::try_from(place).unwrap();
            let ppid = if place == 4 { model.pid } else { 1 };
            let flags = if place == 2 { KERNEL_THREAD } else { 0 };
            let mut stat = model.clone();
            (stat.pid, stat.ppid, stat.flags) = (pid, ppid, flags);
            (stat.comm, stat.processor) = (NAMES[place].to_owned(), Some(i32::from(place == 3)));
            (stat.utime, stat.stime) = (ticks, 0);
            (pid, stat)
        };
        let mut processes: BTreeMap<i32, Stat> = ticks.into_iter().enumerate().map(stat).collect();
        processes.insert(model.pid, model);
        Programs { at: start + Duration::from_secs(seconds), processes }
    }

    #[test]
    fn programs_on_the_cpus_are_summed_by_name_without_this_process_and_its_children() {
        let start = Instant::now();
        let before = at(start, 0, [100, 0, 7, 0, 0]);
        let after = at(start, 10, [150, 50, 11, 900, 900]);
        let ticks = procfs::ticks_per_second() as f64 * 10.0;
        let share = |name: &str, owner, used: f64| ProgramShare {
            name: name.to_owned(),
            owner,
            share: used / ticks,
        };
        let (rustc, kernel) =
            (share("rustc", Owner::Other, 100.0), share("kernel threads", Owner::Kernel, 4.0));
        assert_eq!(after.since(&before, &[0]), [rustc, kernel]);
        assert_eq!(after.since(&before, &[1]), [share("sh", Owner::Other, 900.0)]);
        assert_eq!(after.since(&after.clone(), &[0]), []);
    }
}
