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
                let since_begin_ns = arrival.as_nanos() % period.as_nanos();
                arrival + length.saturating_sub(Duration::from_nanos(since_begin_ns as u64))
            }
        }
    }

    /// The latency that this share of all requests, 0 to 1, does not exceed, without the overhead of the machine.
    /// Requests arrive evenly over whole periods, independent of the server's state.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        match *self {
            Self::Constant { delay } => delay,
            Self::TwoPoint { short, every, .. } if share <= 1.0 - 1.0 / every as f64 => short,
            Self::TwoPoint { long, .. } => long,
            // Latencies of requests within a stall are evenly between nothing and all of it.
            Self::Stall { period, length } => length.saturating_sub(period.mul_f64(1.0 - share)),
        }
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

    const REQUESTS: u64 = 200_000;

    #[test]
    fn quantiles_are_those_of_requests_that_arrive_evenly_over_two_seconds() {
        let ms = Duration::from_millis;
        for mode in [
            Mode::Constant { delay: ms(5) },
            Mode::TwoPoint { short: ms(1), long: ms(20), every: 20 },
            Mode::Stall { period: ms(1000), length: ms(200) },
        ] {
            let delay = |number| {
                let arrival = Duration::from_micros(10 * number);
                mode.due(number, arrival) - arrival
            };
            let mut delays: Vec<Duration> = (1..=REQUESTS).map(delay).collect();
            delays.sort_unstable();
            for share in [0.001, 0.5, 0.8, 0.9, 0.949, 0.951, 0.99] {
                let simulated = delays[(share * REQUESTS as f64) as usize - 1];
                let error = mode.quantile(share).abs_diff(simulated);
                assert!(error <= Duration::from_micros(20), "{mode}, {share}: {error:?}");
            }
        }
    }
}
