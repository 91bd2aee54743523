//! How long a load with a count may take. A server that answers just within the timeout would hold a
//! suite for hours. Pure: time is a parameter.

use std::time::Duration;
use wirebench_schema::load::{LoadConfig, Stop};

/// The longest window of a load with a count.
pub(super) const LONGEST: Duration = Duration::from_secs(300);

/// How much of the window is seen before the rest is estimated from it.
const SEEN: Duration = Duration::from_secs(20);

/// The requests of a count, and how many of them have ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    wanted: u64,
    ended: u64,
}

impl Count {
    /// Of a load that a count ends.
    pub(super) fn of(config: &LoadConfig) -> Option<Self> {
        let wanted = match config.stop {
            Stop::After(_) => return None,
            Stop::Requests(requests) => requests,
            Stop::RequestsPerConnection(requests) => {
                requests.saturating_mul(config.connections as u64)
            }
        };
        Some(Self { wanted, ended: 0 })
    }

    /// This many more were answered or failed.
    pub(super) const fn add(&mut self, ended: u64) {
        self.ended = self.ended.saturating_add(ended);
    }

    /// Why the load is ended after so much of its window, if it is.
    #[allow(clippy::cast_precision_loss, reason = "counts of a load are far below 2^53")]
    pub(super) fn too_slow(&self, passed: Duration) -> Option<String> {
        let share = self.ended as f64 / self.wanted.max(1) as f64;
        let expected = passed.as_secs_f64() / share.max(f64::MIN_POSITIVE);
        (passed >= SEEN && expected > LONGEST.as_secs_f64()).then(|| {
            format!(
                "only {} of {} requests were over after {:.0} s, and a count may take {} s: ask for \
                 fewer requests, or for a duration",
                self.ended,
                self.wanted,
                passed.as_secs_f64(),
                LONGEST.as_secs()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(stop: Stop) -> Option<Count> {
        let config = LoadConfig::new("tcp://127.0.0.1:7".parse().unwrap());
        Count::of(&LoadConfig { stop, connections: 64, ..config })
    }

    #[test]
    fn a_server_that_answers_just_within_the_timeout_is_given_up_early() {
        assert!(count(Stop::After(SEEN)).is_none());
        let mut count = count(Stop::Requests(1_000_000)).unwrap();
        // 64 connections, a reply every 1.9 s on each.
        count.add(64 * 10);
        assert_eq!(count.too_slow(Duration::from_secs(19)), None);
        let reason = count.too_slow(Duration::from_secs(20)).unwrap();
        let begin = "only 640 of 1000000 requests were over after 20 s, and a count may take 300 s";
        assert!(reason.starts_with(begin), "{reason}");
    }

    #[test]
    fn a_count_that_ends_in_time_is_not_given_up() {
        let mut count = count(Stop::RequestsPerConnection(1000)).unwrap();
        count.add(4267);
        assert_eq!(count.too_slow(SEEN), None);
        count.add(64_000 - 4267);
        assert_eq!(count.too_slow(LONGEST), None);
        count.ended = 0;
        assert!(count.too_slow(SEEN).is_some());
    }
}
