//! The tables that the text and the page of a load share, each in its own units.

use wirebench_schema::load::{GeneratorPart, LatencySummary, LoadReport, NamedRequests, RateStep};

use crate::{
    distribution::Percentiles,
    document::{Block, Table},
    load_words,
    table_units::{latency, thousands},
    wrk_units,
};

/// How rates and times are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    rate: fn(f64) -> String,
    pub(crate) time: fn(f64) -> String,
}

pub(crate) const OF_PAGES: Units = Units { rate: thousands, time: latency };
pub(crate) const OF_WRK: Units = Units { rate: wrk_units::rate, time: wrk_units::time };

const BY_NAME: [f64; 3] = [50.0, 99.0, 99.9];
const CONNECTING: &str = "Connecting";

/// A time of a load and its distribution, where it was measured.
pub(crate) type Time<'a> = (String, Option<&'a LatencySummary>);

/// The latency first.
pub(crate) fn times(report: &LoadReport) -> Vec<Time<'_>> {
    let latency = load_words::latency(&report.config.model);
    let parts = [
        (latency, report.latency.as_ref()),
        (load_words::SERVICE, report.service.as_ref()),
        (load_words::LAG, report.lag.as_ref()),
    ];
    let statuses = report.latency_by_status.iter();
    let statuses = statuses.map(|(class, it)| (format!("Latency of {class}"), Some(it)));
    let connecting = (CONNECTING.to_owned(), report.connect.as_ref());
    let parts = parts.map(|(name, it)| (name.to_owned(), it)).into_iter();
    parts.chain(statuses).chain([connecting]).collect()
}

/// Percentiles of times, with means and numbers of samples on a page.
pub(crate) fn of_times(times: Vec<Time<'_>>, percents: &[f64], is_page: bool) -> Vec<Block> {
    let units = if is_page { OF_PAGES } else { OF_WRK };
    let mut percentiles = Percentiles::of(percents, units.time);
    let row = |(name, summary): Time<'_>| {
        let summary = summary?;
        let more = [latency(summary.latency_ns_mean), thousands(summary.count as f64)];
        let more = more.into_iter().filter(|_| is_page);
        Some([name].into_iter().chain(percentiles.cells(Some(summary))).chain(more).collect())
    };
    let rows: Vec<Vec<String>> = times.into_iter().filter_map(row).collect();
    let heads = percents.iter().map(|percent| match *percent {
        100.0.. => "max".to_owned(),
        percent => format!("p{percent}"),
    });
    let more = ["mean", "samples"].into_iter().filter(|_| is_page).map(str::to_owned);
    let table = Table::of(["time"], heads.chain(more), rows);
    vec![Block::Table(table), percentiles.legend()]
}

/// The parts of a window whose rate changes.
pub(crate) fn of_steps(report: &LoadReport, units: Units) -> Vec<Block> {
    let mut percentiles = Percentiles::of(&[50.0, 99.0], units.time);
    let cells = |step: &RateStep| {
        let rates = [step.offered_per_second, step.requests_per_second].map(thousands);
        let words = [format!("{:.1}", step.start_ns as f64 / 1e9)].into_iter().chain(rates);
        let words = words.chain(percentiles.cells(step.latency.as_ref()));
        words.chain([thousands(step.errors as f64)]).collect()
    };
    // A single one is the window.
    let shown = report.steps.iter().filter(|_| report.steps.len() > 1);
    let rows: Vec<Vec<String>> = shown.map(cells).collect();
    let heads = ["from second", "offered/s", "requests/s", "p50", "p99", "errors"];
    vec![Block::Table(Table::of([""; 0], heads, rows)), percentiles.legend()]
}

/// A table of these requests, with the servers that answered them if there are several.
pub(crate) fn of_names(lines: &[(Option<String>, NamedRequests)], units: Units) -> Vec<Block> {
    let mut percentiles = Percentiles::of(&BY_NAME, units.time);
    let cells = |(server, it): &(Option<String>, NamedRequests)| {
        let counts = [it.requests as f64, it.errors as f64].map(thousands);
        let rate = [(units.rate)(it.requests_per_second)];
        let words = [it.name.clone()].into_iter().chain(server.clone()).chain(counts).chain(rate);
        words.chain(percentiles.cells(it.latency.as_ref())).collect()
    };
    let rows: Vec<Vec<String>> = lines.iter().map(cells).collect();
    let server = lines.iter().any(|(server, _)| server.is_some()).then_some("server");
    let heads = ["requests", "errors", "requests/s", "p50", "p99", "p99.9"];
    let table = Table::of(["request"].into_iter().chain(server), heads, rows);
    vec![Block::Table(table), percentiles.legend()]
}

/// The requests of a load by name.
pub(crate) fn of_load(report: &LoadReport, units: Units) -> Vec<Block> {
    let lines: Vec<_> = report.by_name.iter().map(|it| (None, it.clone())).collect();
    of_names(&lines, units)
}

/// What each of several generators made.
pub(crate) fn of_generators(report: &LoadReport, units: Units) -> Vec<Block> {
    let row = |part: &GeneratorPart| {
        let known = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| (units.time)(ns as f64));
        let [delay, error] =
            [part.start_delay_ns, part.clock_error_ns].map(|ns| (units.time)(ns as f64));
        let saturated = if part.is_saturated() { ", saturated" } else { "" };
        let cells = [
            part.host.clone(),
            (units.rate)(part.requests_per_second),
            known(part.latency_ns_p99),
            known(part.lag_ns_p99),
            format!("{:.2} of {}{saturated}", part.cpus_used, part.threads),
            format!("+{delay} ±{error}"),
        ];
        cells.to_vec()
    };
    let heads = ["requests/s", "p99", "sent late", "CPUs used", "began"];
    vec![Block::Table(Table::of(["host"], heads, report.generators.iter().map(row)))]
}
