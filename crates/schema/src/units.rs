//! Durations, counts and sizes as people write them: `500ms`, `10s`, `10k`, `64KiB`.
//!
//! A bare number is seconds for a duration, ones for a count and bytes for a size, as in wrk.

use std::time::Duration;

/// Why a text is not a duration, a count or a size. The message says how to write one.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UnitError {
    /// The number before the unit cannot be read.
    #[error("`{text}` is not a {kind}: write {example}")]
    Number {
        /// What was given.
        text: String,
        /// What was wanted: duration, count or size.
        kind: &'static str,
        /// A few good examples.
        example: &'static str,
    },
    /// The unit behind the number is unknown.
    #[error("`{text}` is not a {kind}: unknown unit `{unit}`; write {example}")]
    Unit {
        /// What was given.
        text: String,
        /// The part that is no unit.
        unit: String,
        /// What was wanted.
        kind: &'static str,
        /// A few good examples.
        example: &'static str,
    },
    /// The value does not fit.
    #[error("`{text}` is too large for a {kind}")]
    TooLarge {
        /// What was given.
        text: String,
        /// What was wanted.
        kind: &'static str,
    },
}

/// One kind of quantity: its name, its units with their factors, and examples for the error.
struct Quantity {
    kind: &'static str,
    example: &'static str,
    units: &'static [(&'static str, f64)],
    max: f64,
}

const DURATION: Quantity = Quantity {
    kind: "duration",
    example: "500us, 250ms, 10s, 2m or 1h",
    units: &[
        ("", 1e9),
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 60e9),
        ("h", 3600e9),
    ],
    // A century of nanoseconds: far inside u64 and outside any use.
    max: 3.2e18,
};

const COUNT: Quantity = Quantity {
    kind: "count",
    example: "200, 10k or 1.5M",
    units: &[("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9)],
    max: 9e15,
};

const SIZE: Quantity = Quantity {
    kind: "size",
    example: "512, 4KiB, 10MiB or 1GiB",
    units: &[
        ("", 1.0),
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ],
    max: 9e15,
};

/// Reads a duration such as `250ms`; a bare number is seconds.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    parse(text, &DURATION).map(Duration::from_nanos)
}

/// Reads a count such as `10k`; factors are powers of 1000.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    parse(text, &COUNT)
}

/// Reads a size in bytes such as `64KiB`; `kB` is 1000 and `KiB` is 1024 bytes.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    parse(text, &SIZE)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value was compared with the bound of its quantity, which fits"
)]
fn parse(text: &str, quantity: &Quantity) -> Result<u64, UnitError> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim_start();
    let Ok(value) = number.parse::<f64>() else {
        return Err(UnitError::Number {
            text: text.to_owned(),
            kind: quantity.kind,
            example: quantity.example,
        });
    };
    let Some((_, factor)) = quantity.units.iter().find(|(name, _)| *name == unit) else {
        return Err(UnitError::Unit {
            text: text.to_owned(),
            unit: unit.to_owned(),
            kind: quantity.kind,
            example: quantity.example,
        });
    };
    let scaled = value * factor;
    if scaled > quantity.max {
        return Err(UnitError::TooLarge { text: text.to_owned(), kind: quantity.kind });
    }
    Ok(scaled.round() as u64)
}

/// Writes a duration so that [`parse_duration`] reads it back: the largest unit that leaves no
/// remainder.
#[must_use]
pub fn write_duration(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    [
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1000),
    ]
    .iter()
    .find(|(_, factor)| nanoseconds > 0 && nanoseconds.is_multiple_of(*factor))
    .map_or_else(
        || if nanoseconds == 0 { "0s".to_owned() } else { format!("{nanoseconds}ns") },
        |(unit, factor)| format!("{}{unit}", nanoseconds / factor),
    )
}

/// For serde: a [`Duration`] as a text such as `250ms`.
pub mod duration_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::time::Duration;

    /// Writes the text.
    pub fn serialize<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::write_duration(*value))
    }

    /// Reads the text.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::parse_duration(&text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_every_unit_and_a_bare_number_is_seconds() {
        let rows = [
            ("10", 10_000_000_000),
            ("1.5s", 1_500_000_000),
            ("250ms", 250_000_000),
            ("7us", 7_000),
            ("3ns", 3),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            (" 4 s", 4_000_000_000),
        ];
        for (text, nanoseconds) in rows {
            assert_eq!(parse_duration(text), Ok(Duration::from_nanos(nanoseconds)), "{text}");
        }
    }

    #[test]
    fn a_wrong_unit_is_named_and_a_right_one_is_shown() {
        let message = parse_duration("10x").unwrap_err().to_string();
        assert!(message.contains("unknown unit `x`") && message.contains("10s"), "{message}");
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "s", "-1s", "1.2.3s", "ten"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert!(parse_count("1e30").is_err());
        assert!(matches!(parse_count("999999999999G"), Err(UnitError::TooLarge { .. })));
    }

    #[test]
    fn sizes_tell_decimal_from_binary_units() {
        assert_eq!(parse_size("4KiB"), Ok(4096));
        assert_eq!(parse_size("4kB"), Ok(4000));
        assert_eq!(parse_size("1GiB"), Ok(1 << 30));
        assert_eq!(parse_count("10k"), Ok(10_000));
    }

    #[test]
    fn a_written_duration_reads_back_the_same() {
        for nanoseconds in [0, 1, 1500, 1_000_000, 250_000_000, 1_500_000_000, 60_000_000_000] {
            let duration = Duration::from_nanos(nanoseconds);
            assert_eq!(parse_duration(&write_duration(duration)), Ok(duration));
        }
    }
}
