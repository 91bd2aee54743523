//! How long an agent may take for a command before it counts as hung. Pure: time is a parameter.

use std::time::{Duration, Instant};
use wirebench_schema::load::{LoadConfig, LoadEvent, Phase, Stop};

use crate::remote::PATIENCE;

/// How long an agent may make connections as long as there are more and more of them.
const CONNECTING_MOST: Duration = Duration::from_secs(300);

/// The longest window of a load with a count. A server that answers just within the timeout would hold a suite
/// for hours.
pub(crate) const LONGEST: Duration = Duration::from_secs(300);

/// How much of such a window is seen before the rest is estimated from it.
const SEEN: Duration = Duration::from_secs(20);

/// How long a load with this end takes at most, without its warm-up and the wait for the last replies.
pub(crate) fn longest(stop: Stop) -> Duration {
    stop.length().unwrap_or(LONGEST)
}

/// Until when an agent may go on. Each sign of progress moves that moment.
#[derive(Clone, Debug)]
pub(super) struct WaitLimit {
    begun: Instant,
    patience: Duration,
    until: Option<Instant>,
    awaited: Awaited,
}

#[derive(Clone, Debug)]
enum Awaited {
    Connections {
        settled: usize,
        all: usize,
    },
    Window,
    /// The requests of a count, how many of them have ended, and when its window began.
    Count {
        wanted: u64,
        ended: u64,
        begun: Option<Instant>,
    },
}

impl WaitLimit {
    /// Of the connections of `config`.
    pub(super) fn connecting(config: &LoadConfig, now: Instant) -> Self {
        let all = config.connections.saturating_add(config.idle_connections);
        let patience = PATIENCE + config.timeout * 3;
        let awaited = Awaited::Connections { settled: 0, all };
        Self { begun: now, patience, until: Some(now + patience), awaited }
    }

    /// Of the window of `config`.
    pub(super) fn window(config: &LoadConfig, now: Instant) -> Self {
        let patience = PATIENCE + config.warmup + config.timeout * 3;
        let until = config.stop.length().map(|window| now + patience + window);
        let awaited = match config.stop.count(config.connections) {
            Some(wanted) => Awaited::Count { wanted, ended: 0, begun: None },
            None => Awaited::Window,
        };
        Self { begun: now, patience, until, awaited }
    }

    pub(super) fn hear(&mut self, event: &LoadEvent, now: Instant) {
        match (event, &mut self.awaited) {
            (LoadEvent::Connecting { settled: more }, Awaited::Connections { settled, .. }) => {
                *settled = *more;
                self.until = Some((now + self.patience).min(self.begun + CONNECTING_MOST));
            }
            (LoadEvent::WindowStart, Awaited::Count { begun, .. }) => *begun = Some(now),
            (LoadEvent::Interval(interval), Awaited::Count { ended, .. })
                if interval.phase == Phase::Window =>
            {
                *ended = ended.saturating_add(interval.requests + interval.errors);
            }
            (LoadEvent::WindowEnd, _) => {
                self.awaited = Awaited::Window;
                self.until = Some(now + self.patience);
            }
            _ => {}
        }
    }

    /// Why the agent is given up now, if it is.
    pub(super) fn check(&self, now: Instant) -> Result<(), String> {
        if let Awaited::Count { wanted, ended, begun: Some(begun) } = self.awaited {
            too_slow(wanted, ended, now.duration_since(begun))?;
        }
        if self.until.is_none_or(|until| now < until) {
            return Ok(());
        }
        let Awaited::Connections { settled, all } = self.awaited else {
            return Err("the generator did not end in time and was killed".to_owned());
        };
        let seconds = now.duration_since(self.begun).as_secs();
        Err(format!(
            "the generator had tried {settled} of {all} connections after {seconds} s and was killed: ask for \
             fewer connections"
        ))
    }
}

