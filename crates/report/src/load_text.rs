//! The report of a load in wrk's text layout, which countless scripts read.
//!
//! Two lines are not wrk's: failures are told by our kinds, which are more than four, and a load
//! that was stopped says so.

use std::fmt::Write;
use wirebench_schema::{
    load::{LatencySummary, LoadConfig, LoadReport, Stop},
    units::write_duration,
};

use crate::wrk_units;

/// Everything: what is said when the load begins, and what came of it. `distribution` adds the
/// latency distribution (`-L`).
#[must_use]
pub fn load_text(report: &LoadReport, distribution: bool) -> String {
    heading(&report.config) + &results(report, distribution)
}

/// The two lines that are printed when the load begins.
#[must_use]
pub fn heading(config: &LoadConfig) -> String {
    let mut text = String::new();
    line(&mut text, format_args!("Running {} @ {}", asked(config), config.target));
    let (threads, connections) = (config.threads, config.connections);
    line(&mut text, format_args!("  {threads} threads and {connections} connections"));
    text
}

/// The lines that are printed when it is over.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "what is printed has two decimals")]
pub fn results(report: &LoadReport, distribution: bool) -> String {
    let mut text = String::new();
    thread_stats(&mut text, report);
    if let Some(latency) = report.latency.as_ref().filter(|_| distribution) {
        latency_distribution(&mut text, latency);
    }
    let seconds = report.window_ns as f64 / 1e9;
    let received = report.bytes_received as f64;
    line(
        &mut text,
        format_args!(
            "  {} requests in {}, {} read",
            report.requests,
            wrk_units::time(report.window_ns as f64),
            wrk_units::bytes(received)
        ),
    );
    if report.interrupted {
        let asked = asked(&report.config);
        line(&mut text, format_args!("  Interrupted: the {asked} was stopped early"));
    }
    if let Some(busy) = report.unanswered() {
        let (made, left) = (report.connections_made, report.in_flight_at_end);
        line(
            &mut text,
            format_args!(
                "  Only {busy:.1} of {made} connections were answered on average, {left} requests were \
                 without an answer at the end"
            ),
        );
    }
    errors(&mut text, report);
    let transfer = if seconds > 0.0 { received / seconds } else { 0.0 };
    line(&mut text, format_args!("Requests/sec: {:9.2}", report.requests_per_second));
    line(&mut text, format_args!("Transfer/sec: {:>11}", wrk_units::bytes(transfer)));
    text
}

fn asked(config: &LoadConfig) -> String {
    match config.stop {
        Stop::After(duration) => format!("{} test", write_duration(duration)),
        Stop::Requests(count) => format!("test of {count} requests"),
        Stop::RequestsPerConnection(count) => format!("test of {count} requests a connection"),
    }
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing into a String does not fail.
    let _ = writeln!(text, "{arguments}");
}

fn thread_stats(text: &mut String, report: &LoadReport) {
    line(
        text,
        format_args!("  Thread Stats{:>6}{:>11}{:>8}{:>12}", "Avg", "Stdev", "Max", "+/- Stdev"),
    );
    #[allow(clippy::cast_precision_loss, reason = "what is printed has two decimals")]
    let (mean, stdev, max, within) = report.latency.as_ref().map_or((0.0, 0.0, 0.0, 0.0), |l| {
        (l.latency_ns_mean, l.latency_ns_stdev, l.latency_ns_max as f64, l.within_stdev)
    });
    stats_line(text, "Latency", [mean, stdev, max].map(wrk_units::time), within);
    let rate = &report.thread_rate;
    let rates = [rate.mean, rate.stdev, rate.max].map(wrk_units::rate);
    stats_line(text, "Req/Sec", rates, rate.within_stdev);
}

fn stats_line(text: &mut String, name: &str, [mean, stdev, max]: [String; 3], within: f64) {
    line(
        text,
        format_args!(
            "    {name:<10}{}{}{}{:8.2}%",
            column(&mean, 8),
            column(&stdev, 10),
            column(&max, 9),
            within * 100.0
        ),
    );
}

fn latency_distribution(text: &mut String, latency: &LatencySummary) {
    line(text, format_args!("  Latency Distribution"));
    let rows = [
        (50, latency.latency_ns_p50),
        (75, latency.latency_ns_p75),
        (90, latency.latency_ns_p90),
        (99, latency.latency_ns_p99),
    ];
    for (percent, nanoseconds) in rows {
        #[allow(clippy::cast_precision_loss, reason = "what is printed has two decimals")]
        let value = wrk_units::time(nanoseconds as f64);
        line(text, format_args!("{percent:7}%{}", column(&value, 10)));
    }
}

