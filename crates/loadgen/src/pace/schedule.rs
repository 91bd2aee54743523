//! A schedule of requests that does not depend on replies: absolute times in nanoseconds, computed
//! from the rate and the number of the request, never from the clock, so errors do not accumulate.
//!
//! Requests are numbered over all threads: thread i of T has those whose number is i modulo T, so
//! that together they are as evenly spread as from one thread. Request x is due when the integral
//! of the rate reaches x. For random arrivals, the numbers are replaced by the points of a Poisson
//! process of unit rate (the time change theorem, Çinlar 1975, Introduction to Stochastic
//! Processes, section 4.7), each thread drawing its own; the sum of independent Poisson processes
//! is one again.

use std::mem;
use wirebench_schema::load::{Arrivals, LatencyOrigin};

/// This many requests of a thread are walked over one by one where more are skipped at a time.
const FEW: f64 = 1000.0;

/// About this many requests that could not be sent are listed one by one.
const LISTED: f64 = 100_000.0;

/// A part of a rate over time, in requests per second. Behind the last part its last rate goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) seconds: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Part {
    /// Number of requests due in it.
    fn requests(&self) -> f64 {
        f64::midpoint(self.from, self.to) * self.seconds
    }

    /// Number of them due in its first seconds.
    fn requests_until(&self, seconds: f64) -> f64 {
        let slope = if self.seconds > 0.0 { (self.to - self.from) / self.seconds } else { 0.0 };
        (self.from + slope * seconds / 2.0) * seconds
    }

    /// Due time of its request with this number, in seconds after its start.
    fn seconds_of(&self, number: f64) -> f64 {
        // The stable solution of from * t + slope * t^2 / 2 = number; with a slope of 0 it is
        // number / from.
        let slope = if self.seconds > 0.0 { (self.to - self.from) / self.seconds } else { 0.0 };
        2.0 * number / (self.from + (self.from * self.from + 2.0 * slope * number).max(0.0).sqrt())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    parts: Vec<Part>,
    /// The part in which the next request lies, how many requests lie before it, and how many
    /// seconds.
    part: usize,
    requests_before: f64,
    seconds_before: f64,
    arrivals: Arrivals,
    /// Requests that were due while no connection was free are sent as soon as possible if latency counts from when
    /// they were due, else skipped.
    latency_from: LatencyOrigin,
    random: fastrand::Rng,
    threads: f64,
    /// The number of the next request.
    number: f64,
    start_ns: u64,
    next_ns: u64,
    /// Requests that were taken and given back.
    returned: Vec<u64>,
    window_start_ns: u64,
    taken_in_window: u64,
}

impl Schedule {
    /// The schedule of one thread out of several. There is at least one part, and no rate is 0.
    #[allow(clippy::cast_precision_loss, reason = "threads are few")]
    pub(crate) fn new(
        parts: Vec<Part>,
        arrivals: Arrivals,
        latency_from: LatencyOrigin,
        (thread, threads): (usize, usize),
        seed: u64,
    ) -> Self {
        let mut schedule = Self {
            parts,
            part: 0,
            requests_before: 0.0,
            seconds_before: 0.0,
            arrivals,
            latency_from,
            random: fastrand::Rng::with_seed(seed.wrapping_add(thread as u64)),
            threads: threads as f64,
            number: 0.0,
            start_ns: 0,
            next_ns: u64::MAX,
            returned: Vec::new(),
            window_start_ns: u64::MAX,
            taken_in_window: 0,
        };
        schedule.number = match arrivals {
            Arrivals::Even => thread as f64,
            Arrivals::Poisson => schedule.gap(),
        };
        schedule
    }

    pub(super) fn start(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
        self.next_ns = self.moment();
    }

    /// From now on taken requests are counted, those that were due before apart.
    pub(super) const fn enter_window(&mut self, now_ns: u64) {
        self.window_start_ns = now_ns;
    }

    /// Requests taken that were due in the window.
    pub(super) const fn taken_in_window(&self) -> u64 {
        self.taken_in_window
    }

    /// Due time of the next request.
    pub(super) fn next_ns(&self) -> u64 {
        self.returned.last().copied().unwrap_or(self.next_ns)
    }

    /// The next request, if it is due. Says when it was.
    pub(super) fn take(&mut self, now_ns: u64) -> Option<u64> {
        self.take_before(now_ns.saturating_add(1))
    }

    /// The next request for a connection that has become free only now, if one was due before.
    pub(super) fn take_overdue(&mut self, now_ns: u64) -> Option<u64> {
        match self.latency_from {
            LatencyOrigin::Due => self.take(now_ns),
            LatencyOrigin::Sent => {
                self.returned.clear();
                self.skip(now_ns.saturating_add(1));
                None
            }
        }
    }

