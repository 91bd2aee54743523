//! How a condition is written, read and shown again.
//!
//! Not here: what becomes of it.

use serde::{Serialize, Serializer};
use std::{cmp::Ordering, fmt, str::FromStr};

use crate::analysis::{Metric, unknown};

pub const GRAMMAR: &str = "write METRIC < -PERCENT or METRIC > +PERCENT, such as 'throughput < -3%' or \
                           'p99 > +10%'; METRIC is throughput, cpu, p50, p99, p999 or memory";

/// The metrics that a condition may name.
const METRICS: [Metric; 6] = [
    Metric::Throughput,
    Metric::Cpu,
    Metric::LatencyP50,
    Metric::LatencyP99,
    Metric::LatencyP999,
    Metric::Memory,
];

/// More than 1000 times as much is a mistake in writing.
const PERCENT_LIMIT: f64 = 100_000.0;

/// When a comparison fails: a metric changed by more than so much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// What must not change so. In an idle phase `cpu` and `memory` mean what they mean there.
    pub metric: Metric,
    pub beyond: LimitSide,
    /// New over old, less one: -0.03 is 3 % less.
    pub share: f64,
}

/// On which side of its limit a condition is met.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LimitSide {
    Below,
    Above,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |reason: &str| format!("`{text}` is not a condition: {reason}; {GRAMMAR}");
        let at = text.find(['<', '>']).ok_or_else(|| wrong("it has neither `<` nor `>`"))?;
        let (name, rest) = text.split_at(at);
        let (sign, limit) = rest.split_at(1);
        let name = name.trim();
        let metric = name.parse::<Metric>().map_err(|_| wrong(&unknown(name, &METRICS)))?;
        if !METRICS.contains(&metric) {
            return Err(wrong(&format!("`{metric}` is not a metric for conditions")));
        }
        let limit = limit.trim();
        let number = limit.strip_suffix('%').ok_or_else(|| wrong("it does not end in `%`"))?;
        let percent: f64 =
            number.trim().parse().map_err(|_| wrong(&format!("`{limit}` is not a percentage")))?;
        if !percent.is_finite() || percent.abs() > PERCENT_LIMIT {
            return Err(wrong(&format!("`{limit}` is not a percentage")));
        }
        let beyond = if sign == "<" { LimitSide::Below } else { LimitSide::Above };
        let (away, own, other) = match beyond {
            LimitSide::Below => (-percent, '-', '+'),
            LimitSide::Above => (percent, '+', '-'),
        };
        match away {
            _ if away < 0.0 => Err(wrong("an unchanged result would violate it")),
            _ if away == 0.0 && number.starts_with(other) => {
                Err(wrong(&format!("the limit of `{sign}` has the sign `{own}`")))
            }
            _ if away >= 100.0 && beyond == LimitSide::Below => {
                Err(wrong("no metric falls by more than 100 %"))
            }
            _ => Ok(Self { metric, beyond, share: percent / 100.0 }),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { metric, beyond, share } = self;
        let percent = (share * 100.0 * 1e6).round() / 1e6;
        match beyond {
            LimitSide::Below => write!(formatter, "{metric} < {percent}%"),
            LimitSide::Above => write!(formatter, "{metric} > {percent:+}%"),
        }
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Condition {
    /// Whether a change of so much is beyond its limit.
    pub(super) fn is_beyond(&self, share: f64) -> bool {
        let order = share.partial_cmp(&self.share);
        match self.beyond {
            LimitSide::Below => order == Some(Ordering::Less),
            LimitSide::Above => order == Some(Ordering::Greater),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Condition {
        text.parse().unwrap()
    }

    #[test]
    fn conditions_read_with_and_without_spaces_and_show_themselves_again() {
        for (text, shown) in [
            ("throughput < -3%", "throughput < -3%"),
            ("throughput<-3%", "throughput < -3%"),
            (" p999 >  +12.5 % ", "p999 > +12.5%"),
            ("memory > 5%", "memory > +5%"),
            ("cpu>0%", "cpu > +0%"),
        ] {
            assert_eq!(read(text).to_string(), shown);
            assert_eq!(read(shown), read(text));
        }
        let three = read("throughput < -3%");
        assert!(three.is_beyond(-0.031) && !three.is_beyond(-0.029) && !three.is_beyond(0.2));
        assert!(!three.is_beyond(f64::NAN));
    }

    #[test]
    fn what_is_no_condition_gets_its_reason_and_the_grammar() {
        for (text, reason) in [
            ("throughput", "neither `<` nor `>`"),
            ("", "neither `<` nor `>`"),
            ("thruput < -3%", "did you mean `throughput`?"),
            ("switches > 3%", "`switches` is not a metric for conditions"),
            ("throughput < -3", "it does not end in `%`"),
            ("throughput < three%", "`three%` is not a percentage"),
            ("throughput < nan%", "`nan%` is not a percentage"),
            ("throughput < 3%", "an unchanged result would violate it"),
            ("cpu > -3%", "an unchanged result would violate it"),
            ("cpu > -0%", "the limit of `>` has the sign `+`"),
            ("throughput < +0%", "the limit of `<` has the sign `-`"),
            ("throughput < -100%", "no metric falls by more than 100 %"),
            ("cpu >= 3%", "`= 3%` is not a percentage"),
        ] {
            let message = text.parse::<Condition>().unwrap_err();
            assert!(message.contains(reason) && message.contains(GRAMMAR), "{text}: {message}");
        }
    }
}
