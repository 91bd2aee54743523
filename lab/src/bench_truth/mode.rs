//! When a request is answered. Pure: arrivals go in as times, due times come out.

use std::{fmt, num::NonZeroU64, time::Duration};
use wirebench_schema::units::{parse_duration, write_duration};

/// The delays of a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::Subcommand)]
pub(crate) enum Mode {
    /// Answer each request after the same delay, such as 500us
    Constant {
        /// Delay
        #[arg(value_parser = parse_duration)]
        delay: Duration,
    },
    /// Answer each n-th request of all connections later than the others
    TwoPoint {
        /// Delay of the others
        #[arg(value_parser = parse_duration)]
        short: Duration,
        /// Delay of each n-th request
        #[arg(value_parser = parse_duration)]
        long: Duration,
        /// n
        every: NonZeroU64,
    },
    /// Answer at once, but stall at the start of every period
    Stall {
        /// Time from the start of a stall to the start of the next
        #[arg(value_parser = parse_duration)]
        period: Duration,
        /// Length of each stall, shorter than the period
        #[arg(value_parser = parse_duration)]
        length: Duration,
    },
}

impl Mode {
    /// When the request with this number, from 1, is to be answered, given when it arrived. Both
    /// times count from the start of the server.
    pub(crate) fn due(&self, number: u64, arrival: Duration) -> Duration {
        match *self {
            Self::Constant { delay } => arrival + delay,
            Self::TwoPoint { long, every, .. } if number.is_multiple_of(every.get()) => {
                arrival + long
            }
            Self::TwoPoint { short, .. } => arrival + short,
            Self::Stall { period, length } => {
                let period_ns = period.as_nanos();
                let begin_ns = arrival.as_nanos() / period_ns * period_ns;
                let begin = Duration::from_nanos(u64::try_from(begin_ns).unwrap_or(u64::MAX));
                arrival.max(begin + length)
            }
        }
    }

    /// The least delay of any request.
    pub(crate) fn least_delay(&self) -> Duration {
        match *self {
            Self::Constant { delay } => delay,
            Self::TwoPoint { short, long, .. } => short.min(long),
            Self::Stall { .. } => Duration::ZERO,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Constant { delay } => write!(formatter, "constant {}", write_duration(delay)),
            Self::TwoPoint { short, long, every } => {
                let (short, long) = (write_duration(short), write_duration(long));
                write!(formatter, "two-point {short} {long} {every}")
            }
            Self::Stall { period, length } => {
                let (period, length) = (write_duration(period), write_duration(length));
                write!(formatter, "stall {period} {length}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn only_each_nth_request_waits_longer() {
        let every = NonZeroU64::new(3).unwrap();
        let mode = Mode::TwoPoint { short: MS(1), long: MS(20), every };
        let delays: Vec<_> = (1..=6).map(|number| mode.due(number, MS(100)) - MS(100)).collect();
        assert_eq!(delays, [MS(1), MS(1), MS(20), MS(1), MS(1), MS(20)]);
        assert_eq!(mode.least_delay(), MS(1));
    }

    #[test]
    fn a_stall_answers_what_came_during_it_at_its_end_and_the_rest_at_once() {
        let mode = Mode::Stall { period: MS(1000), length: MS(200) };
        for (arrival, due) in
            [(0, 200), (199, 200), (200, 200), (999, 999), (1000, 1200), (5150, 5200), (5900, 5900)]
        {
            assert_eq!(mode.due(1, MS(arrival)), MS(due), "arrival at {arrival} ms");
        }
    }
}