    /// The next request, if it is due before this moment.
    pub(super) fn take_before(&mut self, end_ns: u64) -> Option<u64> {
        if self.next_ns() >= end_ns {
            return None;
        }
        let due_ns = self.returned.pop().unwrap_or_else(|| {
            let due_ns = self.next_ns;
            self.advance(1.0);
            due_ns
        });
        self.taken_in_window += u64::from(due_ns >= self.window_start_ns);
        Some(due_ns)
    }

    /// Gives the request back that was taken last.
    pub(super) fn put_back(&mut self, due_ns: u64) {
        self.returned.push(due_ns);
        self.taken_in_window -= u64::from(due_ns >= self.window_start_ns);
    }

    /// Number of requests that are due before this moment and were not taken.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a negative number of requests saturates to none"
    )]
    pub(super) fn overdue(&self, moment_ns: u64) -> u64 {
        let left = ((self.number_at(moment_ns) - self.number) / self.threads).ceil() as u64;
        match self.latency_from {
            LatencyOrigin::Due => left + self.returned.len() as u64,
            LatencyOrigin::Sent => 0,
        }
    }

    /// Reports the requests of the window that are due before `end_ns`, `limit` of them at most:
    /// when, and how many. Where they are too many to list, neighbours share a moment.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are positive, and a conversion saturates"
    )]
    pub(super) fn give_up(&mut self, end_ns: u64, limit: u64, mut unsent: impl FnMut(u64, u64)) {
        let window_start_ns = self.window_start_ns;
        let mut left = limit;
        for due_ns in mem::take(&mut self.returned) {
            if (window_start_ns..end_ns).contains(&due_ns) && left > 0 {
                unsent(due_ns, 1);
                left -= 1;
            }
        }
        self.skip(window_start_ns);
        let end = self.number_at(end_ns);
        let stride = ((end - self.number) / self.threads / LISTED).ceil().max(1.0);
        while self.next_ns < end_ns && left > 0 {
            let rest = ((end - self.number) / self.threads).ceil().max(1.0);
            let count = (stride.min(rest) as u64).min(left);
            unsent(self.next_ns, count);
            left -= count;
            self.advance(stride);
        }
    }

    /// Drops the requests that are due before this moment, without walking over more than a few.
    fn skip(&mut self, until_ns: u64) {
        let far = self.number_at(until_ns) - FEW * self.threads;
        if far > self.number {
            // Evenly spaced requests stay on their grid. A Poisson process has no memory, so that it
            // may go on from any moment.
            self.number += match self.arrivals {
                Arrivals::Even => ((far - self.number) / self.threads).floor() * self.threads,
                Arrivals::Poisson => far - self.number + self.gap(),
            };
            self.next_ns = self.moment();
        }
        while self.next_ns < until_ns {
            self.advance(1.0);
        }
    }

    /// The number of requests of all threads that are due before this moment, not rounded.
    #[allow(clippy::cast_precision_loss, reason = "moments of a load are below 2^53")]
    fn number_at(&self, moment_ns: u64) -> f64 {
        let mut seconds = moment_ns.saturating_sub(self.start_ns) as f64 / 1e9;
        let (mut requests, mut last) = (0.0, 0.0);
        for part in &self.parts {
            let within = seconds.min(part.seconds);
            requests += part.requests_until(within);
            seconds -= within;
            last = part.to;
        }
        requests + seconds * last
    }

    /// Goes on by this many requests. At random, one is a gap, and more are as many mean gaps.
    fn advance(&mut self, requests: f64) {
        self.number += match self.arrivals {
            Arrivals::Poisson if requests <= 1.0 => self.gap(),
            Arrivals::Even | Arrivals::Poisson => requests * self.threads,
        };
        self.next_ns = self.moment();
    }

    /// To the next point of this thread's process, in numbers of all threads: exponential.
    fn gap(&mut self) -> f64 {
        -(1.0 - self.random.f64()).ln() * self.threads
    }

    /// Due time of the next request.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a moment is not negative, and a conversion saturates"
    )]
    fn moment(&mut self) -> u64 {
        while self.part + 1 < self.parts.len()
            && self.number >= self.requests_before + self.parts[self.part].requests()
        {
            self.requests_before += self.parts[self.part].requests();
            self.seconds_before += self.parts[self.part].seconds;
            self.part += 1;
        }
        let part = self.parts[self.part];
        let number = self.number - self.requests_before;
        let last = self.part + 1 == self.parts.len();
        let seconds = if last && number >= part.requests() {
            part.seconds + (number - part.requests()) / part.to
        } else {
            part.seconds_of(number)
        };
        let after_ns = ((self.seconds_before + seconds) * 1e9).round();
        self.start_ns.saturating_add(after_ns as u64)
    }
}
