//! From looks at a tree, and from the clocks that the generator read at the edges of its window, to
//! the CPU time of that window. Pure.
//!
//! The generator's readings are exact: it reads them where the window begins and ends. It knows the
//! processes that were there before the load. What began later has the readings of the looks, which
//! come a little after the edges; after the end nothing is sent any more.
//!
//! What a process has used is in its own clock until it is waited for, and in that of its parent
//! from then on. If no process waits for it, because `SIGCHLD` is ignored or `SA_NOCLDWAIT` is set,
//! it is nowhere: then there is only what was read before its end.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::load::EdgeClocks;

use super::look::{Key, Look, ticks_ns};

/// The kernel shows the times of children that have ended in ticks, user and system apart.
const TICKS_OFF: u64 = 2;
/// The same in nanoseconds, where ticks are as long as on every common system.
pub const TICKS_OFF_NS: u64 = TICKS_OFF * 10_000_000;

/// What was seen of a tree from before a window until after it.
#[derive(Clone, Debug)]
pub struct Course {
    /// The processes whose clocks the generator reads, and what it read at both edges.
    edges: BTreeMap<Key, (Option<u64>, Option<u64>)>,
    /// At the beginning of the window.
    before: Look,
    /// Each process that was seen after the beginning: its last parent and its last clock.
    seen: BTreeMap<Key, (i32, u64)>,
    /// Right after the end of the window.
    after: Look,
    /// When the tree was at rest again.
    settled: Look,
}

/// The CPU time of a window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WindowCpu {
    /// Of all processes, in nanoseconds; a lower bound when some are lost.
    pub cpu_ns: u64,
    /// How many processes ended, or began and need not be the only ones, without their CPU time being
    /// known.
    pub lost: u64,
    /// Whether processes began or ended in the window.
    pub changed: bool,
}

impl Course {
    /// Between two looks, without readings at the edges.
    #[must_use]
    pub fn between(before: Look, after: Look) -> Self {
        Self::of(BTreeMap::new(), before, &[], (after.clone(), after))
    }

    /// With the `readings` of the processes that `known` had.
    #[must_use]
    pub fn with_readings(
        known: &Look,
        readings: &EdgeClocks,
        before: Look,
        meanwhile: &[Look],
        ends: (Look, Look),
    ) -> Self {
        let at = |edge: &[Option<u64>], index: usize| edge.get(index).copied().flatten();
        let edges = known.processes.keys().enumerate().map(|(index, key)| {
            (*key, (at(&readings.start_ns, index), at(&readings.end_ns, index)))
        });
        Self::of(edges.collect(), before, meanwhile, ends)
    }

    fn of(
        edges: BTreeMap<Key, (Option<u64>, Option<u64>)>,
        before: Look,
        meanwhile: &[Look],
        (after, settled): (Look, Look),
    ) -> Self {
        let mut seen: BTreeMap<Key, (i32, u64)> = BTreeMap::new();
        // Looks after the window change no clock that was read at its end.
        for look in meanwhile.iter().chain([&before, &after, &settled]) {
            for (key, used) in &look.processes {
                let clock = seen.entry(*key).or_insert((used.parent, used.cpu_ns));
                *clock = (used.parent, used.cpu_ns.max(clock.1));
            }
        }
        Self { edges, before, seen, after, settled }
    }

    /// The time between the first look and the last.
    #[must_use]
    pub fn length_ns(&self) -> u64 {
        let length = self.after.at.duration_since(self.before.at);
        u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
    }

    /// The CPU time of the window, where the processes `ignoring` wait for no child.
    #[must_use]
    pub fn cpu(&self, ignoring: &BTreeSet<i32>) -> WindowCpu {
        let gone = |key: &Key| !self.settled.processes.contains_key(key);
        let ended: Vec<(&Key, i32, u64)> = self
            .seen
            .iter()
            .filter(|(key, _)| gone(key))
            .map(|(key, (parent, cpu_ns))| (key, *parent, self.edge(key).1.unwrap_or(*cpu_ns)))
            .collect();
        let reaped_ns = self.settled.reaped_ns().saturating_sub(self.before.reaped_ns());
        let awaited = ended.iter().filter(|(_, parent, _)| !ignoring.contains(parent));
        let parents: BTreeSet<i32> = awaited.clone().map(|(_, parent, _)| *parent).collect();
        let due_ns: u64 = awaited.map(|(_, _, cpu_ns)| cpu_ns).sum();
        let is_reaped = reaped_ns + ticks_ns(TICKS_OFF * parents.len() as u64) >= due_ns;
        // What was seen of a process is exact. What was reaped is in ticks, so only what it has more
        // is added: of processes that were never seen, and of time after the last look.
        let (mut grown_ns, mut lost) = (reaped_ns.saturating_sub(due_ns), 0);
        for (key, parent, last_ns) in &ended {
            grown_ns += last_ns.saturating_sub(self.start_ns(key));
            let is_counted = is_reaped && !ignoring.contains(parent);
            let is_known = self.edge(key).1.is_some() || self.after.processes.contains_key(key);
            lost += u64::from(!is_counted && !is_known);
        }
        // Where a child began in the window and will not be waited for, others may have begun and
        // ended between two looks.
        let is_new =
            |key: &Key| self.edge(key).0.is_none() && !self.before.processes.contains_key(key);
        let new = self.after.processes.iter().filter(|(key, _)| is_new(key));
        lost += new.filter(|(_, used)| ignoring.contains(&used.parent)).count() as u64;
        for (key, used) in &self.settled.processes {
            let after_ns = self.after.processes.get(key).map(|used| used.cpu_ns);
            let end_ns = self.edge(key).1.or(after_ns).unwrap_or(used.cpu_ns);
            grown_ns += end_ns.saturating_sub(self.start_ns(key));
        }
        WindowCpu { cpu_ns: grown_ns, lost, changed: self.changed() }
    }

    fn edge(&self, key: &Key) -> (Option<u64>, Option<u64>) {
        self.edges.get(key).copied().unwrap_or_default()
    }

    /// What a process had used when the window began. What was not there has begun since.
    fn start_ns(&self, key: &Key) -> u64 {
        let before_ns = self.before.processes.get(key).map(|used| used.cpu_ns);
        self.edge(key).0.or(before_ns).unwrap_or(0)
    }

    fn changed(&self) -> bool {
        if self.edges.is_empty() {
            return !self.before.has_the_processes_of(&self.after);
        }
        // What ended before the window is in no look since.
        let unread = |key: &&Key| !matches!(self.edge(key), (Some(_), Some(_)));
        self.seen.keys().any(|key| unread(&key))
    }
}

#[cfg(test)]
mod tests;
