//! When a request is answered, and the percentiles that a correct measurement must find. Pure: arrivals go in as times,
//! due times come out.

use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};
use wirebench_schema::units::write_duration;

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Mode {
    /// Each request is answered after this delay.
    Constant { delay: Duration },
    /// Each n-th request of all connections is answered later than the others.
    TwoPoint { short: Duration, long: Duration, every: u64 },
    /// None, but a stall at the start of every period, shorter than it.
    Stall { period: Duration, length: Duration },
}

impl Mode {
    /// When the request with this number, from 1, is to be answered, given when it arrived. Both
    /// times count from the start of the server.
    pub(crate) fn due(&self, number: u64, arrival: Duration) -> Duration {
        match *self {
            Self::Constant { delay } => arrival + delay,
            Self::TwoPoint { long, every, .. } if number.is_multiple_of(every) => arrival + long,
            Self::TwoPoint { short, .. } => arrival + short,
            Self::Stall { period, length } => {
                let period_ns = period.as_nanos();
                let begin_ns = arrival.as_nanos() / period_ns * period_ns;
                let begin = Duration::from_nanos(u64::try_from(begin_ns).unwrap_or(u64::MAX));
                arrival.max(begin + length)
            }
        }
    }

    /// The latency that this share of all requests, 0 to 1, does not exceed, without the overhead of the machine.
    /// Requests arrive evenly over two seconds, which are whole periods, independent of the server's state.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        const REQUESTS: u64 = 200_000;
        let delay = |number| {
            let arrival = Duration::from_micros(10 * number);
            self.due(number, arrival) - arrival
        };
        let mut delays: Vec<Duration> = (1..=REQUESTS).map(delay).collect();
        delays.sort_unstable();
        let rank = (share * REQUESTS as f64).ceil() as usize;
        delays[rank.max(1) - 1]
    }

    /// The standard error of a quantile over this many requests that come at random, not evenly.
    ///
    /// With random arrivals the share of requests that meet a stall is itself random. The delays of the
    /// other modes do not depend on when a request comes. See David and Nagaraja, Order Statistics,
    /// section 10.2: sqrt(p (1 - p) / n) over the density at the quantile.
    pub(crate) fn standard_error(&self, share: f64, requests: u64) -> Duration {
        match *self {
            // Where nearly all requests meet no stall, a few more or less do not matter. Above zero the density is
            // even: the share of the stall over its length, 1 / period.
            Self::Stall { period, length } if share >= 1.0 - length.div_duration_f64(period) => {
                period.mul_f64((share * (1.0 - share) / requests.max(1) as f64).sqrt())
            }
            _ => Duration::ZERO,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = write_duration;
        match *self {
            Self::Constant { delay } => write!(formatter, "constant {}", show(delay)),
            Self::TwoPoint { short, long, every } => {
                write!(formatter, "two-point {} {} {every}", show(short), show(long))
            }
            Self::Stall { period, length } => {
                write!(formatter, "stall {} {}", show(period), show(length))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;
    const CONSTANT: Mode = Mode::Constant { delay: Duration::from_millis(5) };
    const STALL: Mode =
        Mode::Stall { period: Duration::from_secs(1), length: Duration::from_millis(200) };

    fn two_point(every: u64) -> Mode {
        Mode::TwoPoint { short: MS(1), long: MS(20), every }
    }

    #[test]
    fn each_nth_request_waits_longer_and_a_stall_answers_at_its_end() {
        let mode = two_point(3);
        let delays: Vec<_> = (1..=6).map(|number| mode.due(number, MS(100)) - MS(100)).collect();
        assert_eq!(delays, [MS(1), MS(1), MS(20), MS(1), MS(1), MS(20)]);
        for (arrival, due) in
            [(0, 200), (199, 200), (200, 200), (999, 999), (1000, 1200), (5150, 5200), (5900, 5900)]
        {
            assert_eq!(STALL.due(1, MS(arrival)), MS(due), "arrival at {arrival} ms");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_closed_forms_and_vary_with_the_moment_of_arrival_only_over_stalls()
     {
        // With stalls of a fifth of the time, the share above 0.8 is evenly between nothing and the whole stall.
        for (mode, share, milliseconds) in [
            (CONSTANT, 0.0, 5),
            (CONSTANT, 0.99, 5),
            (two_point(20), 0.949, 1),
            (two_point(20), 0.951, 20),
            (STALL, 0.8, 0),
            (STALL, 0.9, 100),
            (STALL, 0.99, 190),
        ] {
            let error = mode.quantile(share).abs_diff(MS(milliseconds));
            assert!(error <= Duration::from_micros(20), "{mode}, {share}: {error:?}");
        }
        assert_eq!(STALL.standard_error(0.9, 900), MS(10));
        assert!(STALL.standard_error(0.5, 900).is_zero());
        assert!(CONSTANT.standard_error(0.9, 900).is_zero());
    }
}
