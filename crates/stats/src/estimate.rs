//! What an estimate is: a value, how many samples it comes from, and its interval if they suffice.
//!
//! Not here: how a value or an interval is computed.

use schemars::JsonSchema;
use serde::Serialize;

/// The confidence of every interval of this crate.
pub const CONFIDENCE: f64 = 0.95;

/// From where to where, both included.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the value lies within, the ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Whether this interval lies within the other, the ends included.
    #[must_use]
    pub fn lies_within(&self, other: &Interval) -> bool {
        other.contains(self.low) && other.contains(self.high)
    }

    /// From end to end, in the unit of the values.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// The distance from the middle to an end, divided by the size of the middle: 0.02 is "plus or
    /// minus 2 %". Infinite when the middle is 0 and the interval has a width.
    #[must_use]
    pub fn half_width_relative(&self) -> f64 {
        let half = self.width() / 2.0;
        if half <= 0.0 { 0.0 } else { half / f64::midpoint(self.low, self.high).abs() }
    }
}

/// A value that stands for several blocks.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Estimate {
    /// The value; null of a ratio to 0.
    #[schemars(with = "Option<f64>")]
    pub value: f64,
    /// Its interval; absent with few blocks.
    pub interval: Option<Interval>,
    /// How many blocks it comes from.
    pub samples: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    const AROUND_ONE: Interval = Interval { low: 0.98, high: 1.02 };

    #[test]
    fn the_ends_belong_to_the_interval() {
        assert!(AROUND_ONE.contains(0.98) && AROUND_ONE.contains(1.02));
        assert!(!AROUND_ONE.contains(1.03) && !AROUND_ONE.contains(f64::NAN));
        assert!(AROUND_ONE.lies_within(&AROUND_ONE));
        assert!(!AROUND_ONE.lies_within(&Interval { low: 0.99, high: 1.1 }));
    }

    #[test]
    fn half_of_the_width_is_relative_to_the_middle() {
        assert!((AROUND_ONE.half_width_relative() - 0.02).abs() < 1e-12);
        let negative = Interval { low: -3.0, high: -1.0 };
        assert!((negative.half_width_relative() - 0.5).abs() < 1e-12);
        let point = Interval { low: 0.0, high: 0.0 };
        assert!(point.half_width_relative().abs() < 1e-12);
        assert!(Interval { low: -1.0, high: 1.0 }.half_width_relative().is_infinite());
    }
}
