//! When a generator counts as hung. Pure: time is a parameter.

use std::time::{Duration, Instant};
use wirebench_schema::load::{LoadConfig, LoadEvent, Phase, Stop};

use super::count::Count;

/// How much longer than planned a generator may take before it counts as hung.
pub(super) const GENERATOR_PATIENCE: Duration = Duration::from_secs(15);

/// How long a generator may make connections as long as there are more and more of them.
const CONNECTING_MOST: Duration = Duration::from_secs(300);

/// Until when a generator may go on. Each sign of progress moves that moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    begun: Instant,
    patience: Duration,
    /// The length of the window, where no count ends it.
    window: Option<Duration>,
    /// A count, and when its window began.
    count: Option<Count>,
    window_begun: Option<Instant>,
    until: Option<Instant>,
    connections: usize,
    /// Connections that were made or refused; none any more once the load has begun.
    settled: Option<usize>,
}

impl Deadline {
    /// Of a generator that begins with the load `config` now.
    pub(super) fn new(config: &LoadConfig, now: Instant) -> Self {
        let patience = GENERATOR_PATIENCE + config.warmup + config.timeout * 3;
        let window = match config.stop {
            Stop::After(window) => Some(window),
            Stop::Requests(_) | Stop::RequestsPerConnection(_) => None,
        };
        let connections = config.connections.saturating_add(config.idle_connections);
        let until = Some(now + patience);
        Self {
            begun: now,
            patience,
            window,
            count: Count::of(config),
            window_begun: None,
            until,
            connections,
            settled: Some(0),
        }
    }

    pub(super) fn hear(&mut self, event: &LoadEvent, now: Instant) {
        match event {
            LoadEvent::Connecting { settled } => {
                self.settled = Some(*settled);
                self.until = Some((now + self.patience).min(self.begun + CONNECTING_MOST));
            }
            LoadEvent::Connected { .. } => {
                self.settled = None;
                self.until = self.window.map(|window| now + self.patience + window);
            }
            LoadEvent::WindowStart => self.window_begun = Some(now),
            LoadEvent::Interval(interval) => {
                if let (Some(count), Phase::Window) = (&mut self.count, interval.phase) {
                    count.add(interval.requests + interval.errors);
                }
            }
            LoadEvent::WindowEnd => {
                self.count = None;
                self.until = Some(now + self.patience);
            }
            LoadEvent::ServerClocks(_) | LoadEvent::Failed { .. } | LoadEvent::Report(_) => {}
        }
    }

    /// Why the generator is killed now, if it is.
    pub(super) fn check(&self, now: Instant) -> Result<(), String> {
        if let (Some(count), Some(begun)) = (&self.count, self.window_begun)
            && let Some(reason) = count.too_slow(now.duration_since(begun))
        {
            return Err(reason);
        }
        if self.until.is_none_or(|until| now < until) {
            return Ok(());
        }
        let Some(settled) = self.settled else {
            return Err("the generator did not end in time and was killed".to_owned());
        };
        Err(format!(
            "the generator had tried {settled} of {} connections after {} s and was killed: ask for \
             fewer connections",
            self.connections,
            now.duration_since(self.begun).as_secs()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use wirebench_schema::load::Interval;

    const SECOND: Duration = Duration::from_secs(1);

    /// A load of 1 s over 100000 connections, and when it began. The patience is 21 s.
    fn deadline(stop: Stop) -> (Deadline, Instant) {
        let config = LoadConfig::new("tcp://127.0.0.1:7".parse().unwrap());
        let config = LoadConfig { stop, connections: 100_000, timeout: 2 * SECOND, ..config };
        let (config, now) = (LoadConfig { warmup: Duration::ZERO, ..config }, Instant::now());
        (Deadline::new(&config, now), now)
    }

    #[test]
    fn a_generator_that_goes_on_connecting_is_not_hung() {
        let (mut deadline, begun) = deadline(Stop::After(SECOND));
        for second in 1..100 {
            let now = begun + second * SECOND;
            assert_eq!(deadline.check(now), Ok(()), "after {second} s");
            deadline.hear(&LoadEvent::Connecting { settled: second as usize * 1000 }, now);
        }
        let connected = begun + 100 * SECOND;
        deadline.hear(&LoadEvent::Connected { connections: 100_000 }, connected);
        assert_eq!(deadline.check(connected + 21 * SECOND), Ok(()));
        let message = deadline.check(connected + 22 * SECOND).unwrap_err();
        expect!["the generator did not end in time and was killed"].assert_eq(&message);
    }

    #[test]
    fn a_generator_that_makes_no_more_connections_is_hung() {
        let (mut deadline, begun) = deadline(Stop::Requests(1));
        assert_eq!(deadline.check(begun + 20 * SECOND), Ok(()));
        let message = deadline.check(begun + 21 * SECOND).unwrap_err();
        assert_eq!(
            message,
            "the generator had tried 0 of 100000 connections after 21 s and was killed: ask for \
             fewer connections"
        );
        deadline.hear(&LoadEvent::Connecting { settled: 500 }, begun + 20 * SECOND);
        assert_eq!(deadline.check(begun + 40 * SECOND), Ok(()));
        let message = deadline.check(begun + 41 * SECOND).unwrap_err();
        assert_eq!(
            message,
            "the generator had tried 500 of 100000 connections after 41 s and was killed: ask for \
             fewer connections"
        );
    }

    #[test]
    fn connecting_has_a_limit_however_steadily_it_goes_on() {
        let (mut deadline, begun) = deadline(Stop::After(SECOND));
        for second in 1..300 {
            deadline
                .hear(&LoadEvent::Connecting { settled: second }, begun + second as u32 * SECOND);
        }
        assert_eq!(deadline.check(begun + 299 * SECOND), Ok(()));
        assert!(deadline.check(begun + 300 * SECOND).is_err());
    }

    #[test]
    fn a_count_ends_when_it_would_take_too_long() {
        let (mut deadline, begun) = deadline(Stop::Requests(1_000_000));
        deadline.hear(&LoadEvent::Connected { connections: 1 }, begun);
        deadline.hear(&LoadEvent::WindowStart, begun);
        let interval = |phase| {
            LoadEvent::Interval(Interval {
                phase,
                start_ns: 0,
                length_ns: 1,
                requests: 99_000,
                requests_per_second: 0.0,
                errors: 1000,
                bytes_received: 0,
                latency_ns_p50: None,
                latency_ns_p99: None,
                latency_ns_max: None,
                lower_bounds: Vec::new(),
                latency: None,
            })
        };
        deadline.hear(&interval(Phase::Warmup), begun);
        assert_eq!(deadline.check(begun + 19 * SECOND), Ok(()));
        assert!(deadline.check(begun + 20 * SECOND).is_err());
        deadline.hear(&interval(Phase::Window), begun + 19 * SECOND);
        assert_eq!(deadline.check(begun + 29 * SECOND), Ok(()));
        assert_eq!(
            deadline.check(begun + 31 * SECOND).unwrap_err(),
            "only 100000 of 1000000 requests were over after 31 s, and a count may take 300 s: \
             ask for fewer requests, or for a duration"
        );
        deadline.hear(&LoadEvent::WindowEnd, begun + 31 * SECOND);
        assert_eq!(deadline.check(begun + 51 * SECOND), Ok(()));
        assert!(deadline.check(begun + 52 * SECOND).is_err());
    }
}
