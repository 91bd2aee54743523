//! The pacer: when requests may be sent, and on which connection. Pure: time is a parameter, and
//! all connections of a thread share one pacer.
//!
//! In a closed loop a connection may send when its last request is answered, or after a think time.
//! A schedule does not depend on replies: requests become due, and any free connection takes the
//! next one.

mod schedule;
mod supply;

pub(crate) use self::schedule::{Part, Schedule};
pub(crate) use self::supply::Supply;

use std::collections::VecDeque;

/// The answer to a connection that could send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pace {
    /// Send a request that was due then.
    Send { due_ns: u64 },
    /// Nothing now. The pacer returns the connection later.
    Wait,
}

/// By which rule requests become due.
#[derive(Debug)]
pub(crate) enum Rule {
    /// As soon as a connection is free.
    Closed,
    /// So long after a connection became free.
    Think {
        delay_ns: u64,
    },
    Schedule(Schedule),
}

/// Paces the connections of one thread.
#[derive(Debug)]
pub(crate) struct Pacer {
    rule: Rule,
    start_ns: u64,
    supply: Supply,
    /// Connections that may send, in the order in which they became free, and from when on. With
    /// each rule the moments never decrease from one to the next.
    free: VecDeque<(u64, u32)>,
}

impl Pacer {
    /// Sends nothing until [`Self::start`].
    pub(crate) const fn new(rule: Rule, supply: Supply) -> Self {
        Self { rule, start_ns: u64::MAX, supply, free: VecDeque::new() }
    }

    /// The load begins then, with these free connections. Where each would pause by itself, their
    /// first requests are spread over one pause.
    pub(crate) fn start(&mut self, start_ns: u64, slots: impl ExactSizeIterator<Item = u32>) {
        self.start_ns = start_ns;
        if let Rule::Schedule(schedule) = &mut self.rule {
            schedule.start(start_ns);
        }
        let spread_ns = match self.rule {
            Rule::Think { delay_ns } => delay_ns,
            Rule::Closed | Rule::Schedule(_) => 0,
        };
        let count = slots.len().max(1) as u64;
        let spread = |index: usize| {
            let part = u128::from(spread_ns) * index as u128 / u128::from(count);
            start_ns.saturating_add(u64::try_from(part).unwrap_or(u64::MAX))
        };
        self.free = slots.enumerate().map(|(index, slot)| (spread(index), slot)).collect();
    }

    /// The window begins. What is in flight will be answered in it and so belongs to its quota.
    pub(crate) fn enter_window(&mut self, now_ns: u64, in_flight: u64) {
        self.supply.enter_window(in_flight);
        if let Rule::Schedule(schedule) = &mut self.rule {
            schedule.enter_window(now_ns);
        }
    }

    /// Whether a connection that has just become free, or still is, may send now. [`Pace::Send`]
    /// counts as a request sent.
    pub(crate) fn next(&mut self, now_ns: u64) -> Pace {
        if now_ns < self.start_ns || self.supply.is_empty() {
            return Pace::Wait;
        }
        let due_ns = match &mut self.rule {
            Rule::Closed => Some(now_ns),
            Rule::Think { .. } => None,
            // Connections that already wait come first.
            Rule::Schedule(_) if !self.free.is_empty() => None,
            Rule::Schedule(schedule) => schedule.take_overdue(now_ns),
        };
        match due_ns {
            Some(due_ns) => {
                self.supply.take();
                Pace::Send { due_ns }
            }
            None => Pace::Wait,
        }
    }

    /// A connection that is free and may not send now is to be named later.
    pub(crate) fn park(&mut self, slot: u32, now_ns: u64) {
        match self.rule {
            Rule::Closed if now_ns < self.start_ns => self.free.push_back((self.start_ns, slot)),
            // After the start a closed loop waits only when nothing more is to be sent.
            Rule::Closed => {}
            Rule::Think { delay_ns } => {
                let free_ns = now_ns.max(self.start_ns).saturating_add(delay_ns);
                self.free.push_back((free_ns, slot));
            }
            Rule::Schedule(_) => self.free.push_back((0, slot)),
        }
    }

    /// A connection whose turn has come, and when its request was due. It counts as sent; a
    /// connection that cannot send after all gives it back with [`Self::put_back`].
    pub(crate) fn pop(&mut self, now_ns: u64) -> Option<(u32, u64)> {
        let (free_ns, slot) = *self.free.front()?;
        if now_ns < free_ns.max(self.start_ns) || self.supply.is_empty() {
            return None;
        }
        let due_ns = match &mut self.rule {
            Rule::Closed => now_ns,
            Rule::Think { .. } => free_ns,
            Rule::Schedule(schedule) => schedule.take(now_ns)?,
        };
        self.free.pop_front();
        self.supply.take();
        Some((slot, due_ns))
    }

    /// The connection that was named cannot send: another one takes its request.
    pub(crate) fn put_back(&mut self, due_ns: u64) {
        self.supply.put_back();
        if let Rule::Schedule(schedule) = &mut self.rule {
            schedule.put_back(due_ns);
        }
    }

    /// When [`Self::pop`] will return a connection.
    pub(crate) fn wakes_at(&self) -> u64 {
        let Some((free_ns, _)) = self.free.front() else { return u64::MAX };
        if self.supply.is_empty() {
            return u64::MAX;
        }
        match &self.rule {
            Rule::Closed | Rule::Think { .. } => (*free_ns).max(self.start_ns),
            Rule::Schedule(schedule) => schedule.next_ns(),
        }
    }

    /// A request cannot even be sent, for want of a connection. It counts as sent. Says whether
    /// one was left.
    pub(crate) const fn cancel_one(&mut self) -> bool {
        self.supply.cancel_one()
    }

    /// Whether each connection sends at once, without waiting for a request to become due.
    pub(crate) const fn is_closed_loop(&self) -> bool {
        matches!(self.rule, Rule::Closed)
    }

    /// Number of requests still to be sent, if it is limited.
    pub(crate) const fn left(&self) -> u64 {
        self.supply.left()
    }

    /// Number of requests that were due before this moment and still wait for a connection.
    pub(crate) fn overdue(&self, moment_ns: u64) -> u64 {
        match &self.rule {
            Rule::Schedule(schedule) => schedule.overdue(moment_ns).min(self.supply.left()),
            Rule::Closed | Rule::Think { .. } => 0,
        }
    }

    /// With a schedule: reports when the requests were due that were not sent before `end_ns`, and
    /// how many at each moment. Returns how many were sent in the window. Nothing is sent afterwards.
    pub(crate) fn settle(&mut self, end_ns: u64, unsent: impl FnMut(u64, u64)) -> Option<u64> {
        let Rule::Schedule(schedule) = &mut self.rule else { return None };
        let sent = schedule.taken_in_window();
        schedule.give_up(end_ns, self.supply.left(), unsent);
        Some(sent)
    }
}

#[cfg(test)]
mod tests;
