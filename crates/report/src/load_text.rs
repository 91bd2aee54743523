//! The report of a load in wrk's text layout, which countless scripts read.
//!
//! What wrk has stands as wrk prints it. Between that stands what the load calls for: a schedule, connections
//! that were made anew, failures by kind, and always which side was the limit.

mod particulars;
mod times;

pub use particulars::Detail;

use wirebench_schema::load::{
    ErrorKind, LatencyFigure, LatencySummary, LoadConfig, LoadModel, LoadReport,
};

use crate::{
    document::{Block, Document, Look, Paint, Shade},
    load_tables::{OF_WRK, of_generators, of_load, of_steps},
    load_words, wrk_units,
};

/// The parts of the text that were requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    pub detail: Detail,
    /// The percentiles that were asked for; none leaves the choice to the text.
    pub percentiles: Vec<f64>,
    pub look: Look,
}

/// Everything: the lines at the start of the load, and its result.
#[must_use]
pub fn load_text(report: &LoadReport, wanted: &Wanted) -> String {
    let hosts: Vec<String> = report.generators.iter().map(|it| it.host.clone()).collect();
    heading(&report.config, &hosts) + &results(report, wanted)
}

/// The lines that are printed when the load begins: two, and one for each thing that makes it other
/// than a plain closed loop. `hosts` are those of the generators, if the load comes from others.
#[must_use]
pub fn heading(config: &LoadConfig, hosts: &[String]) -> String {
    let mut lines = Vec::new();
    let asked = load_words::test(config.stop);
    lines.push(format!("Running {asked} @ {}", config.target));
    let (threads, connections) = (config.threads, config.connections);
    lines.push(format!("  {threads} threads and {connections} connections"));
    if !hosts.is_empty() {
        lines.push(format!("  from {}, with as many threads on each", hosts.join(", ")));
    }
    for particular in load_words::particulars(config) {
        lines.push(format!("  {particular}"));
    }
    lines.join("\n") + "\n"
}

/// The lines that are printed when it is over.
#[must_use]
// Casts to f64 lose less than the decimals that are printed.
pub fn results(report: &LoadReport, wanted: &Wanted) -> String {
    let mut lines = Vec::new();
    let paint = Paint(wanted.look, usize::MAX);
    thread_stats(&mut lines, report, paint);
    // At a rate the latency has a row of a table, unless wrk's lines were asked for.
    let is_rate = matches!(report.config.model, LoadModel::Rate { .. });
    let has_row = is_rate && wanted.detail == Detail::Needed;
    if !has_row {
        times::distribution(&mut lines, report, &wanted.percentiles);
    }
    times::offered(&mut lines, report);
    let stalls = load_words::stalls(report, wrk_units::time);
    lines.extend(stalls.map(|it| format!("  Without stalls of this machine: {it}")));
    add(&mut lines, of_steps(report, OF_WRK));
    times::table(&mut lines, report, &wanted.percentiles, has_row);
    let seconds = report.window_ns as f64 / 1e9;
    let received = report.bytes_received as f64;
    let before = match report.requests_before {
        0 => String::new(),
        requests => format!("; {requests} before the load, to learn the replies"),
    };
    lines.push(format!(
        "  {} requests in {}, {} read{before}",
        report.requests,
        wrk_units::time(report.window_ns as f64),
        wrk_units::bytes(received)
    ));
    add(&mut lines, of_load(report, OF_WRK));
    add(&mut lines, of_generators(report, OF_WRK));
    particulars::lines(&mut lines, report, wanted.detail);
    errors(&mut lines, report, paint);
    particulars::verdict(&mut lines, report, paint);
    let transfer = if seconds > 0.0 { received / seconds } else { 0.0 };
    let rate = format!("Requests/sec: {:9.2}", report.requests_per_second);
    lines.push(paint.apply(Shade::Head, &rate));
    lines.push(format!("Transfer/sec: {:>11}", wrk_units::bytes(transfer)));
    lines.join("\n") + "\n"
}

/// Adds tables and what explains them.
fn add(lines: &mut Vec<String>, blocks: Vec<Block>) {
    let text = Document { blocks, ..Document::default() }.brief(Paint::FILE);
    lines.extend(text.lines().map(|line| format!("    {line}")));
}

/// The latency of a load with replies. Of requests without one alone, no figure is known.
fn answered(report: &LoadReport) -> Option<&LatencySummary> {
    report.latency.as_ref().filter(|it| it.count > it.censored)
}

fn thread_stats(lines: &mut Vec<String>, report: &LoadReport, paint: Paint) {
    let head = format!("  Thread Stats{:>6}{:>11}{:>8}{:>12}", "Avg", "Stdev", "Max", "+/- Stdev");
    lines.push(paint.apply(Shade::Head, &head));
    // Casts to f64 lose less than the decimals that are printed.
    match answered(report) {
        Some(latency) => {
            let (mean, stdev) = (latency.latency_ns_mean, latency.latency_ns_stdev);
            // The samples that would be larger are the largest, so all three would be.
            let sign = if LatencyFigure::Max.is_lower_bound(latency) { ">" } else { "" };
            let time = |ns| format!("{sign}{}", wrk_units::time(ns));
            let times = [mean, stdev, latency.latency_ns_max as f64].map(time);
            stats_line(lines, "Latency", times, latency.within_stdev);
        }
        // What was not measured is no zero.
        None => lines.push("    Latency        -         -        -          -".to_owned()),
    }
    let rate = &report.thread_rate;
    let rates = [rate.mean, rate.stdev, rate.max].map(wrk_units::rate);
    stats_line(lines, "Req/Sec", rates, rate.within_stdev);
}

fn stats_line(lines: &mut Vec<String>, name: &str, [mean, stdev, max]: [String; 3], within: f64) {
    lines.push(format!(
        "    {name:<9}{}{}{}{:8.2}%",
        column(&mean, 9),
        column(&stdev, 10),
        column(&max, 9),
        within * 100.0
    ));
}

/// A number with its unit in a column of this width: units of two, one and no letters end so that
/// the numbers line up.
fn column(value: &str, width: usize) -> String {
    let letters = value.chars().rev().take(2).filter(char::is_ascii_alphabetic).count();
    let behind = 2 - letters;
    format!("{value:>width$.width$}{:behind$}", "", width = width - behind)
}

/// What failed, by kind, if anything did. Statuses have wrk's own line.
fn errors(lines: &mut Vec<String>, report: &LoadReport, paint: Paint) {
    let kinds: Vec<String> = report
        .errors
        .kinds()
        .into_iter()
        .filter(|(kind, count)| *count > 0 && *kind != ErrorKind::Status)
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    if !kinds.is_empty() {
        let errors = format!("  Errors: {}", kinds.join(", "));
        lines.push(paint.apply(Shade::Worse, &errors));
    }
    for example in &report.error_examples {
        lines.push(format!("    for example: {example}"));
    }
    if report.errors.status > 0 {
        let (expected, set) = (&report.config.expect_status, &report.config.requests);
        let expected: Vec<_> = expected.iter().map(u16::to_string).collect();
        let has_own = set
            .as_ref()
            .is_some_and(|set| set.requests.iter().any(|it| !it.expect.status.is_empty()));
        let which = match expected.is_empty() {
            true if has_own => "Responses with an unexpected status".to_owned(),
            true => "Non-2xx or 3xx responses".to_owned(),
            false => format!("Responses with a status other than {}", expected.join(" or ")),
        };
        let statuses = format!("  {which}: {}", report.errors.status);
        lines.push(paint.apply(Shade::Worse, &statuses));
    }
}

#[cfg(test)]
mod tests;
