//! The percentiles of a load: of its latency, of what a schedule adds to it, and of connecting.
//!
//! A value in brackets has fewer than ten samples beyond it; a value behind `>` lies among samples
//! that were given up, so that it is a lower bound.

use wirebench_schema::load::{LatencyFigure, LatencySummary, LoadReport};

use super::{answered, column, shown};
use crate::{
    distribution::{self, Percentile},
    load_words, wrk_units,
};

/// Those of wrk, and one more. The largest is in wrk's line of the latency.
const DISTRIBUTION: [f64; 5] = [50.0, 75.0, 90.0, 99.0, 99.9];
/// What a row of a table has.
const ROW: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];

/// Width of a column of a table, wide enough for `[>120.00ms]`.
const WIDTH: usize = 12;

/// wrk's distribution: one line for each percentile.
pub(super) fn distribution(lines: &mut Vec<String>, report: &LoadReport, asked: &[f64]) {
    let Some(latency) = answered(report) else { return };
    lines.push("  Latency Distribution".to_owned());
    let percents = if asked.is_empty() { &DISTRIBUTION } else { asked };
    let (cells, found) = cells(latency, percents);
    for (percent, shown) in percents.iter().zip(cells) {
        // Brackets stand around the column of numbers, so that those still line up.
        let value = match shown.strip_suffix(']') {
            Some(opened) => column(opened, 10).trim_end().to_owned() + "]",
            None => column(&shown, 10),
        };
        lines.push(format!("{percent:7}%{}", value.trim_end()));
    }
    legend(lines, &found);
}

/// Percentiles as cells; what a stored load cannot say is a question mark.
fn cells(summary: &LatencySummary, percents: &[f64]) -> (Vec<String>, Vec<Percentile>) {
    let (mut cells, found) = distribution::cells(Some(summary), percents, wrk_units::time);
    cells.iter_mut().filter(|it| *it == "-").for_each(|it| "?".clone_into(it));
    (cells, found)
}

/// At a rate: the offered and the achieved rate, and where the time went, with a row of the latency if it is not
/// elsewhere.
pub(super) fn schedule(
    lines: &mut Vec<String>,
    report: &LoadReport,
    asked: &[f64],
    has_latency: bool,
) {
    if let (Some(offered), Some(demanded), Some(share)) =
        (report.offered, report.demanded_requests_per_second(), report.achieved_share())
    {
        let (achieved, share) = (share * demanded, share * 100.0);
        let unsent = offered.owed_at_end;
        lines.push(format!(
            "  Offered {demanded:.2} requests/s, achieved {achieved:.2} ({share:.2} %), {unsent} unsent at the end"
        ));
    }
    let latency = (load_words::latency(&report.config.model), report.latency.as_ref());
    let others =
        [(load_words::SERVICE, report.service.as_ref()), (load_words::LAG, report.lag.as_ref())];
    let rows: Vec<_> = has_latency.then_some(latency).into_iter().chain(others).collect();
    table(lines, &rows, asked);
}

/// Where the rate changes: one line for each part of the window.
pub(super) fn steps(lines: &mut Vec<String>, report: &LoadReport) {
    // A single one is the window.
    if report.steps.len() < 2 {
        return;
    }
    lines.push("    Offered/s  Achieved/s         p50         p99   Errors".to_owned());
    for step in &report.steps {
        let [p50, p99] = [LatencyFigure::P50, LatencyFigure::P99]
            .map(|figure| shown(step.latency.as_ref(), figure));
        let (offered, achieved) = (step.offered_per_second, step.requests_per_second);
        let errors = step.errors;
        lines.push(format!("    {offered:>9.0}{achieved:>12.0}{p50:>12}{p99:>12}{errors:>9}"));
    }
}

/// The latency of replies with an error status, by class.
pub(super) fn refusals(lines: &mut Vec<String>, report: &LoadReport, asked: &[f64]) {
    let titles: Vec<String> =
        report.latency_by_status.keys().map(|class| format!("Latency of {class}")).collect();
    let summaries = report.latency_by_status.values().map(Some);
    let rows: Vec<_> = titles.iter().map(String::as_str).zip(summaries).collect();
    if !rows.is_empty() {
        table(lines, &rows, asked);
    }
}

/// When connections were made again: how long that took.
pub(super) fn connecting(lines: &mut Vec<String>, report: &LoadReport, asked: &[f64]) {
    let retried = report.retried_requests.unwrap_or(0);
    if retried > 0 {
        lines.push(format!(
            "  Retried: requests were sent again {retried} times because the server had closed their connection"
        ));
    }
    let churn = report.client_closes + report.server_closes + report.reconnects;
    if churn == 0 {
        return;
    }
    lines.push(format!(
        "  Connections: {} closed by the client, {} by the server, {} reopened after failures",
        report.client_closes, report.server_closes, report.reconnects
    ));
    table(lines, &[("Connecting", report.connect.as_ref())], asked);
}

fn table(lines: &mut Vec<String>, rows: &[(&str, Option<&LatencySummary>)], asked: &[f64]) {
    let percents = if asked.is_empty() { &ROW } else { asked };
    let names: String =
        percents.iter().map(|percent| format!("{:>WIDTH$}", name(*percent))).collect();
    lines.push(format!("    {:<17}{names}", ""));
    let mut found = Vec::new();
    for (title, summary) in rows {
        let Some(summary) = summary else { continue };
        let (cells, of_row) = cells(summary, percents);
        let cells: String = cells.iter().map(|it| format!("{it:>WIDTH$}")).collect();
        lines.push(format!("    {title:<17}{cells}"));
        found.extend(of_row);
    }
    legend(lines, &found);
}

fn name(percent: f64) -> String {
    if percent >= 100.0 { "Max".to_owned() } else { format!("{percent}%") }
}

/// Explains the signs that were used.
fn legend(lines: &mut Vec<String>, found: &[Percentile]) {
    lines.extend(distribution::legend(found).iter().map(|line| format!("    {line}")));
}
