//! Which replies are due when. Pure: it reads no clock and knows no sockets.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use crate::Mode;

/// Names a connection; never used twice.
pub(crate) type ConnectionId = u64;

/// The replies that are not due yet, in the order in which they will be.
#[derive(Debug)]
pub(crate) struct Schedule {
    mode: Mode,
    /// Requests so far, on all connections.
    requests: u64,
    /// Due time, number of the request, connection. The number keeps requests that are due at the
    /// same time in the order of their arrival.
    timers: BinaryHeap<Reverse<(Duration, u64, ConnectionId)>>,
    /// When the last reply of a connection is due.
    last_due: HashMap<ConnectionId, Duration>,
}

impl Schedule {
    pub(crate) fn new(mode: Mode) -> Self {
        let (timers, last_due) = (BinaryHeap::new(), HashMap::new());
        Self { mode, requests: 0, timers, last_due }
    }

    /// A request has arrived. Replies of a connection keep the order of its requests, so a short
    /// delay behind a long one waits for it.
    pub(crate) fn arrived(&mut self, connection: ConnectionId, now: Duration) {
        self.requests += 1;
        let last_due = self.last_due.entry(connection).or_default();
        *last_due = self.mode.due(self.requests, now).max(*last_due);
        self.timers.push(Reverse((*last_due, self.requests, connection)));
    }

    /// When the next reply is due.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.timers.peek().map(|Reverse((due, _, _))| *due)
    }

    /// Takes out the next reply that is due by now. It may belong to a connection that is gone.
    pub(crate) fn take_due(&mut self, now: Duration) -> Option<ConnectionId> {
        if self.next_due()? > now {
            return None;
        }
        self.timers.pop().map(|Reverse((_, _, connection))| connection)
    }

    /// The connection is gone; its replies stay in the list until they are due.
    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        self.last_due.remove(&connection);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::num::NonZeroU64;

    const US: fn(u64) -> Duration = Duration::from_micros;

    fn two_point(every: u64) -> Mode {
        let every = NonZeroU64::new(every).unwrap();
        Mode::TwoPoint { short: US(100), long: US(2000), every }
    }

    #[test]
    fn a_short_delay_overtakes_a_long_one_of_another_connection_only() {
        let mut schedule = Schedule::new(two_point(2));
        schedule.arrived(1, US(0));
        schedule.arrived(2, US(0));
        schedule.arrived(1, US(10));
        schedule.arrived(2, US(10));
        schedule.arrived(2, US(20));
        let order: Vec<_> = std::iter::from_fn(|| schedule.take_due(US(9999))).collect();
        assert_eq!(order, [1, 1, 2, 2, 2]);
    }

    proptest! {
        #[test]
        fn nothing_is_taken_before_it_is_due_and_nothing_is_lost(
            arrivals in prop::collection::vec((0_u64..4, 0_u64..500), 1..60),
            every in 1_u64..5,
        ) {
            let mode = two_point(every);
            let mut schedule = Schedule::new(mode);
            let (mut now, mut taken) = (Duration::ZERO, 0);
            for (connection, pause) in &arrivals {
                now += US(*pause);
                schedule.arrived(*connection, now);
                while let Some(due) = schedule.next_due().filter(|due| *due <= now) {
                    prop_assert!(due >= mode.least_delay());
                    prop_assert!(schedule.take_due(now).is_some());
                    taken += 1;
                }
                prop_assert_eq!(schedule.take_due(now), None);
            }
            while schedule.take_due(Duration::MAX).is_some() {
                taken += 1;
            }
            prop_assert_eq!(taken, arrivals.len());
        }
    }
}
