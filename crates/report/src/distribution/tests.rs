//! Percentiles that are read from the histogram of a load, with what must be known of them.

use super::*;

/// A summary of these samples, as the load generator makes it.
pub(crate) fn summary_of(samples: &[u64], censored: u64) -> LatencySummary {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    samples.iter().for_each(|sample| histogram.record(*sample).unwrap());
    LatencySummary { censored, within_stdev: 0.5, ..LatencySummary::of(&histogram) }
}

#[test]
fn percentiles_are_read_from_the_histogram_with_what_must_be_known_of_them() {
    let samples: Vec<u64> = (1..=1000).collect();
    let at = |censored: u64, percent: f64| {
        let it = Distribution::new(&summary_of(&samples, censored)).at(percent).unwrap();
        (it.nanoseconds, it.is_uncertain, it.is_lower_bound)
    };
    let rows = [
        ("a half", 0, 50.0, (500, false, false)),
        ("an eighth", 0, 12.5, (125, false, false)),
        ("ten samples beyond it are enough", 0, 99.0, (990, false, false)),
        ("nine are not", 0, 99.1, (991, true, false)),
        ("nothing lies beyond the largest", 0, 100.0, (1000, false, false)),
        ("below those that were given up", 50, 95.0, (950, false, false)),
        ("among those that were given up", 50, 95.1, (951, false, true)),
        ("the largest of those", 50, 100.0, (1000, false, true)),
    ];
    for (name, censored, percent, expected) in rows {
        assert_eq!(at(censored, percent), expected, "{name}");
    }
}

#[test]
fn a_request_without_a_reply_below_the_slowest_one_bounds_no_percentile() {
    let samples: Vec<u64> = (1..=100).collect();
    let mut summary = summary_of(&samples, 20);
    summary.lower_bounds = Some(3);
    let bounds = |percent| Distribution::new(&summary).at(percent).unwrap().is_lower_bound;
    assert_eq!([bounds(97.0), bounds(98.0)], [false, true]);
}

#[test]
fn without_a_histogram_the_fields_are_known_and_nothing_else() {
    let mut summary = summary_of(&[1, 2, 3], 0);
    summary.histogram = "no base64".to_owned();
    let distribution = Distribution::new(&summary);
    assert_eq!(distribution.at(50.0).unwrap().nanoseconds, 2);
    assert_eq!(distribution.at(33.0), None);
}
