//! A ratio with its interval as people read it. No other file decides how the two are rounded; JSON and
//! CSV have the ends themselves.
//!
//! Intervals come from logarithms, so a wide one reaches farther up than down. Half of its width would
//! then describe another interval.

use wirebench_stats::Interval;

/// From this ratio on a factor is easier to read than a percentage.
const FACTOR: f64 = 10.0;
/// Below this width of an interval two digits of a factor say too little.
const NARROW: f64 = 0.02;
/// Below this ratio two digits of a factor are less than three that matter.
const SMALL: f64 = 0.0995;
/// An interval without a direction whose ends are this many times apart leaves no digit of an estimate.
const VAGUE: f64 = 9.0;
/// More digits than any interval needs.
const MOST_DIGITS: usize = 9;

/// A change: `+24 % ±2` if both sides of the interval agree in the printed digits, otherwise
/// `+46 % (+1..+110)`. Large ones are factors: `15.0x (1.64..137)`; one that may be anything has only its ends.
pub(crate) fn change(ratio: f64, interval: Option<Interval>) -> String {
    let middle = percent(ratio);
    let Some(interval) = interval else { return format!("{} %", signed(middle, 1)) };
    if ratio >= FACTOR {
        return factor(ratio, Some(interval)).replacen(' ', "x ", 1);
    }
    let ends = [interval.low, interval.high].map(percent);
    if interval.contains(1.0) && interval.high > VAGUE * interval.low {
        return format!("({}..{}) %", signed(ends[0], 0), signed(ends[1], 0));
    }
    let sides = [middle - ends[0], ends[1] - middle];
    let is_fine = sides[0].min(sides[1]) < 0.95 && middle.abs() < 99.95;
    let digits = digits(usize::from(is_fine), 0.0, ends);
    let [below, above] = sides.map(|side| rounded(side, digits));
    let unit = 0.1_f64.powf(digits as f64);
    let agree = (below - above).abs() < unit / 2.0;
    // Never shown as narrower than one unit of the last digit.
    let half = below.max(unit);
    let reaches_zero = rounded(middle, digits).abs() <= half;
    let middle = signed(middle, digits);
    if agree && reaches_zero == interval.contains(1.0) {
        format!("{middle} % ±{half:.digits$}")
    } else {
        let [low, high] = ends.map(|end| signed(end, digits));
        format!("{middle} % ({low}..{high})")
    }
}

/// The ends of an interval in a sentence: `+4.6 to +5.9 %`.
pub(crate) fn ends(interval: Interval) -> String {
    let ends = [interval.low, interval.high].map(percent);
    let [low, high] = ends.map(|end| signed(end, digits(1, 0.0, ends)));
    format!("{low} to {high} %")
}

/// A factor: `1.46 (1.01..2.10)`.
pub(crate) fn factor(ratio: f64, interval: Option<Interval>) -> String {
    let is_fine = ratio < SMALL || interval.is_some_and(|it| it.width() < NARROW);
    let least = if is_fine { 3 } else { 2 };
    let digits = interval.map_or(least, |it| digits(least, 1.0, [it.low, it.high]));
    let show = |value: f64| {
        let before = [9.995, 99.95].iter().filter(|from| value >= **from).count();
        format!("{value:.*}", digits.saturating_sub(before))
    };
    let interval = interval.map(|it| format!(" ({}..{})", show(it.low), show(it.high)));
    show(ratio) + &interval.unwrap_or_default()
}

