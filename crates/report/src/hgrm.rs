//! The percentile table of HdrHistogram, which its plotters read: `.hgrm`. Values are milliseconds.

use hdrhistogram::Histogram;
use std::fmt::Write;
use wirebench_schema::load::LatencySummary;

/// Rows for each halving of the distance to 100 %, as in HdrHistogram's other programs.
const TICKS_PER_HALF_DISTANCE: u32 = 5;

/// Nanoseconds of a millisecond.
const UNIT_NS: f64 = 1e6;

/// The first lines, which are the same for every distribution.
pub const HEADING: &str = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n";

/// Everything behind [`HEADING`]; of a load without any sample a table without rows. It ends where values are
/// only lower bounds, for which the format has no mark.
#[must_use]
pub fn table(latency: Option<&LatencySummary>) -> String {
    let is_known = |quantile: f64| latency.is_none_or(|it| !it.is_lower_bound(quantile * 100.0));
    // A histogram of one digit over two values is the smallest there is.
    let text = latency
        .and_then(LatencySummary::decoded)
        .or_else(|| Histogram::new_with_max(2, 1).ok())
        .map_or_else(String::new, |histogram| rows(&histogram, is_known));
    if is_known(1.0) {
        return text;
    }
    text + "#[Lower bounds: Mean, StdDeviation and Max, and the percentiles above the last row]\n"
}

// Casts to f64 lose less than the decimals that are printed.
fn rows(histogram: &Histogram<u64>, is_known: impl Fn(f64) -> bool) -> String {
    let mut text = String::new();
    let mut total = 0;
    for step in histogram.iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        total += step.count_since_last_iteration();
        let value = step.value_iterated_to() as f64 / UNIT_NS;
        let quantile = step.quantile_iterated_to();
        if !is_known(quantile) {
            break;
        }
        // Writing into a String does not fail.
        let _ = if quantile < 1.0 {
            let inverse = 1.0 / (1.0 - quantile);
            writeln!(text, "{value:12.3} {quantile:.12} {total:10} {inverse:14.2}")
        } else {
            writeln!(text, "{value:12.3} {quantile:.12} {total:10}")
        };
    }
    let (mean, stdev) = (histogram.mean() / UNIT_NS, histogram.stdev() / UNIT_NS);
    let (max, count) = (histogram.max() as f64 / UNIT_NS, histogram.len());
    let digits = histogram.sigfig();
    let sub_buckets = (2 * 10_u64.pow(u32::from(digits))).next_power_of_two();
    let _ = writeln!(text, "#[Mean    = {mean:12.3}, StdDeviation   = {stdev:12.3}]");
    let _ = writeln!(text, "#[Max     = {max:12.3}, Total count    = {count:12}]");
    let buckets = histogram.buckets();
    let _ = writeln!(text, "#[Buckets = {buckets:12}, SubBuckets     = {sub_buckets:12}]");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::tests::summary_of;

    /// A row as a plotter takes it: value, percentile, count, and the inverse where there is one.
    fn read(text: &str) -> Vec<Vec<f64>> {
        let rows = text.lines().skip(2).filter(|line| !line.starts_with('#'));
        rows.map(|row| row.split_whitespace().map(|word| word.parse().unwrap()).collect()).collect()
    }

    #[test]
    fn a_table_reads_back_as_the_distribution_that_it_was_made_of() {
        let samples: Vec<u64> = (1..=10_000).map(|value| value * 1000).collect();
        let text = HEADING.to_owned() + &table(Some(&summary_of(&samples, 0)));
        let rows = read(&text);
        assert!(rows.len() > 40, "{text}");
        for row in &rows {
            let (value, quantile, count) = (row[0], row[1], row[2]);
            assert!((value - 10.0 * quantile).abs() < 0.02, "{row:?}");
            assert!(count >= 10_000.0 * quantile - 1.0, "{row:?}");
        }
        assert!(rows.is_sorted_by(|a, b| a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2]));
        let last = rows.last().unwrap();
        assert_eq!((last.len(), last[2] as u64), (3, 10_000));
        assert!(rows.iter().rev().skip(1).all(|row| row.len() == 4), "{text}");
    }

    #[test]
    fn a_table_ends_where_values_are_lower_bounds() {
        let samples: Vec<u64> = (1..=10_000).map(|value| value * 1000).collect();
        let text = HEADING.to_owned() + &table(Some(&summary_of(&samples, 4000)));
        let last = read(&text).pop().unwrap();
        assert!(last[0] <= 6.01 && last[1] <= 0.6 && last.len() == 4, "{last:?}");
        assert!(text.contains("#[Lower bounds: "), "{text}");
    }

    #[test]
    fn the_lines_have_the_columns_of_other_programs() {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        histogram.record_n(1_000_000, 4).unwrap();
        let expected = "
       1.000 0.000000000000          4           1.00
       1.000 1.000000000000          4
#[Mean    =        1.000, StdDeviation   =        0.000]
#[Max     =        1.000, Total count    =            4]
#[Buckets =           32, SubBuckets     =         2048]
";
        let table = rows(&histogram, |_| true);
        assert_eq!(table.replace("1.001", "1.000"), expected[1..], "{table}");
    }

    #[test]
    fn an_empty_distribution_has_a_table_without_rows() {
        let table = table(None);
        assert!(table.starts_with("#[Mean") && !table.contains("NaN"), "{table}");
    }
}
