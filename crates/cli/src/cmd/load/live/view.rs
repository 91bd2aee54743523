//! The view of a running load: rate, latencies, statuses and errors, as lines of text. Pure.

use wirebench_report::wrk_units;
use wirebench_schema::load::{ErrorCounts, Interval, LATENCY_BINS, Phase, latency_bin_us};

/// Columns that the view takes; a narrower terminal has the first line only.
pub(super) const WIDTH: u16 = 60;
/// Intervals of which the rate is drawn.
const HISTORY: usize = 40;
/// Rows of the histogram at most; with more, each row is a power of ten.
const ROWS: usize = 8;
/// Bins of a power of ten.
const DECADE: usize = 3;
const BAR: usize = 24;
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What has been seen of the window.
#[derive(Debug, Default)]
pub(super) struct View {
    rates: Vec<f64>,
    latency: [u64; LATENCY_BINS],
    statuses: [u64; 5],
    errors: ErrorCounts,
}

impl View {
    pub(super) fn add(&mut self, interval: &Interval) {
        if interval.phase != Phase::Window {
            return;
        }
        if self.rates.len() == HISTORY {
            self.rates.remove(0);
        }
        self.rates.push(interval.requests_per_second);
        let sums = self.latency.iter_mut().zip(&interval.latency_counts);
        sums.for_each(|(sum, count)| *sum += *count);
        let sums = self.statuses.iter_mut().zip(&interval.status_classes);
        sums.for_each(|(sum, count)| *sum += *count);
        self.errors.add(&interval.errors_by_kind);
    }

    /// The lines, with what is wrong in red if `is_coloured`.
    pub(super) fn lines(&self, is_coloured: bool) -> Vec<String> {
        let red =
            |text: String| if is_coloured { format!("\u{1b}[31m{text}\u{1b}[0m") } else { text };
        let mut lines = Vec::new();
        if self.rates.len() > 1 {
            let (least, most) =
                self.rates.iter().fold((f64::MAX, 0.0_f64), |(least, most), rate| {
                    (least.min(*rate), most.max(*rate))
                });
            let levels: String = self.rates.iter().map(|rate| level(*rate, most)).collect();
            lines.push(format!("  Req/s {levels}"));
            let ends = [least, most].map(wrk_units::rate);
            lines.push(format!("        {} to {}", ends[0], ends[1]));
        }
        lines.extend(self.histogram());
        let names = (1..).map(|class: usize| format!("{class}xx"));
        let listed = |counts: Vec<(String, u64)>| {
            let counts = counts.into_iter().filter(|(_, count)| *count > 0);
            counts.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join("  ")
        };
        let statuses = listed(names.zip(self.statuses).collect());
        if !statuses.is_empty() {
            lines.push(format!("  Statuses  {statuses}"));
        }
        let kinds = self.errors.kinds().map(|(kind, count)| (kind.to_string(), count));
        let errors = listed(kinds.to_vec());
        if !errors.is_empty() {
            lines.push(red(format!("  Errors    {errors}")));
        }
        lines
    }

    /// One line for each range of latencies, from the first that has any to the last.
    fn histogram(&self) -> Vec<String> {
        let has_any = |it: &u64| *it > 0;
        let Some(first) = self.latency.iter().position(has_any) else { return Vec::new() };
        let last = self.latency.iter().rposition(has_any).unwrap_or(first);
        let size = if last - first < ROWS { 1 } else { DECADE };
        let rows: Vec<(usize, u64)> = (first / size..=last / size)
            .map(|row| (row * size, (row + 1) * size))
            .map(|(from, to)| {
                (to.min(LATENCY_BINS), self.latency[from..to.min(LATENCY_BINS)].iter().sum())
            })
            .collect();
        let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
        let all: u64 = rows.iter().map(|(_, count)| count).sum();
        let row = |(end, count): &(usize, u64)| {
            let label = match latency_bin_us(end - 1) {
                Some(us) => format!("to {}", wrk_units::time(us as f64 * 1e3)),
                None => "longer".to_owned(),
            };
            let bar = match usize::try_from(count * BAR as u64 / most).unwrap_or(BAR) {
                0 if *count > 0 => "▏".to_owned(),
                length => "█".repeat(length),
            };
            let percent = *count as f64 * 100.0 / all as f64;
            format!("  {label:>12} {percent:>6.2} % {bar}").trim_end().to_owned()
        };
        rows.iter().map(row).collect()
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of the levels, of which there are eight"
)]
fn level(rate: f64, most: f64) -> char {
    let share = if most > 0.0 { rate / most } else { 0.0 };
    LEVELS[((share * LEVELS.len() as f64) as usize).min(LEVELS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use wirebench_schema::load::ErrorKind;

    /// An interval with this many replies in the bins that end there.
    fn interval(replies: &[(u64, u64)]) -> Interval {
        let in_bin = |bin| replies.iter().find(|(end, _)| Some(*end) == latency_bin_us(bin));
        let requests = replies.iter().map(|(_, count)| count).sum();
        Interval {
            requests,
            requests_per_second: requests as f64,
            status_classes: vec![0, requests, 0, 0, 0],
            latency_counts: (0..LATENCY_BINS).map(|bin| in_bin(bin).map_or(0, |it| it.1)).collect(),
            ..Interval::default()
        }
    }

    fn shown(view: &View) -> String {
        let lines = view.lines(false);
        lines.iter().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap())).collect()
    }

    #[test]
    fn the_rate_the_latencies_the_statuses_and_the_errors_fit_sixty_columns() {
        let mut view = View::default();
        view.add(&Interval { phase: Phase::Warmup, ..interval(&[(10_000_000, 9)]) });
        assert_eq!(view.lines(false), [""; 0]);
        view.add(&interval(&[(50, 500), (100, 2000), (200, 100), (5_000, 1)]));
        let mut bad = interval(&[(50, 600)]);
        bad.status_classes[4] = 7;
        *bad.errors_by_kind.of_mut(ErrorKind::Timeout) = 3;
        view.add(&bad);
        expect![[r#"
              Req/s █▂
                    600.00 to 2.60k
                to 50.00us  34.36 % █████████████
               to 100.00us  62.48 % ████████████████████████
               to 200.00us   3.12 % █
               to 500.00us   0.00 %
                 to 1.00ms   0.00 %
                 to 2.00ms   0.00 %
                 to 5.00ms   0.03 % ▏
              Statuses  2xx 3201  5xx 7
              Errors    timeout 3
        "#]]
        .assert_eq(&shown(&view));
        assert!(view.lines(true).last().unwrap().starts_with("\u{1b}[31m  Errors"));
        for _ in 0..100 {
            view.add(&bad);
        }
        assert!(view.lines(false).iter().all(|line| line.chars().count() <= usize::from(WIDTH)));
    }

    #[test]
    fn latencies_of_many_sizes_have_a_line_for_each_power_of_ten() {
        let mut view = View::default();
        view.add(&interval(&[(1, 1), (50, 500), (100_000, 20), (50_000_000, 1)]));
        expect![[r#"
                 to 5.00us   0.19 % ▏
                to 50.00us  95.79 % ████████████████████████
               to 500.00us   0.00 %
                 to 5.00ms   0.00 %
                to 50.00ms   0.00 %
               to 500.00ms   3.83 % ▏
                  to 5.00s   0.00 %
                 to 50.00s   0.19 % ▏
              Statuses  2xx 522
        "#]]
        .assert_eq(&shown(&view));
    }
}