/// An error if, at the pace so far, the count would take too long.
fn too_slow(wanted: u64, ended: u64, passed: Duration) -> Result<(), String> {
    let share = ended as f64 / wanted.max(1) as f64;
    let expected = passed.as_secs_f64() / share.max(f64::MIN_POSITIVE);
    if passed < SEEN || expected <= LONGEST.as_secs_f64() {
        return Ok(());
    }
    Err(format!(
        "only {ended} of {wanted} requests were over after {:.0} s, and a count may take {} s: ask for fewer \
         requests, or for a duration",
        passed.as_secs_f64(),
        LONGEST.as_secs()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::Interval;

    const SECOND: Duration = Duration::from_secs(1);

    /// A load over 100000 connections, and a moment at which a wait begins. The patience is 21 s.
    fn load(stop: Stop) -> (LoadConfig, Instant) {
        let config = LoadConfig::new("tcp://127.0.0.1:7".parse().unwrap());
        let config = LoadConfig { stop, connections: 100_000, timeout: 2 * SECOND, ..config };
        (config, Instant::now())
    }

    #[test]
    fn an_agent_is_hung_when_it_makes_no_more_connections() {
        let (config, begun) = load(Stop::After(SECOND));
        let mut limit = WaitLimit::connecting(&config, begun);
        let refused =
            |limit: &WaitLimit, seconds| limit.check(begun + seconds * SECOND).unwrap_err();
        assert_eq!(limit.check(begun + 20 * SECOND), Ok(()));
        assert_eq!(
            refused(&limit, 21),
            "the generator had tried 0 of 100000 connections after 21 s and was killed: ask for \
             fewer connections"
        );
        for second in 1..300 {
            let now = begun + second * SECOND;
            assert_eq!(limit.check(now), Ok(()), "after {second} s");
            limit.hear(&LoadEvent::Connecting { settled: second as usize }, now);
        }
        assert!(refused(&limit, 300).starts_with("the generator had tried 299 of 100000"));
    }

    #[test]
    fn a_window_may_take_its_time_and_the_patience() {
        let (config, begun) = load(Stop::After(SECOND));
        let limit = WaitLimit::window(&config, begun);
        assert_eq!(limit.check(begun + 21 * SECOND), Ok(()));
        let message = limit.check(begun + 22 * SECOND).unwrap_err();
        assert_eq!(message, "the generator did not end in time and was killed");
    }

    #[test]
    fn a_count_ends_when_it_would_take_too_long() {
        let (config, begun) = load(Stop::Requests(1_000_000));
        let mut limit = WaitLimit::window(&config, begun);
        limit.hear(&LoadEvent::WindowStart, begun);
        let interval = |phase| {
            let interval =
                Interval { phase, requests: 99_000, errors: 1000, ..Interval::default() };
            LoadEvent::Interval(interval)
        };
        limit.hear(&interval(Phase::Warmup), begun);
        assert_eq!(limit.check(begun + 19 * SECOND), Ok(()));
        assert!(limit.check(begun + 20 * SECOND).is_err());
        limit.hear(&interval(Phase::Window), begun + 19 * SECOND);
        assert_eq!(limit.check(begun + 29 * SECOND), Ok(()));
        assert_eq!(
            limit.check(begun + 31 * SECOND).unwrap_err(),
            "only 100000 of 1000000 requests were over after 31 s, and a count may take 300 s: \
             ask for fewer requests, or for a duration"
        );
        limit.hear(&LoadEvent::WindowEnd, begun + 31 * SECOND);
        assert_eq!(limit.check(begun + 51 * SECOND), Ok(()));
        assert!(limit.check(begun + 52 * SECOND).is_err());
        assert_eq!(too_slow(64_000, 64_000, LONGEST), Ok(()));
        let (config, begun) = load(Stop::RequestsPerConnection(10));
        let mut limit = WaitLimit::window(&config, begun);
        limit.hear(&LoadEvent::WindowStart, begun);
        assert!(limit.check(begun + SEEN).unwrap_err().starts_with("only 0 of 1000000 requests"));
    }
}
