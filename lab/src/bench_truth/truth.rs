//! The percentiles that a correct measurement must find, from the server's mode alone. Pure.
//!
//! They are those of requests that arrive evenly in time, independent of the server's state, as
//! from independent users. The overhead of the machine is not included.

use std::time::Duration;

use super::mode::Mode;

/// The latency that this share of all requests, 0 to 1, does not exceed.
pub(crate) fn quantile(mode: Mode, share: f64) -> Duration {
    match mode {
        Mode::Constant { delay } => delay,
        Mode::TwoPoint { short, long, every } => {
            if share <= 1.0 - 1.0 / every.get() as f64 {
                short.min(long)
            } else {
                short.max(long)
            }
        }
        // A request during a stall waits for its end: evenly between nothing and all of it.
        Mode::Stall { period, length } => {
            let stalled = ratio(length, period);
            let within = (share - (1.0 - stalled)).max(0.0) / stalled;
            length.mul_f64(within)
        }
    }
}

/// The standard error of a quantile over this many requests that come at random, not evenly.
///
/// With random arrivals the share of requests that meet a stall is itself random. The delays of the
/// other modes do not depend on when a request comes. See David and Nagaraja, Order Statistics,
/// section 10.2: sqrt(p (1 - p) / n) over the density at the quantile.
pub(crate) fn standard_error(mode: Mode, share: f64, requests: u64) -> Duration {
    match mode {
        Mode::Constant { .. } | Mode::TwoPoint { .. } => Duration::ZERO,
        // Nearly all requests meet no stall, so a few more or less do not matter.
        Mode::Stall { period, length } if share < 1.0 - ratio(length, period) => Duration::ZERO,
        // Above zero the density is even: the share of the stall over its length, 1 / period.
        Mode::Stall { period, .. } => {
            period.mul_f64((share * (1.0 - share) / requests.max(1) as f64).sqrt())
        }
    }
}

fn ratio(part: Duration, whole: Duration) -> f64 {
    part.as_secs_f64() / whole.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn the_closed_forms_are_those_of_the_servers_own_arithmetic() {
        let every = NonZeroU64::new(20).unwrap();
        for mode in [
            Mode::Constant { delay: MS(5) },
            Mode::TwoPoint { short: MS(1), long: MS(20), every },
            Mode::Stall { period: MS(1000), length: MS(200) },
            Mode::Stall { period: MS(100), length: MS(20) },
        ] {
            // 5000 requests a second for ten seconds, answered as the server would.
            let mut latencies: Vec<Duration> = (1..=50_000_u64)
                .map(|number| {
                    let arrival = Duration::from_micros(200) * u32::try_from(number).unwrap();
                    mode.due(number, arrival) - arrival
                })
                .collect();
            latencies.sort();
            for share in [0.5, 0.8, 0.9, 0.949, 0.951, 0.99] {
                let index = (share * latencies.len() as f64).ceil() as usize - 1;
                let (counted, formula) = (latencies[index], quantile(mode, share));
                let error = counted.abs_diff(formula);
                // Requests lie 0.2 ms apart, which is as exact as counting can be.
                assert!(
                    error <= Duration::from_micros(400),
                    "{mode}, {share}: {counted:?} {formula:?}"
                );
            }
        }
    }

    #[test]
    fn only_what_depends_on_the_moment_of_arrival_varies_with_it() {
        let stall = Mode::Stall { period: MS(1000), length: MS(200) };
        let error = standard_error(stall, 0.9, 900);
        assert_eq!(error, MS(10));
        assert!(standard_error(stall, 0.5, 900).is_zero());
        assert!(standard_error(Mode::Constant { delay: MS(5) }, 0.9, 900).is_zero());
    }
}