/// Enough digits that an interval without `none` does not reach it in print either. Otherwise a
/// significant difference would look like none.
fn digits(least: usize, none: f64, [low, high]: [f64; 2]) -> usize {
    let excludes = |low: f64, high: f64| low > none || high < none;
    let is_kept = |digits: &usize| excludes(rounded(low, *digits), rounded(high, *digits));
    match excludes(low, high) {
        true => (least..MOST_DIGITS).find(is_kept).unwrap_or(MOST_DIGITS),
        false => least,
    }
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// With its sign, and fewer digits from a hundred on.
fn signed(percent: f64, digits: usize) -> String {
    let digits = if percent.abs() < 99.95 { digits } else { 0 };
    format!("{:+.digits$}", rounded(percent, digits))
}

/// Nothing is "-0".
fn rounded(value: f64, digits: usize) -> f64 {
    let unit = 10_f64.powf(digits as f64);
    (value * unit).round() / unit + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: [(f64, f64, f64, &str, &str); 13] = [
        (1.213, 1.192, 1.234, "+21 % ±2", "1.21 (1.19..1.23)"),
        (0.992, 0.989, 0.995, "-0.8 % ±0.3", "0.992 (0.989..0.995)"),
        (2.324, 2.284, 2.364, "+132 % ±4", "2.32 (2.28..2.36)"),
        (1.2, 1.198, 1.202, "+20.0 % ±0.2", "1.200 (1.198..1.202)"),
        (1.0, 1.0, 1.0, "+0.0 % ±0.1", "1.000 (1.000..1.000)"),
        (1.46, 1.012, 2.1, "+46 % (+1..+110)", "1.46 (1.01..2.10)"),
        (1.457, 1.001, 2.12, "+45.7 % (+0.1..+112)", "1.457 (1.001..2.120)"),
        (0.9, 0.5, 1.62, "-10 % (-50..+62)", "0.90 (0.50..1.62)"),
        (15.0, 1.64, 136.8, "15.0x (1.64..137)", "15.0 (1.64..137)"),
        (0.53, 0.02, 13.72, "(-98..+1272) %", "0.53 (0.02..13.7)"),
        // Two sides of 4 around 4 would reach zero.
        (1.044, 1.006, 1.083, "+4 % (+1..+8)", "1.04 (1.01..1.08)"),
        (1.041, 1.002, 1.081, "+4.1 % (+0.2..+8.1)", "1.041 (1.002..1.081)"),
        (1.041, 0.999, 1.084, "+4 % ±4", "1.04 (1.00..1.08)"),
    ];

    #[test]
    fn an_interval_is_printed_as_what_it_is() {
        for (ratio, low, high, as_change, as_factor) in SHOWN {
            let interval = Some(Interval { low, high });
            assert_eq!(change(ratio, interval), as_change);
            assert_eq!(factor(ratio, interval), as_factor);
        }
        assert_eq!(
            [0.95, 0.9999, 1.1234, 0.001, 3.0, 20.0].map(|it| change(it, None)),
            ["-5.0 %", "+0.0 %", "+12.3 %", "-99.9 %", "+200 %", "+1900 %"]
        );
        assert_eq!(factor(1.3, None), "1.30");
        assert_eq!(ends(Interval { low: 0.976, high: 1.05 }), "-2.4 to +5.0 %");
        assert_eq!(ends(Interval { low: 1.0003, high: 1.013 }), "+0.03 to +1.30 %");
    }

    /// Ends of a printed interval, in the unit of the text.
    fn printed(text: &str) -> (f64, f64) {
        let number =
            |text: &str| text.trim_matches(['x', '(', ')', ' ', '%']).parse::<f64>().unwrap();
        if let Some((middle, half)) = text.split_once('±') {
            return (number(middle) - number(half), number(middle) + number(half));
        }
        let (low, high) = text.split_once('(').unwrap().1.split_once("..").unwrap();
        (number(low), number(high))
    }

    #[test]
    fn a_printed_interval_contains_no_difference_only_if_the_interval_does() {
        for place in 0..4000 {
            // From far below to far above, through ends that are nearly 1.
            let ratio = (f64::from(place % 97) / 40.0 - 1.2).exp();
            let reach = ratio.ln().abs() * (1.0 + f64::from(place % 41 - 20) / 1000.0) + 1e-6;
            let interval = Interval { low: ratio * (-reach).exp(), high: ratio * reach.exp() };
            let holds = |(low, high): (f64, f64), none: f64| low <= none && none <= high;
            let expected = interval.contains(1.0);
            let shown = change(ratio, Some(interval));
            let none = if shown.contains('%') { 0.0 } else { 1.0 };
            assert_eq!(holds(printed(&shown), none), expected, "{interval:?}: {shown}");
            let shown = factor(ratio, Some(interval));
            assert_eq!(holds(printed(&shown), 1.0), expected, "{interval:?}: {shown}");
        }
    }
}
