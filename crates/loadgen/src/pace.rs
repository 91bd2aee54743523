//! When a request may be sent. Pure: time is a parameter, and all connections of a thread ask one
//! pacer.
//!
//! In a closed loop a connection asks as soon as its last request is answered.

/// The answer to a connection that could send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pace {
    /// Send now.
    Send,
    /// Ask again then.
    Wait {
        /// When.
        until_ns: u64,
    },
    /// Nothing more is to be sent.
    Done,
}

/// How many requests of the window are still to be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Supply {
    /// As many as fit in the time.
    Unlimited,
    /// All that the warm-up needs; then this many in the window.
    UnlimitedUntilWindow { window_requests: u64 },
    /// So many.
    Limited { left: u64 },
}

/// Paces the connections of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    start_ns: u64,
    supply: Supply,
}

impl Pacer {
    /// Sends nothing until [`Self::start`]; with a quota no more than that many requests belong to
    /// the window.
    pub(crate) const fn new(quota: Option<u64>) -> Self {
        let supply = match quota {
            None => Supply::Unlimited,
            Some(window_requests) => Supply::UnlimitedUntilWindow { window_requests },
        };
        Self { start_ns: u64::MAX, supply }
    }

    /// The load begins then.
    pub(crate) const fn start(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// The window begins. What is in flight will be answered in it and so belongs to its quota.
    pub(crate) const fn enter_window(&mut self, in_flight: u64) {
        if let Supply::UnlimitedUntilWindow { window_requests } = self.supply {
            self.supply = Supply::Limited { left: window_requests.saturating_sub(in_flight) };
        }
    }

    /// Whether a connection may send now. [`Pace::Send`] counts as a request sent.
    pub(crate) fn next(&mut self, now_ns: u64) -> Pace {
        if now_ns < self.start_ns {
            return Pace::Wait { until_ns: self.start_ns };
        }
        match &mut self.supply {
            Supply::Unlimited | Supply::UnlimitedUntilWindow { .. } => Pace::Send,
            Supply::Limited { left: 0 } => Pace::Done,
            Supply::Limited { left } => {
                *left -= 1;
                Pace::Send
            }
        }
    }

    /// A request cannot even be sent, for want of a connection. It counts as sent. Says whether
    /// there was one left to be forgone.
    pub(crate) const fn forgo(&mut self) -> bool {
        match &mut self.supply {
            Supply::Unlimited | Supply::UnlimitedUntilWindow { .. } => true,
            Supply::Limited { left: 0 } => false,
            Supply::Limited { left } => {
                *left -= 1;
                true
            }
        }
    }

    /// Whether nothing more is to be sent.
    pub(crate) const fn is_done(&self) -> bool {
        matches!(self.supply, Supply::Limited { left: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_before_the_start() {
        let mut pacer = Pacer::new(None);
        assert_eq!(pacer.next(5), Pace::Wait { until_ns: u64::MAX });
        pacer.start(10);
        assert_eq!(pacer.next(9), Pace::Wait { until_ns: 10 });
        assert_eq!(pacer.next(10), Pace::Send);
    }

    #[test]
    fn a_quota_is_given_out_once_and_what_the_warm_up_left_in_flight_belongs_to_it() {
        let mut pacer = Pacer::new(Some(5));
        pacer.start(0);
        for _ in 0..100 {
            assert_eq!(pacer.next(1), Pace::Send);
        }
        pacer.enter_window(2);
        assert_eq!([pacer.next(2), pacer.next(2)], [Pace::Send; 2]);
        assert!(!pacer.is_done());
        assert!(pacer.forgo());
        assert!(pacer.is_done());
        assert_eq!(pacer.next(2), Pace::Done);
        assert!(!pacer.forgo());
    }

    #[test]
    fn without_a_quota_a_closed_loop_never_ends_by_itself() {
        let mut pacer = Pacer::new(None);
        pacer.start(0);
        pacer.enter_window(3);
        assert!(pacer.forgo());
        assert_eq!(pacer.next(u64::MAX - 1), Pace::Send);
        assert!(!pacer.is_done());
    }
}
