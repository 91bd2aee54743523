//! Durations, counts and sizes as users write them: `500ms`, `1m30s`, `10k`, `64KiB`.
//!
//! A bare number means seconds, ones or bytes, as in wrk.

use std::time::Duration;

/// One kind of quantity: its name, its units with their factors, and examples for the error.
struct Quantity {
    kind: &'static str,
    example: &'static str,
    units: &'static [(&'static str, u64)],
    /// What a fraction that remains after multiplication by the unit should have been. Without it the nearest whole
    /// value is meant, and parts with smaller and smaller units are added up.
    whole: Option<&'static str>,
    /// The values that make one unit.
    parts: u64,
    max: u64,
}

const DURATION: Quantity = Quantity {
    kind: "duration",
    example: "500us, 250ms, 10s, 2m or 1h",
    units: &[
        ("", 1_000_000_000),
        ("ns", 1),
        ("µs", 1000),
        ("us", 1000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
    whole: None,
    parts: 1,
    // A century of nanoseconds: far inside u64 and outside any use.
    max: 3_200_000_000_000_000_000,
};

const COUNT: Quantity = Quantity {
    kind: "count",
    example: "200, 10k or 1.5M",
    units: &[("", 1), ("k", 1000), ("K", 1000), ("M", 1_000_000), ("G", 1_000_000_000)],
    whole: Some("whole number"),
    parts: 1,
    max: 9_000_000_000_000_000,
};

const RATE: Quantity = Quantity {
    kind: "rate",
    example: "200, 10k or 0.5",
    whole: Some("rate with at most three decimals"),
    parts: 1000,
    ..COUNT
};

const SIZE: Quantity = Quantity {
    kind: "size",
    example: "512, 4KiB, 10MiB or 1GiB",
    units: &[
        ("", 1),
        ("B", 1),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    whole: Some("whole number of bytes"),
    ..COUNT
};

/// Reads a duration such as `250ms` or `1m30s`; a bare number is seconds. What is finer than a nanosecond is
/// rounded.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    parse(text, &DURATION).map(Duration::from_nanos)
}

/// Reads a count such as `10k`; factors are powers of 1000. `1.5k` is 1500, and `1.5` is refused.
pub fn parse_count(text: &str) -> Result<u64, String> {
    parse(text, &COUNT)
}

/// Reads a rate such as `20k` or `0.5`, in thousandths.
pub(crate) fn parse_thousandths(text: &str) -> Result<u64, String> {
    parse(text, &RATE)
}

/// Reads a size in bytes such as `64KiB`; `kB` is 1000 and `KiB` is 1024 bytes. A part of a byte is
/// refused.
pub fn parse_size(text: &str) -> Result<u64, String> {
    parse(text, &SIZE)
}

/// How far a value may be from a whole one, as a share of it: 1.001k has a fraction in binary floating point.
const WHOLE_TOLERANCE: f64 = 4.0 * f64::EPSILON;

// The value is positive and at most the limit.
fn parse(text: &str, quantity: &Quantity) -> Result<u64, String> {
    let mut rest = text.trim();
    let Quantity { kind, example, .. } = *quantity;
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let adds_up = quantity.whole.is_none();
    let (mut value, mut last_factor) = (0.0, u64::MAX);
    loop {
        let (number, behind) = rest.split_at(rest.find(|c| !is_digit(c)).unwrap_or(rest.len()));
        let end = behind.find(is_digit).filter(|_| adds_up).unwrap_or(behind.len());
        let unit = behind[..end].trim();
        let Ok(number) = number.parse::<f64>() else {
            return Err(format!("`{text}` is not a {kind}: write {example}"));
        };
        let is_first = last_factor == u64::MAX;
        let factor = quantity.units.iter().find(|(name, factor)| {
            *name == unit && *factor < last_factor && (is_first || !unit.is_empty())
        });
        let Some((_, factor)) = factor else {
            return Err(format!(
                "`{text}` is not a {kind}: unknown unit `{unit}`; write {example}"
            ));
        };
        value += number * *factor as f64;
        (rest, last_factor) = (&behind[end..], *factor);
        if rest.is_empty() {
            break;
        }
    }
    if value > quantity.max as f64 {
        return Err(format!("`{text}` is too large for a {kind}"));
    }
    value *= quantity.parts as f64;
    match quantity.whole {
        Some(whole) if (value - value.round()).abs() > value * WHOLE_TOLERANCE => {
            Err(format!("`{text}` is not a {whole}: write {example}"))
        }
        _ => Ok(value.round() as u64),
    }
}

/// Writes a duration so that [`parse_duration`] reads it back: the largest unit that leaves no
/// remainder.
#[must_use]
pub fn write_duration(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    let mut units = DURATION.units.iter().rev().map(|(unit, factor)| (unit, u128::from(*factor)));
    let unit = units.find(|(_, factor)| nanoseconds > 0 && nanoseconds.is_multiple_of(*factor));
    unit.map_or_else(|| "0s".to_owned(), |(unit, factor)| format!("{}{unit}", nanoseconds / factor))
}

/// The same with a space before the unit, as people read it.
#[must_use]
pub fn spaced_duration(duration: Duration) -> String {
    let text = write_duration(duration);
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    format!("{number} {unit}")
}

/// Writes a size so that [`parse_size`] reads it back: the largest unit that leaves no remainder.
#[must_use]
pub fn write_size(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = units.iter().find(|(_, factor)| bytes > 0 && bytes.is_multiple_of(*factor));
    unit.map_or_else(|| format!("{bytes} B"), |(unit, factor)| format!("{} {unit}", bytes / factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn durations_take_every_unit_a_bare_number_is_seconds_and_a_fraction_is_rounded_to_the_nanosecond()
     {
        let rows = [
            ("10", 10_000_000_000),
            ("1.5s", 1_500_000_000),
            ("250ms", 250_000_000),
            ("7us", 7_000),
            ("3ns", 3),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            (" 4 s", 4_000_000_000),
            ("1m30s", 90_000_000_000),
            ("2min", 120_000_000_000),
            ("1h 2min 3.5s", 3_723_500_000_000),
            ("1s500ms", 1_500_000_000),
            ("1.5", 1_500_000_000),
            ("1.4ns", 1),
            ("1.5ns", 2),
            ("0.1us", 100),
        ];
        for (text, nanoseconds) in rows {
            assert_eq!(parse_duration(text), Ok(Duration::from_nanos(nanoseconds)), "{text}");
        }
    }

    #[test]
    fn other_than_numbers_are_refused() {
        let wrong = ["", ".", ".s", "s", "-1s", "1.2.3s", "1..s", "ten"];
        // Which unit is meant behind a missing or a larger one?
        for text in wrong.iter().chain(&["1m30", "30s1m", "1s1s", "1 30s", "1ms.", "1m-30s"]) {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert!(parse_count("1M500k").is_err() && parse_size("1MiB500KiB").is_err());
        assert!(parse_count("1e30").is_err());
        assert!(parse_count("999999999999G").unwrap_err().contains("is too large"));
    }

    #[test]
    fn no_number_of_digits_overflows() {
        let nines = "9".repeat(400);
        for text in [&nines, &format!("{nines}h"), "9999999999999999999h", "9999999999999999999"] {
            assert!(parse_duration(text).unwrap_err().contains("is too large"), "{text}");
            assert!(parse_count(text).is_err() && parse_size(text).is_err(), "{text}");
        }
        assert_eq!(parse_duration(&format!("0.{nines}h")), Ok(Duration::from_secs(3600)));
        let padded = format!("{}1.{}", "0".repeat(400), "0".repeat(400));
        assert_eq!(parse_count(&padded), Ok(1));
        assert_eq!(parse_duration("0.99999999999999999999h"), Ok(Duration::from_secs(3600)));
    }

    #[test]
    fn a_count_and_a_size_are_whole_once_the_unit_is_multiplied_in() {
        for (text, count) in [
            ("1.5k", 1500),
            ("1.001k", 1001),
            ("8.2k", 8200),
            ("8999999999.999k", 8_999_999_999_999),
            ("10k", 10_000),
            ("3.", 3),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for (text, bytes) in [("1.5KiB", 1536), ("4KiB", 4096), ("4kB", 4000), ("1GiB", 1 << 30)] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["1.5", "0.1", "1.0005k", "9000000000000.5", "0.0000000001G"] {
            assert!(parse_count(text).unwrap_err().contains("is not a whole number"), "{text}");
        }
        for text in ["1.5", "0.5B", "1.3KiB"] {
            assert!(parse_size(text).unwrap_err().contains("is not a whole number"), "{text}");
        }
    }

    #[test]
    fn each_mistake_is_answered_with_what_to_write() {
        let messages = [
            parse_duration("10x").unwrap_err(),
            parse_count("1.5").unwrap_err(),
            parse_size("1.5").unwrap_err(),
        ];
        expect![[r"
            `10x` is not a duration: unknown unit `x`; write 500us, 250ms, 10s, 2m or 1h
            `1.5` is not a whole number: write 200, 10k or 1.5M
            `1.5` is not a whole number of bytes: write 512, 4KiB, 10MiB or 1GiB"]]
        .assert_eq(&messages.join("\n"));
    }

    #[test]
    fn a_written_duration_reads_back_the_same() {
        for nanoseconds in [0, 1, 1500, 1_000_000, 250_000_000, 1_500_000_000, 60_000_000_000] {
            let duration = Duration::from_nanos(nanoseconds);
            assert_eq!(parse_duration(&write_duration(duration)), Ok(duration));
        }
    }
}
