//! Numbers as the tables show them: three digits that matter, the unit behind.

use wirebench_schema::load::Rate;

/// A latency in nanoseconds, such as `87.3 us` or `1.20 ms`.
#[must_use]
pub fn latency(nanoseconds: f64) -> String {
    let (value, unit) = scaled(nanoseconds, 1e3, 1.0, &["ns", "us", "ms", "s"]);
    format!("{} {unit}", three_digits(value))
}

/// A value in the largest unit of which it has at least this share; each is the one before times `factor`.
pub(crate) fn scaled<'u>(
    mut value: f64,
    factor: f64,
    share: f64,
    units: &[&'u str],
) -> (f64, &'u str) {
    let mut place = 0;
    while value >= factor * share && place + 1 < units.len() {
        (value, place) = (value / factor, place + 1);
    }
    (value, units[place])
}

/// A share, such as `5.2 %`; two decimals below 1 %.
#[must_use]
pub fn percent(share: f64) -> String {
    let digits = if share > 0.0095 { 1 } else { 2 };
    let text = format!("{:.digits$}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A size, such as `1.75 MiB`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    let (value, unit) = scaled(bytes as f64, 1024.0, 1.0, &["B", "KiB", "MiB", "GiB"]);
    if unit == "B" { format!("{bytes} B") } else { format!("{} {unit}", three_digits(value)) }
}

/// A whole number with its thousands apart, such as `123 456`.
#[must_use]
pub fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A rate that was asked for, such as `20 000` or `0.5`.
pub(crate) fn asked_rate(rate: Rate) -> String {
    rate.whole().map_or_else(|| rate.to_string(), |it| thousands(it as f64))
}

/// The name of one of several copies, from 0.
pub(crate) fn numbered(name: &impl ToString, copy: u32) -> String {
    match copy {
        0 => name.to_string(),
        copy => format!("{} #{}", name.to_string(), copy.saturating_add(1)),
    }
}

pub(crate) fn count(number: impl ToString + Copy, noun: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn three_digits(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_get_the_unit_that_fits() {
        type Row = (fn(f64) -> String, f64, &'static str);
        let size: fn(f64) -> String = |number| bytes(number as u64);
        let rows: [Row; 12] = [
            (latency, 999.0, "999 ns"),
            (latency, 87_300.0, "87.3 us"),
            (latency, 1_200_000.0, "1.20 ms"),
            (latency, 2e9, "2.00 s"),
            (size, 0.0, "0 B"),
            (size, 1023.0, "1023 B"),
            (size, 1536.0, "1.50 KiB"),
            (size, 2_097_152.0, "2.00 MiB"),
            (thousands, 0.0, "0"),
            (thousands, 999.4, "999"),
            (thousands, 1000.0, "1 000"),
            (thousands, 1_234_567.0, "1 234 567"),
        ];
        for (show, number, text) in rows {
            assert_eq!(show(number), text, "{number}");
        }
    }
}
