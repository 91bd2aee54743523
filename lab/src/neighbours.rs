//! Programs that used the CPUs of a bench while it measured.

use procfs::process::{Stat, all_processes};
use std::{collections::BTreeMap, time::Instant};

/// Share of a CPU above which a program is named.
const NOTICED: f64 = 0.05;
/// The flag of a thread of the kernel (`PF_KTHREAD`).
const KERNEL_THREAD: u32 = 0x0020_0000;

/// CPU times of all processes at one moment.
#[derive(Debug)]
pub(crate) struct Programs {
    at: Instant,
    processes: BTreeMap<i32, Stat>,
}

impl Programs {
    pub(crate) fn read() -> Self {
        let all = all_processes().into_iter().flatten().flatten();
        let stats = all.filter_map(|process| process.stat().ok());
        Self { at: Instant::now(), processes: stats.map(|it| (it.pid, it)).collect() }
    }

    /// Prints a warning if programs other than this one and its descendants used `cpus` since then.
    pub(crate) fn warn(&self, cpus: &[u32]) {
        let names = Self::read().since(self, cpus, std::process::id().cast_signed());
        if !names.is_empty() {
            let names = names.join(", ");
            println!("warning: {names} of a CPU meanwhile: end them and measure again");
        }
    }

    fn since(&self, before: &Self, cpus: &[u32], own: i32) -> Vec<String> {
        let mut ticks: BTreeMap<&str, u64> = BTreeMap::new();
        for stat in self.processes.values() {
            let parent = |it: &&Stat| self.processes.get(&it.ppid);
            let is_own = std::iter::successors(Some(stat), parent).any(|it| it.pid == own);
            let cpu = stat.processor.and_then(|it| u32::try_from(it).ok());
            if is_own || !cpu.is_some_and(|it| cpus.contains(&it)) {
                continue;
            }
            let then = before.processes.get(&stat.pid).filter(|it| it.starttime == stat.starttime);
            let is_kernel = stat.flags & KERNEL_THREAD != 0;
            let name = if is_kernel { "kernel threads" } else { &stat.comm };
            let used = stat.utime + stat.stime;
            *ticks.entry(name).or_default() += used - then.map_or(0, |it| it.utime + it.stime);
        }
        let elapsed = self.at.duration_since(before.at).as_secs_f64();
        let second = elapsed * procfs::ticks_per_second() as f64;
        let shares = ticks.into_iter().map(|(name, ticks)| (name, ticks as f64 / second));
        let mut shares: Vec<_> = shares.filter(|(_, share)| *share > NOTICED).collect();
        shares.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        shares.iter().map(|(name, share)| format!("{name} {:.0} %", share * 100.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn programs_on_the_cpus_are_summed_by_name_without_a_process_and_its_children() {
        let (start, second) = (Instant::now(), procfs::ticks_per_second());
        let model = procfs::process::Process::myself().unwrap().stat().unwrap();
        let at = |seconds: u64| {
            let rows = [("cc", 0, 1), ("cc", 0, 1), ("sh", 1, 1), ("own", 0, 1), ("child", 0, 13)];
            let stat = |(pid, (name, cpu, ppid)): (i32, (&str, i32, i32))| {
                let mut stat = model.clone();
                (stat.pid, stat.comm, stat.ppid) = (pid, name.to_owned(), ppid);
                (stat.processor, stat.utime, stat.stime) = (Some(cpu), seconds * second / 2, 0);
                (pid, stat)
            };
            let processes = (10..).zip(rows).map(stat).collect();
            Programs { at: start + Duration::from_secs(seconds), processes }
        };
        assert_eq!(at(10).since(&at(0), &[0], 13), ["cc 100 %"]);
        assert_eq!(at(10).since(&at(0), &[0, 1], 13), ["cc 100 %", "sh 50 %"]);
        assert_eq!(at(10).since(&at(10), &[0], 13), [""; 0]);
    }
}
