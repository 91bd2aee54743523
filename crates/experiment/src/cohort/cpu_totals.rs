//! CPU time of an instance since the rounds began, in its visits and outside them.

use std::time::Duration;
use wirebench_judge::balance::beyond_rest;
use wirebench_schema::{agent::WindowReport, journal::Balance};
use wirebench_server::cost::Clocks;

/// The sums over its visits so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct CpuTotals {
    /// The clocks when the rounds began, and behind the last visit.
    began: Clocks,
    last: Clocks,
    /// The living processes in visits, and how long these lasted.
    visits_ns: u64,
    visits_length: Duration,
    /// Children that ended in visits.
    ended_ns: u64,
}

impl CpuTotals {
    /// Of an instance whose rounds begin now.
    pub(super) const fn new(now: Clocks) -> Self {
        let (visits_ns, visits_length, ended_ns) = (0, Duration::ZERO, 0);
        Self { began: now, last: now, visits_ns, visits_length, ended_ns }
    }

    /// A visit has just ended, in which children that ended have used `ended_ns`.
    pub(super) fn note(&mut self, visit: &WindowReport, ended_ns: u64, now: Clocks) {
        self.last = now;
        self.visits_ns += visit.cpu.whole_ns;
        self.visits_length += Duration::from_nanos(visit.end_ns.saturating_sub(visit.start_ns));
        self.ended_ns += ended_ns;
    }

    /// The balance of an instance that is about to be stopped. Its end is not known yet.
    pub(super) fn balance(&self, now: Clocks, rest_share: f64) -> Balance {
        let used = |from: Clocks, to: Clocks| to.cpu_ns.saturating_sub(from.cpu_ns);
        let length = |from: Clocks, to: Clocks| to.at.saturating_duration_since(from.at);
        let beyond = |used_ns, length: Duration| {
            beyond_rest(used_ns, u64::try_from(length.as_nanos()).unwrap_or(u64::MAX), rest_share)
        };
        let between_ns = used(self.began, self.last).saturating_sub(self.visits_ns);
        let between = length(self.began, self.last).saturating_sub(self.visits_length);
        Balance {
            visits_ns: self.visits_ns + self.ended_ns,
            between_ns: beyond(between_ns, between),
            after_ns: beyond(used(self.last, now), length(self.last, now)),
            end_ns: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;
    use wirebench_schema::{
        agent::WindowCpu,
        load::{EngineChoice, LoadConfig, LoadReport},
    };

    const MS: u64 = 1_000_000;

    #[test]
    fn cpu_time_is_that_of_visits_or_between_them_or_after_the_last_one() {
        let began = Instant::now();
        let at = |ms, cpu_ms| Clocks { at: began + Duration::from_millis(ms), cpu_ns: cpu_ms * MS };
        let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        let visit = WindowReport {
            load: 0,
            report: LoadReport::new("0".into(), config, EngineChoice::Epoll),
            start_ns: 7 * MS,
            end_ns: 57 * MS,
            waited_ns: 0,
            generator_waited_ns: 0,
            cpu: WindowCpu { counted_ns: None, whole_ns: 40 * MS },
            parked_cpu_ns: Vec::new(),
            series: Vec::new(),
        };
        let mut totals = CpuTotals::new(at(0, 1000));
        totals.note(&visit, 5 * MS, at(500, 1045));
        totals.note(&visit, 0, at(1100, 1110));
        let found = totals.balance(at(1200, 1150), 0.01);
        let ms = [found.visits_ns, found.between_ns, found.after_ns].map(|ns| ns / MS);
        assert_eq!(ms, [85, 20, 39]);
    }
}