/// A number with its unit in a column of this width: units of two, one and no letters end so that
/// the numbers line up.
fn column(value: &str, width: usize) -> String {
    let letters = value.chars().rev().take(2).filter(char::is_ascii_alphabetic).count();
    let behind = 2 - letters;
    format!("{value:>width$.width$}{:behind$}", "", width = width - behind)
}

/// What failed, by kind, if anything did. Statuses have wrk's own line.
fn errors(text: &mut String, report: &LoadReport) {
    let kinds: Vec<String> = report
        .errors
        .kinds()
        .into_iter()
        .filter(|(name, count)| *count > 0 && *name != "status")
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    if !kinds.is_empty() {
        line(text, format_args!("  Errors: {}", kinds.join(", ")));
    }
    for example in &report.error_examples {
        line(text, format_args!("    for example: {example}"));
    }
    if report.errors.status > 0 {
        line(text, format_args!("  Non-2xx or 3xx responses: {}", report.errors.status));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use wirebench_schema::load::{EngineChoice, ErrorCounts, ThreadRate};

    fn report() -> LoadReport {
        let config = LoadConfig::new("http://127.0.0.1:8080/".parse().unwrap());
        LoadReport {
            window_ns: 10_000_000_000,
            requests: 1_124_000,
            requests_per_second: 112_400.0,
            bytes_received: 86_548_000,
            bytes_sent: 46_084_000,
            latency: Some(LatencySummary {
                count: 1_124_000,
                censored: 0,
                latency_ns_mean: 635_910.0,
                latency_ns_stdev: 890_000.0,
                within_stdev: 0.9369,
                latency_ns_min: 40_000,
                latency_ns_p50: 250_000,
                latency_ns_p75: 491_000,
                latency_ns_p90: 700_000,
                latency_ns_p95: 700_000,
                latency_ns_p99: 5_800_000,
                latency_ns_p999: 9_000_000,
                latency_ns_max: 12_920_000,
                histogram: String::new(),
            }),
            thread_rate: ThreadRate {
                mean: 56_200.0,
                stdev: 8_070.0,
                max: 62_000.0,
                within_stdev: 0.8654,
            },
            ..LoadReport::new("0.1.0".to_owned(), config, EngineChoice::Epoll)
        }
    }

    #[test]
    fn a_load_without_errors_looks_as_wrk_prints_it() {
        let expected = "\
Running 10s test @ http://127.0.0.1:8080/
  2 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  1124000 requests in 10.00s, 82.54MB read
Requests/sec: 112400.00
Transfer/sec:      8.25MB
";
        assert_eq!(load_text(&report(), false), expected);
    }

    #[test]
    fn the_latency_distribution_stands_behind_the_thread_stats_when_asked() {
        let expected = "\
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  Latency Distribution
     50%  250.00us
     75%  491.00us
     90%  700.00us
     99%    5.80ms
  1124000 requests in 10.00s, 82.54MB read
";
        let text = load_text(&report(), true);
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn errors_are_told_by_kind_and_statuses_on_their_own_line() {
        let mut report = report();
        report.errors = ErrorCounts { timeout: 3, reset: 1, status: 7, ..ErrorCounts::default() };
        report.error_examples = vec!["no reply within 2 s".to_owned()];
        let expected = "\
  1124000 requests in 10.00s, 82.54MB read
  Errors: timeout 3, reset 1
    for example: no reply within 2 s
  Non-2xx or 3xx responses: 7
Requests/sec: 112400.00
";
        let text = load_text(&report, false);
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn a_load_that_was_stopped_says_so() {
        let mut report = report();
        report.interrupted = true;
        report.window_ns = 3_200_000_000;
        let expected = "\
  1124000 requests in 3.20s, 82.54MB read
  Interrupted: the 10s test was stopped early
Requests/sec:";
        let text = load_text(&report, false);
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn a_load_of_a_count_names_the_count() {
        let mut report = report();
        report.config.stop = Stop::Requests(5000);
        let text = load_text(&report, false);
        assert!(text.starts_with("Running test of 5000 requests @ http://127.0.0.1:8080/\n"));
        report.config.stop = Stop::After(Duration::from_millis(1500));
        assert!(load_text(&report, false).starts_with("Running 1500ms test @ "));
    }

    #[test]
    fn a_load_without_any_reply_prints_zeros() {
        let mut report = report();
        report.latency = None;
        report.thread_rate = ThreadRate::default();
        (report.requests, report.requests_per_second) = (0, 0.0);
        (report.bytes_received, report.window_ns) = (0, 0);
        let expected = "\
    Latency     0.00us    0.00us   0.00us    0.00%
    Req/Sec     0.00      0.00     0.00      0.00%
  0 requests in 0.00us, 0.00B read
Requests/sec:      0.00
Transfer/sec:       0.00B
";
        let text = load_text(&report, true);
        assert!(text.ends_with(expected), "{text}");
        assert!(!text.contains("NaN"));
    }
}
