//! A load as a document: the result, its figures in tables and pictures, and what speaks against them.

use wirebench_judge::load::verdict;
use wirebench_schema::load::{
    ErrorKind, LatencySummary, LoadConfig, LoadReport, LoadResult, NamedRequests, Phase, RateStep,
};

use super::{Load, charts, doubts};
use crate::{
    by_name::{self, cell, latency_cells},
    distribution::{self, Distribution},
    document::{Block, Cell, Column, Document, Table},
    gates::conditions_block,
    load_text::{Detail, Wanted, load_text},
    load_words,
    origin::Origin,
    table_units::{bytes, count, latency, thousands},
};

const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];
const HEADS: [&str; 5] = ["p50", "p90", "p99", "p99.9", "max"];

pub(super) fn document(load: &Load<'_>) -> Document {
    let report = &load.result.report;
    let title = format!("Load on {}", report.config.target);
    let doubts = doubts(report);
    let word = (!doubts.is_empty()).then_some("NOT VALID");
    let verdict = verdict(report);
    let is_said = |caution: &String| doubts.iter().any(|doubt| doubt.starts_with(caution));
    let cautions: Vec<String> = verdict.cautions.into_iter().filter(|it| !is_said(it)).collect();
    let limit = format!("limit: {}", load_words::limit(verdict.limit));
    let text = load_text(report, &Wanted { detail: Detail::Everything, ..Wanted::default() });
    let blocks = vec![
        Block::Title(title.clone()),
        Block::Origin(vec![Origin::of_load(load.result, load.machine)]),
        Block::Headline(sentence(report), word),
        conditions_block(load.gate),
        Block::Lines(setting(&report.config)),
        Block::list(&limit, verdict.reasons),
        Block::section("What speaks against the result", [doubts, cautions].concat()),
        errors(report),
        latencies(report),
        steps(report),
        timeline(load.result),
        statuses(load.result),
        by_name(&report.by_name),
        requests(report),
        generators(report),
        Block::Details(vec![Block::Preformatted(text)]),
    ];
    Document { title, blocks }
}

