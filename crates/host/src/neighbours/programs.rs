//! CPU time of every process, to name those that ran during a measurement and that the user can stop. Reading
//! it takes milliseconds, so it is read only while nothing counts.

use procfs::process::{Stat, all_processes};
use rustix::{
    io::Errno,
    process::{Pid, test_kill_process},
};
use std::{collections::BTreeMap, fs, path::PathBuf, time::Instant};
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

    /// Those that ran since `before` and were last on one of `cpus`, the one with the most time first, and
    /// those that the user cannot stop under one name for each owner. This process and its descendants are not
    /// among them.
    #[must_use]
    pub fn since(&self, before: &Self, cpus: &[u32]) -> Vec<ProgramShare> {
        self.owned_since(before, cpus, owner)
    }

    fn owned_since(
        &self,
        before: &Self,
        cpus: &[u32],
        owner: impl Fn(&Stat) -> Owner,
    ) -> Vec<ProgramShare> {
        let elapsed = self.at.duration_since(before.at).as_secs_f64();
        let mut ticks: BTreeMap<(Owner, &str), u64> = BTreeMap::new();
        for stat in self.processes.values().filter(|it| !self.is_own(it)) {
            let is_there = |it: i32| u32::try_from(it).is_ok_and(|cpu| cpus.contains(&cpu));
            if !stat.processor.is_some_and(is_there) {
                continue;
            }
            let then = before.processes.get(&stat.pid).filter(|it| it.starttime == stat.starttime);
            let used = (stat.utime + stat.stime) - then.map_or(0, |it| it.utime + it.stime);
            if used > 0 {
                let owner = owner(stat);
                let name = owner.unstoppable().unwrap_or(&stat.comm);
                *ticks.entry((owner, name)).or_default() += used;
            }
        }
        let share = |((owner, name), ticks): ((Owner, &str), u64)| ProgramShare {
            name: name.to_owned(),
            owner,
            share: ticks as f64 / procfs::ticks_per_second() as f64 / elapsed,
        };
        let mut shares: Vec<ProgramShare> = ticks.into_iter().map(share).collect();
        shares.retain(|it| it.share >= NAMED_LEAST);
        shares.sort_by(|one, other| other.share.total_cmp(&one.share));
        let mut named = 0..NAMED_MOST;
        shares.retain(|it| it.owner.unstoppable().is_some() || named.next().is_some());
        shares
    }

    /// Whether it is this process or one of its descendants.
    fn is_own(&self, stat: &Stat) -> bool {
        let own = std::process::id().cast_signed();
        let parent = |it: &&Stat| self.processes.get(&it.ppid);
        std::iter::successors(Some(stat), parent).any(|it| it.pid == own)
    }
}

/// Owner of a process. One that has ended meanwhile counts as the user's.
fn owner(stat: &Stat) -> Owner {
    let may_not_stop = || Pid::from_raw(stat.pid).map(test_kill_process) == Some(Err(Errno::PERM));
    match stat.flags & KERNEL_THREAD != 0 {
        true => Owner::Kernel,
        false if may_not_stop() => Owner::OtherUsers,
        false if is_contained(stat.pid) => Owner::OtherContainers,
        false => Owner::Other,
    }
}

/// True if a process is in a container: its namespaces of processes and mounts are others than here. A sandbox of a
/// browser has only the first of its own.
fn is_contained(pid: i32) -> bool {
    let of = |process: &str, kind: &str| fs::read_link(format!("/proc/{process}/ns/{kind}")).ok();
    let differs = |(there, here): (PathBuf, PathBuf)| there != here;
    ["pid", "mnt"]
        .iter()
        .all(|kind| of(&pid.to_string(), kind).zip(of("self", kind)).is_some_and(differs))
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

    #[test]
    fn what_the_user_cannot_stop_has_one_name_for_each_owner_and_hides_no_program() {
        let start = Instant::now();
        let (before, after) = (at(start, 0, [0; 5]), at(start, 10, [10, 20, 40, 0, 0]));
        let ticks = procfs::ticks_per_second() as f64 * 10.0;
        let owners = |others: [Owner; 2]| {
            let owner = |it: &Stat| match it.pid - 10_000_000 {
                2 => Owner::Kernel,
                place => others[usize::from(place == 1)],
            };
            let found = after.owned_since(&before, &[0], owner).into_iter();
            let found = found.map(|it| format!("{} {:.0}", it.name, it.share * ticks));
            found.collect::<Vec<_>>().join(", ")
        };
        use Owner::{Other, OtherContainers, OtherUsers};
        assert_eq!(owners([Other, OtherUsers]), "kernel threads 40, other users 20, rustc 10");
        let contained = "kernel threads 40, other containers 30";
        assert_eq!(owners([OtherContainers, OtherContainers]), contained);
    }

    #[test]
    fn a_process_is_the_users_if_a_signal_may_be_sent_to_it_and_it_is_in_no_container() {
        let mut stat = procfs::process::Process::myself().unwrap().stat().unwrap();
        assert_eq!(owner(&stat), Owner::Other);
        stat.flags |= KERNEL_THREAD;
        assert_eq!(owner(&stat), Owner::Kernel);
    }
}
