//! When a line is due that says that the program is at work. Time is a parameter.

use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_secs(10);

/// When the next line is due that only says that the program is at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heartbeat {
    last: Instant,
}

impl Heartbeat {
    /// The first line is due an interval after this moment.
    pub(super) const fn new(now: Instant) -> Self {
        Self { last: now }
    }

    /// Whether it is due. If so, the next one is due an interval later.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let is_due = now.saturating_duration_since(self.last) >= INTERVAL;
        if is_due {
            self.last = now;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_every_ten_seconds() {
        let start = Instant::now();
        let mut heartbeat = Heartbeat::new(start);
        let seconds = [0, 9, 10, 11, 19, 35, 44, 45];
        let due = seconds.map(|it| heartbeat.is_due(start + Duration::from_secs(it)));
        assert_eq!(due, [false, false, true, false, false, true, false, true]);
    }
}
