//! The report of a load in wrk's text layout, which countless scripts read.
//!
//! What wrk has stands as wrk prints it. Between that stands what the load calls for: a schedule, connections
//! that were made anew, failures by kind, and always which side was the limit.

mod particulars;
mod times;

use std::fmt::Write;
use wirebench_schema::load::{ErrorKind, LatencyFigure, LoadConfig, LoadReport};

use crate::{load_words, wrk_units};

/// How much detail the text shows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Detail {
    /// What the load calls for.
    #[default]
    Needed,
    /// Everything, with the distribution of latency (`-L`).
    Everything,
}

/// The parts of the text that were requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// How much.
    pub detail: Detail,
    /// The percentiles that were asked for; none leaves the choice to the text.
    pub percentiles: Vec<f64>,
}

/// Everything: what is said when the load begins, and what came of it.
#[must_use]
pub fn load_text(report: &LoadReport, wanted: &Wanted) -> String {
    let hosts: Vec<String> = report.generators.iter().map(|it| it.host.clone()).collect();
    heading(&report.config, &hosts) + &results(report, wanted)
}

/// The lines that are printed when the load begins: two, and one for each thing that makes it other
/// than a plain closed loop. `hosts` are those of the generators, if the load comes from others.
#[must_use]
pub fn heading(config: &LoadConfig, hosts: &[String]) -> String {
    let mut text = String::new();
    let asked = load_words::stop(config.stop);
    line(&mut text, format_args!("Running {asked} @ {}", config.target));
    let (threads, connections) = (config.threads, config.connections);
    line(&mut text, format_args!("  {threads} threads and {connections} connections"));
    if !hosts.is_empty() {
        line(&mut text, format_args!("  from {}, with as many threads on each", hosts.join(", ")));
    }
    for particular in load_words::particulars(config) {
        line(&mut text, format_args!("  {particular}"));
    }
    text
}

/// The lines that are printed when it is over.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "what is printed has two decimals")]
pub fn results(report: &LoadReport, wanted: &Wanted) -> String {
    let mut text = String::new();
    thread_stats(&mut text, report);
    if let Some(latency) = report.latency.as_ref().filter(|_| wanted.detail == Detail::Everything) {
        times::distribution(&mut text, latency, &wanted.percentiles);
    }
    times::schedule(&mut text, report, &wanted.percentiles);
    times::refusals(&mut text, report, &wanted.percentiles);
    times::connecting(&mut text, report, &wanted.percentiles);
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
    generators(&mut text, report);
    particulars::lines(&mut text, report, wanted.detail);
    errors(&mut text, report);
    particulars::verdict(&mut text, report);
    let transfer = if seconds > 0.0 { received / seconds } else { 0.0 };
    line(&mut text, format_args!("Requests/sec: {:9.2}", report.requests_per_second));
    line(&mut text, format_args!("Transfer/sec: {:>11}", wrk_units::bytes(transfer)));
    text
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing into a String does not fail.
    let _ = writeln!(text, "{arguments}");
}

/// What each of several generators made.
fn generators(text: &mut String, report: &LoadReport) {
    let head = ["Req/Sec", "p99", "sent late", "CPUs used", "began"];
    if !report.generators.is_empty() {
        line(
            text,
            format_args!(
                "  Generators{:>14}{:>10}{:>11}{:>11}{:>20}",
                head[0], head[1], head[2], head[3], head[4]
            ),
        );
    }
    let time = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| wrk_units::time(ns as f64));
    for part in &report.generators {
        let began =
            format!("+{} ±{}", time(Some(part.start_delay_ns)), time(Some(part.clock_error_ns)));
        let limit = if part.is_saturated() { "  saturated" } else { "" };
        line(
            text,
            format_args!(
                "    {:<12}{:>8}{:>10}{:>11}{:>11}{:>20}{limit}",
                part.host,
                wrk_units::rate(part.requests_per_second),
                time(part.latency_ns_p99),
                time(part.lag_ns_p99),
                format!("{:.2} of {}", part.cpus_used, part.threads),
                began
            ),
        );
    }
}

fn thread_stats(text: &mut String, report: &LoadReport) {
    line(
        text,
        format_args!("  Thread Stats{:>6}{:>11}{:>8}{:>12}", "Avg", "Stdev", "Max", "+/- Stdev"),
    );
    #[allow(clippy::cast_precision_loss, reason = "what is printed has two decimals")]
    // Of requests without a reply alone neither mean nor deviation is known.
    match report.latency.as_ref().filter(|it| it.count > it.censored) {
        Some(latency) => {
            let (mean, stdev) = (latency.latency_ns_mean, latency.latency_ns_stdev);
            // The samples that would be larger are the largest, so all three would be.
            let sign = if LatencyFigure::Max.is_lower_bound(latency) { ">" } else { "" };
            let time = |ns| format!("{sign}{}", wrk_units::time(ns));
            let times = [mean, stdev, latency.latency_ns_max as f64].map(time);
            stats_line(text, "Latency", times, latency.within_stdev);
        }
        // What was not measured is no zero.
        None => line(
            text,
            format_args!("    {:<10}{:>6}{:>10}{:>9}{:>11}", "Latency", "-", "-", "-", "-"),
        ),
    }
    let rate = &report.thread_rate;
    let rates = [rate.mean, rate.stdev, rate.max].map(wrk_units::rate);
    stats_line(text, "Req/Sec", rates, rate.within_stdev);
}

fn stats_line(text: &mut String, name: &str, [mean, stdev, max]: [String; 3], within: f64) {
    line(
        text,
        format_args!(
            "    {name:<9}{}{}{}{:8.2}%",
            column(&mean, 9),
            column(&stdev, 10),
            column(&max, 9),
            within * 100.0
        ),
    );
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
        .filter(|(kind, count)| *count > 0 && *kind != ErrorKind::Status)
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    if !kinds.is_empty() {
        line(text, format_args!("  Errors: {}", kinds.join(", ")));
    }
    for example in &report.error_examples {
        line(text, format_args!("    for example: {example}"));
    }
    if report.errors.status > 0 {
        let expected = &report.config.expect_status;
        let expected: Vec<_> = expected.iter().map(u16::to_string).collect();
        let which = match expected.is_empty() {
            true => "Non-2xx or 3xx responses".to_owned(),
            false => format!("Responses with a status other than {}", expected.join(" or ")),
        };
        line(text, format_args!("  {which}: {}", report.errors.status));
    }
}

#[cfg(test)]
mod tests;
