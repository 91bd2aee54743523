//! The percentiles of a load: of its latency, of what a schedule adds to it, and of connecting.
//!
//! A value in brackets has fewer than ten samples beyond it; a value behind `>` lies among samples
//! that were given up, so that it is a lower bound.

use wirebench_schema::load::LoadReport;

use super::{add, answered, column};
use crate::{
    distribution::Percentiles,
    load_tables::{of_times, times},
    wrk_units,
};

/// Those of wrk, and one more. The largest is in wrk's line of the latency.
const DISTRIBUTION: [f64; 5] = [50.0, 75.0, 90.0, 99.0, 99.9];
/// What a row of a table has.
const ROW: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];

/// wrk's distribution: one line for each percentile.
pub(super) fn distribution(lines: &mut Vec<String>, report: &LoadReport, asked: &[f64]) {
    let Some(latency) = answered(report) else { return };
    lines.push("  Latency Distribution".to_owned());
    let percents = if asked.is_empty() { &DISTRIBUTION } else { asked };
    let mut all = Percentiles::of(percents, wrk_units::time);
    for (percent, shown) in percents.iter().zip(all.cells(Some(latency))) {
        // A stored load may not have this percentile.
        let shown = if shown == "-" { "?".to_owned() } else { shown };
        // Brackets stand around the column of numbers, so that those still line up.
        let value = match shown.strip_suffix(']') {
            Some(opened) => column(opened, 10).trim_end().to_owned() + "]",
            None => column(&shown, 10),
        };
        lines.push(format!("{percent:7}%{}", value.trim_end()));
    }
    add(lines, vec![all.legend()]);
}

/// At a rate: the offered and the achieved rate.
pub(super) fn offered(lines: &mut Vec<String>, report: &LoadReport) {
    if let (Some(offered), Some(demanded), Some(share)) =
        (report.offered, report.demanded_requests_per_second(), report.achieved_share())
    {
        let (achieved, share) = (share * demanded, share * 100.0);
        let unsent = offered.owed_at_end;
        lines.push(format!(
            "  Offered {demanded:.2} requests/s, achieved {achieved:.2} ({share:.2} %), {unsent} unsent at the end"
        ));
    }
}

/// Connections that were made again, and where the time went, with a row of the latency if it is not elsewhere.
pub(super) fn table(
    lines: &mut Vec<String>,
    report: &LoadReport,
    asked: &[f64],
    has_latency: bool,
) {
    let retried = report.retried_requests.unwrap_or(0);
    if retried > 0 {
        lines.push(format!(
            "  Retried: requests were sent again {retried} times because the server had closed their connection"
        ));
    }
    let has_churn = report.client_closes + report.server_closes + report.reconnects > 0;
    if has_churn {
        lines.push(format!(
            "  Connections: {} closed by the client, {} by the server, {} reopened after failures",
            report.client_closes, report.server_closes, report.reconnects
        ));
    }
    let percents = if asked.is_empty() { &ROW } else { asked };
    let mut times = times(report);
    times.truncate(times.len() - usize::from(!has_churn));
    times.drain(..usize::from(!has_latency));
    add(lines, of_times(times, percents, false));
}