/// `112 400 requests/s, p50 250 us, p99 5.80 ms, no error`
fn sentence(report: &LoadReport) -> String {
    let rate = format!("{} requests/s", thousands(report.requests_per_second));
    let latency = report.latency.as_ref().map(|summary| {
        let distribution = Distribution::new(summary);
        let shown = |percent| cell(distribution.at(percent));
        format!("p50 {}, p99 {}", shown(50.0), shown(99.0))
    });
    let errors = match report.errors.total() {
        0 => "no error".to_owned(),
        errors => count(errors, "error"),
    };
    [Some(rate), latency, Some(errors)].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What was asked for.
fn setting(config: &LoadConfig) -> Vec<String> {
    let (test, threads) = (load_words::test(config.stop), count(config.threads, "thread"));
    let mut lines = vec![format!("{test}, {threads}, {}", count(config.connections, "connection"))];
    lines.extend(load_words::particulars(config));
    lines
}

fn latencies(report: &LoadReport) -> Block {
    let whole = load_words::latency(&report.config.model);
    let mut rows = vec![(whole.to_owned(), report.latency.as_ref())];
    rows.push((load_words::SERVICE.to_owned(), report.service.as_ref()));
    rows.push((load_words::LAG.to_owned(), report.lag.as_ref()));
    let statuses = report.latency_by_status.iter();
    rows.extend(statuses.map(|(class, summary)| (format!("Latency of {class}"), Some(summary))));
    rows.push(("Connecting".to_owned(), report.connect.as_ref()));
    let mut signs = Vec::new();
    let cells = |(name, summary): (String, Option<&LatencySummary>)| {
        let summary = summary?;
        let (cells, found) = latency_cells(Some(summary), &PERCENTILES);
        signs.extend(found);
        let mean = latency(summary.latency_ns_mean);
        let row = [name].into_iter().chain(cells).chain([mean, thousands(summary.count as f64)]);
        Some(row.map(Into::into).collect())
    };
    let rows: Vec<_> = rows.into_iter().filter_map(cells).collect();
    let heads = HEADS.into_iter().chain(["mean", "samples"]).map(Column::right);
    let columns = [Column::left("time")].into_iter().chain(heads).collect();
    let blocks = vec![
        Block::Table(Table::new(columns, rows)),
        Block::Lines(distribution::legend(&signs)),
        charts::distribution(report).map_or(Block::Lines(Vec::new()), Block::Chart),
    ];
    Block::Section("Latency".to_owned(), blocks)
}

/// The parts of a window whose rate changes.
fn steps(report: &LoadReport) -> Block {
    let mut signs = Vec::new();
    let cells = |step: &RateStep| {
        let (cells, found) = latency_cells(step.latency.as_ref(), &[50.0, 99.0]);
        signs.extend(found);
        let rates = [step.offered_per_second, step.requests_per_second].map(thousands);
        let start = format!("{:.1}", step.start_ns as f64 / 1e9);
        let words = [start].into_iter().chain(rates).chain(cells);
        words.chain([thousands(step.errors as f64)]).map(Into::into).collect()
    };
    // A single one is the window.
    let shown = report.steps.iter().filter(|_| report.steps.len() > 1);
    let rows: Vec<Vec<Cell>> = shown.map(cells).collect();
    let heads = ["from second", "offered/s", "requests/s", "p50", "p99", "errors"];
    let table = Table::new(heads.map(Column::right).to_vec(), rows);
    let blocks = vec![
        Block::Table(table),
        Block::Lines(distribution::legend(&signs)),
        charts::steps(&report.steps).map_or(Block::Lines(Vec::new()), Block::Chart),
    ];
    Block::Section("Steps of the rate".to_owned(), blocks)
}

/// The course of the load; nothing of a single interval, which is the load itself.
fn timeline(LoadResult { intervals, report, .. }: &LoadResult) -> Block {
    let chart = charts::timeline(intervals, &report.steps);
    let Some(chart) = chart else { return Block::Lines(Vec::new()) };
    let window = || intervals.iter().filter(|it| it.phase == Phase::Window);
    let range = |values: Vec<f64>, show: fn(f64) -> String| {
        let least = values.iter().copied().reduce(f64::min)?;
        let most = values.iter().copied().reduce(f64::max)?;
        Some(format!("{} to {}", show(least), show(most)))
    };
    let rates = range(window().map(|it| it.requests_per_second).collect(), thousands);
    let p99 =
        range(window().filter_map(|it| it.latency_ns_p99).map(|it| it as f64).collect(), latency);
    let rates = rates.map(|it| format!(": {it} requests/s")).unwrap_or_default();
    let p99 = p99.map(|it| format!(", p99 {it}")).unwrap_or_default();
    let line = format!("{}{rates}{p99}", count(window().count(), "interval"));
    Block::Section("Over time".to_owned(), vec![Block::line(line), Block::Chart(chart)])
}

/// The replies of each class of statuses.
fn statuses(LoadResult { intervals, report, .. }: &LoadResult) -> Block {
    let counts = load_words::statuses(report);
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let row = |(class, count): &(String, u64)| {
        let share = format!("{:.2} %", *count as f64 * 100.0 / all as f64);
        vec![class.clone().into(), thousands(*count as f64).into(), share.into()]
    };
    let columns = vec![Column::left("status"), Column::right("replies"), Column::right("share")];
    let blocks = vec![
        Block::Table(Table::new(columns, counts.iter().map(row))),
        charts::statuses(intervals).map_or(Block::Lines(Vec::new()), Block::Chart),
    ];
    Block::Section("Statuses".to_owned(), blocks)
}

fn by_name(named: &[NamedRequests]) -> Block {
    let lines: Vec<_> = named.iter().map(|it| (None, it)).collect();
    by_name::section("Requests by name".to_owned(), &lines)
}

/// What was counted.
fn requests(report: &LoadReport) -> Block {
    let seconds = report.window_ns as f64 / 1e9;
    let per_second = |number: u64| match seconds > 0.0 {
        true => format!("{}/s", bytes((number as f64 / seconds) as u64)),
        false => "-".to_owned(),
    };
    let number = |it: u64| thousands(it as f64);
    let mut rows = vec![
        ("correct replies".to_owned(), number(report.requests)),
        ("window".to_owned(), latency(report.window_ns as f64)),
        (
            "received".to_owned(),
            format!("{}, {}", bytes(report.bytes_received), per_second(report.bytes_received)),
        ),
        (
            "sent".to_owned(),
            format!("{}, {}", bytes(report.bytes_sent), per_second(report.bytes_sent)),
        ),
    ];
    if let Some(offered) = report.offered {
        let rate = thousands(offered.requests_per_second);
        rows.push(("offered".to_owned(), format!("{rate} requests/s")));
        rows.push(("unsent at the end".to_owned(), number(offered.owed_at_end)));
    }
    rows.push(("connections made".to_owned(), number(report.connections_made as u64)));
    let closed = report.client_closes + report.server_closes + report.reconnects;
    if closed > 0 {
        rows.push(("connections closed by the client".to_owned(), number(report.client_closes)));
        rows.push(("connections closed by the server".to_owned(), number(report.server_closes)));
        rows.push(("reopened after failures".to_owned(), number(report.reconnects)));
    }
    if let Some(tls) = &report.tls {
        rows.push(("TLS".to_owned(), format!("{}, {}", tls.version, tls.cipher_suite)));
    }
    let rows = rows.into_iter().map(|(name, value)| vec![name.into(), value.into()]);
    let columns = vec![Column::left("what"), Column::right("number")];
    Block::Section("Counted".to_owned(), vec![Block::Table(Table::new(columns, rows))])
}

/// What failed, by kind, with the first of each kind.
fn errors(report: &LoadReport) -> Block {
    let example = |kind: ErrorKind| {
        let found = report.error_examples.iter().find(|it| it.kind == Some(kind));
        found.map_or_else(String::new, |it| it.sentence.clone())
    };
    let kinds = report.errors.kinds().into_iter().filter(|(_, count)| *count > 0);
    let rows = kinds.map(|(kind, count)| {
        vec![kind.name().into(), thousands(count as f64).into(), example(kind).into()]
    });
    let columns =
        vec![Column::left("error"), Column::right("number"), Column::left("the first one")];
    Block::Section("Errors".to_owned(), vec![Block::Table(Table::new(columns, rows))])
}

/// What each of several generators made.
fn generators(report: &LoadReport) -> Block {
    let time = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| latency(ns as f64));
    let rows = report.generators.iter().map(|part| {
        let limit = if part.is_saturated() { ", saturated" } else { "" };
        let cells = [
            part.host.clone(),
            thousands(part.requests_per_second),
            time(part.latency_ns_p99),
            time(part.lag_ns_p99),
            format!("{:.2} of {}{limit}", part.cpus_used, part.threads),
            format!("+{} ±{}", time(Some(part.start_delay_ns)), time(Some(part.clock_error_ns))),
        ];
        cells.map(Into::into).to_vec()
    });
    let heads = ["requests/s", "p99", "sent late", "CPUs used", "began"].map(Column::right);
    let columns = [Column::left("host")].into_iter().chain(heads).collect();
    Block::Section("Load generators".to_owned(), vec![Block::Table(Table::new(columns, rows))])
}
