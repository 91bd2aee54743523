//! From looks at a tree before a load and after it, with nothing in flight, to the CPU time between them. Pure.
//!
//! What a process has used is in its own clock until it is waited for, and in that of its parent
//! from then on. If no process waits for it, because `SIGCHLD` is ignored or `SA_NOCLDWAIT` is set,
//! it is nowhere: then there is only what was read before its end.

use std::collections::BTreeSet;

use super::look::{Key, Look, Used, ticks_ns};

/// The kernel shows the times of children that have ended in ticks, user and system apart.
const TICKS_OFF: u64 = 2;
/// The same in nanoseconds, where ticks are as long as on every common system.
pub const TICKS_OFF_NS: u64 = TICKS_OFF * 10_000_000;

/// What was seen of a tree before a load and after it.
#[derive(Clone, Debug)]
pub struct Course {
    pub before: Look,
    pub after: Look,
}

/// The CPU time of a window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WindowCpu {
    /// Of all processes, in nanoseconds; a lower bound when some are lost.
    pub cpu_ns: u64,
    /// How many processes ended, or began and need not be the only ones, without their CPU time being
    /// known.
    pub lost: u64,
    /// Whether processes began or ended in the window, or were waited for.
    pub changed: bool,
}

impl Course {
    /// The time between the two looks.
    #[must_use]
    pub fn length_ns(&self) -> u64 {
        let length = self.after.at.duration_since(self.before.at);
        u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
    }

    /// The CPU time between them, where the processes `ignoring` wait for no child.
    #[must_use]
    pub fn cpu(&self, ignoring: &BTreeSet<i32>) -> WindowCpu {
        let Self { before, after } = self;
        let before_ns = |key: &Key| before.processes.get(key).map(|used| used.cpu_ns);
        let ended = before.processes.iter().filter(|(key, _)| !after.processes.contains_key(*key));
        let (unawaited, awaited): (Vec<&Used>, Vec<&Used>) =
            ended.map(|(_, used)| used).partition(|used| ignoring.contains(&used.parent));
        let parents: BTreeSet<i32> = awaited.iter().map(|used| used.parent).collect();
        let due_ns: u64 = awaited.iter().map(|used| used.cpu_ns).sum();
        let reaped_ns = after.reaped_ns().saturating_sub(before.reaped_ns());
        let is_reaped = reaped_ns + ticks_ns(TICKS_OFF * parents.len() as u64) >= due_ns;
        let unpaid = if is_reaped { 0 } else { awaited.len() };
        // Where a child began and will not be waited for, others may have begun and ended.
        let new = after.processes.iter().filter(|(key, _)| before_ns(key).is_none());
        let new = new.filter(|(_, used)| ignoring.contains(&used.parent)).count();
        let grown =
            |(key, used): (&Key, &Used)| used.cpu_ns.saturating_sub(before_ns(key).unwrap_or(0));
        // What was read of a process is exact. What was reaped is in ticks, so only what it has more is added.
        let grown_ns = after.processes.iter().map(grown).sum::<u64>();
        WindowCpu {
            cpu_ns: grown_ns + reaped_ns.saturating_sub(due_ns),
            lost: (unawaited.len() + unpaid + new) as u64,
            changed: !before.has_the_processes_of(after) || reaped_ns > 0,
        }
    }
}

#[cfg(test)]
mod tests;
