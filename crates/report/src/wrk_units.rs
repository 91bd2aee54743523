//! Numbers as people read them, in wrk's units: two decimals, and the unit that keeps the number
//! short.
//!
//! A number moves on to the next unit at 85 % of it, as in wrk: 850 requests are written `0.85k`.

use crate::table_units;

/// A unit changes to the next one at this share of it.
const THRESHOLD: f64 = 0.85;

fn scaled(value: f64, factor: f64, units: &[&str]) -> String {
    let (value, unit) = table_units::scaled(value, factor, THRESHOLD, units);
    format!("{value:.2}{unit}")
}

/// A latency or another short time out of nanoseconds: `635.91us`, `12.92ms`, `1.20s`, `1.50m`.
#[must_use]
pub fn time(nanoseconds: f64) -> String {
    if nanoseconds >= 1e9 {
        return scaled(nanoseconds / 1e9, 60.0, &["s", "m"]);
    }
    scaled(nanoseconds / 1e3, 1000.0, &["us", "ms"])
}

/// A rate or a count, in powers of 1000: `849.00`, `56.20k`, `0.95M`.
#[must_use]
pub fn rate(per_second: f64) -> String {
    scaled(per_second, 1000.0, &["", "k", "M", "G", "T"])
}

/// Bytes, in powers of 1024, with `B` at the end: `1.20MB`, `17.76GB`.
#[must_use]
pub fn bytes(bytes: f64) -> String {
    scaled(bytes, 1024.0, &["B", "KB", "MB", "GB", "TB"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_the_unit_that_wrk_takes() {
        type Row = (fn(f64) -> String, f64, &'static str);
        let rows: [Row; 21] = [
            (time, 0.0, "0.00us"),
            (time, 40.0, "0.04us"),
            (time, 635_910.0, "635.91us"),
            (time, 849_990.0, "849.99us"),
            (time, 850_000.0, "0.85ms"),
            (time, 12_920_000.0, "12.92ms"),
            (time, 999_000_000.0, "999.00ms"),
            (time, 1_000_000_000.0, "1.00s"),
            (time, 50_000_000_000.0, "50.00s"),
            (time, 90_000_000_000.0, "1.50m"),
            (time, 7_200_000_000_000.0, "120.00m"),
            (rate, 0.0, "0.00"),
            (rate, 849.0, "849.00"),
            (rate, 850.0, "0.85k"),
            (rate, 56_200.0, "56.20k"),
            (rate, 2e6, "2.00M"),
            (bytes, 0.0, "0.00B"),
            (bytes, 12.0, "12.00B"),
            (bytes, 871.0, "0.85KB"),
            (bytes, 1_258_291.2, "1.20MB"),
            (bytes, 19_069_654_794.0, "17.76GB"),
        ];
        for (show, number, text) in rows {
            assert_eq!(show(number), text, "{number}");
        }
    }
}
