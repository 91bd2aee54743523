//! The processes that a server starts and ends while it is loaded: how much CPU time they have used, and
//! whether that can be known.
//!
//! The kernel adds what a child has used to its parent's account when the parent waits for it, in
//! ticks. Orphans end as children of the guard. Where no process waits, the time is lost.

use rustix::process::Pid;
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};
use wirebench_judge::validity::Processes;
use wirebench_server::{cost::TICKS_OFF_NS, parallel, tree::children_besides};

/// The time between two looks for children before the rounds, and in visits that count. If none of all looks
/// sees one, children lived for a small share of the time only, and cannot have used more.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
pub(crate) const BETWEEN_LOOKS_IN_ROUNDS: Duration = Duration::from_millis(50);
/// Share of the CPU time of ended children that may come between visits: some end a little late.
const OUTSIDE_SHARE: f64 = 0.02;

/// What is known of the children of one instance.
#[derive(Clone, Debug, Default)]
pub(super) struct Children {
    /// The account of ended children when the instance began, and after its last visit.
    first_ns: u64,
    last_ns: u64,
    /// How much it has grown since the first round, within visits of the instance and between them.
    inside_ns: u64,
    outside_ns: u64,
    seen: BTreeSet<i32>,
}

impl Children {
    /// Of an instance that begins with this account.
    pub(super) fn new(now_ns: u64) -> Self {
        Self { first_ns: now_ns, last_ns: now_ns, ..Self::default() }
    }

    /// The rounds begin. Those in `known` have stayed.
    pub(super) fn begin(&mut self, now_ns: u64, known: &[Pid]) {
        (self.last_ns, self.inside_ns, self.outside_ns) = (now_ns, 0, 0);
        self.seen.retain(|seen| Pid::from_raw(*seen).is_none_or(|pid| !known.contains(&pid)));
    }

    /// A visit has passed, in which these were seen. Returns the growth of the account in it.
    pub(super) fn note(&mut self, (before_ns, after_ns): (u64, u64), seen: BTreeSet<i32>) -> u64 {
        let ended_ns = after_ns.saturating_sub(before_ns);
        self.outside_ns += before_ns.saturating_sub(self.last_ns);
        self.inside_ns += ended_ns;
        self.last_ns = after_ns;
        self.seen.extend(seen);
        ended_ns
    }

    /// How often to look for children during the next visit of a server that ignores them or not; none where a
    /// look can change no finding: once a child is seen that no process waits for, its time is lost.
    pub(super) fn look_every(&self, discard_ns: u64, ignoring: bool) -> Option<Duration> {
        match discard_ns {
            0 => Some(BETWEEN_LOOKS),
            _ => (ignoring && self.seen.is_empty()).then_some(BETWEEN_LOOKS_IN_ROUNDS),
        }
    }

    /// What became of the processes until now. `ignoring` is whether a process of the server waits for no child,
    /// and `same` whether the processes that it had live on, without others.
    pub(super) fn judge(&self, now_ns: u64, ignoring: bool, same: bool) -> Processes {
        let outside_ns = self.outside_ns + now_ns.saturating_sub(self.last_ns);
        let late_ns = TICKS_OFF_NS as f64 + OUTSIDE_SHARE * self.inside_ns as f64;
        let is_unpaid = now_ns.saturating_sub(self.first_ns) <= TICKS_OFF_NS;
        if !self.seen.is_empty() && (ignoring || is_unpaid) {
            return Processes::Lost(self.seen.len() as u64);
        }
        match (same && outside_ns as f64 <= late_ns, self.inside_ns) {
            (false, _) => Processes::Unread,
            (true, 0) => Processes::Same,
            (true, _) => Processes::Changed,
        }
    }
}

/// Carries `load` out, and looks meanwhile as often as `every` says for children of the processes `known`.
pub(crate) fn watched<T>(
    known: &[Pid],
    every: Option<Duration>,
    load: impl FnOnce() -> T,
) -> Result<(T, BTreeSet<i32>), String> {
    let done = &AtomicBool::new(false);
    let watch = |every| {
        let mut seen = BTreeSet::new();
        while !done.load(Ordering::Relaxed) {
            thread::park_timeout(every);
            seen.extend(children_besides(known));
        }
        seen
    };
    thread::scope(|scope| {
        let watch = every.map(|every| parallel::spawn_in(scope, move || watch(every)));
        let watch = watch.transpose().map_err(|error| error.to_string())?;
        let loaded = load();
        done.store(true, Ordering::Relaxed);
        watch.iter().for_each(|it| it.thread().unpark());
        Ok((loaded, watch.and_then(|it| it.join().ok()).unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// What becomes of an instance whose account grows by `inside` milliseconds in each of ten visits, and
    /// between them.
    fn judged(inside: u64, outside: u64, seen: &[i32], ignoring: bool, same: bool) -> Processes {
        let mut children = Children::new(0);
        children.begin(0, &[]);
        let mut now_ns = 0;
        for _ in 0..10 {
            let before_ns = now_ns + outside * MS;
            now_ns = before_ns + inside * MS;
            let seen = seen.iter().copied().collect();
            assert_eq!(children.note((before_ns, now_ns), seen), inside * MS);
        }
        children.judge(now_ns, ignoring, same)
    }

    #[test]
    fn time_of_ended_children_is_known_where_it_is_waited_for_within_visits() {
        assert_eq!(judged(0, 0, &[], false, true), Processes::Same);
        assert_eq!(judged(0, 0, &[], true, true), Processes::Same);
        assert_eq!(judged(50, 0, &[7, 8], false, true), Processes::Changed);
        assert_eq!(judged(1000, 10, &[], false, true), Processes::Changed);
    }

    #[test]
    fn time_of_ended_children_is_unknown_where_it_goes_nowhere_or_to_no_visit() {
        assert_eq!(judged(50, 0, &[7, 8], true, true), Processes::Lost(2));
        assert_eq!(judged(0, 0, &[7], false, true), Processes::Lost(1));
        assert_eq!(judged(50, 10, &[7], false, true), Processes::Unread);
        assert_eq!(judged(0, 10, &[], false, true), Processes::Unread);
        assert_eq!(judged(0, 0, &[], false, false), Processes::Unread);
    }

    #[test]
    fn in_rounds_a_look_is_made_only_where_it_can_change_the_finding() {
        let mut children = Children::new(0);
        let every = |children: &Children, ignoring| children.look_every(1, ignoring);
        assert_eq!(children.look_every(0, false), Some(BETWEEN_LOOKS));
        assert_eq!(every(&children, false), None);
        assert_eq!(every(&children, true), Some(BETWEEN_LOOKS_IN_ROUNDS));
        children.note((0, 0), BTreeSet::from([7]));
        assert_eq!(every(&children, true), None);
    }

    #[test]
    fn children_that_stay_are_no_children_that_end() {
        let mut children = Children::new(0);
        children.note((0, 0), BTreeSet::from([7]));
        children.begin(0, Pid::from_raw(7).as_slice());
        assert_eq!(children.judge(0, false, true), Processes::Same);
    }
}
