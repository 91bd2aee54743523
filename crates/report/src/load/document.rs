//! A load as a document: the result, its figures in tables and pictures, and what speaks against them.

use wirebench_judge::load::verdict;
use wirebench_schema::load::{ErrorKind, LoadConfig, LoadReport, LoadResult, Phase};
use wirebench_stats::range;

use super::{Load, charts, doubts};
use crate::{
    distribution::Percentiles,
    document::{Block, Column, Document, Table},
    gates::words::conditions_block,
    load_tables::{OF_PAGES, of_generators, of_load, of_steps, of_times, times},
    load_text::{Detail, Wanted, load_text},
    load_words,
    origin::Origin,
    table_units::{bytes, count, latency, thousands},
};

const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];

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
        Block::Section("Requests by name".to_owned(), of_load(report, OF_PAGES)),
        requests(report),
        Block::Section("Load generators".to_owned(), of_generators(report, OF_PAGES)),
        Block::Details(vec![Block::Preformatted(text)]),
    ];
    Document { title, blocks }
}

/// `112 400 requests/s, p50 250 us, p99 5.80 ms, no error`
pub(crate) fn sentence(report: &LoadReport) -> String {
    let rate = format!("{} requests/s", thousands(report.requests_per_second));
    let shown = report.latency.as_ref().map(|summary| {
        let cells = Percentiles::of(&[50.0, 99.0], latency).cells(Some(summary));
        format!("p50 {}, p99 {}", cells[0], cells[1])
    });
    let errors = match report.errors.total() {
        0 => "no error".to_owned(),
        errors => count(errors, "error"),
    };
    [Some(rate), shown, Some(errors)].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What was asked for.
fn setting(config: &LoadConfig) -> Vec<String> {
    let (test, threads) = (load_words::test(config.stop), count(config.threads, "thread"));
    let mut lines = vec![format!("{test}, {threads}, {}", count(config.connections, "connection"))];
    lines.extend(load_words::particulars(config));
    lines
}

fn latencies(report: &LoadReport) -> Block {
    let stalls = load_words::stalls(report, latency);
    let stalls = stalls.map(|it| format!("without stalls of this machine: {it}"));
    let mut blocks = of_times(times(report), &PERCENTILES, true);
    blocks.push(Block::Lines(stalls.into_iter().collect()));
    blocks.push(Block::Charts(charts::distribution(report).into_iter().collect()));
    Block::Section("Latency".to_owned(), blocks)
}

/// The parts of a window whose rate changes.
fn steps(report: &LoadReport) -> Block {
    let mut blocks = of_steps(report, OF_PAGES);
    blocks.push(Block::Charts(charts::steps(&report.steps).into_iter().collect()));
    Block::Section("Steps of the rate".to_owned(), blocks)
}

/// The course of the load; nothing of a single interval, which is the load itself.
fn timeline(LoadResult { intervals, report, .. }: &LoadResult) -> Block {
    let charts = charts::timeline(intervals, &report.steps);
    if charts.is_empty() {
        return Block::Charts(charts);
    }
    let window = || intervals.iter().filter(|it| it.phase == Phase::Window);
    let range = |values: Vec<f64>, show: fn(f64) -> String| {
        range(&values).map(|(least, most)| format!("{} to {}", show(least), show(most)))
    };
    let rates = range(window().map(|it| it.requests_per_second).collect(), thousands);
    let p99 =
        range(window().filter_map(|it| it.latency_ns_p99).map(|it| it as f64).collect(), latency);
    let rates = rates.map(|it| format!(": {it} requests/s")).unwrap_or_default();
    let p99 = p99.map(|it| format!(", p99 {it}")).unwrap_or_default();
    let line = format!("{}{rates}{p99}", count(window().count(), "interval"));
    Block::Section("Over time".to_owned(), vec![Block::line(line), Block::Charts(charts)])
}

/// The replies of each class of statuses.
fn statuses(LoadResult { intervals, report, .. }: &LoadResult) -> Block {
    let counts = load_words::statuses(report);
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let row = |(class, count): &(String, u64)| {
        let share = format!("{:.2} %", *count as f64 * 100.0 / all as f64);
        vec![class.clone(), thousands(*count as f64), share]
    };
    let blocks = vec![
        Block::Table(Table::of(["status"], ["replies", "share"], counts.iter().map(row))),
        Block::Charts(charts::statuses(intervals).into_iter().collect()),
    ];
    Block::Section("Statuses".to_owned(), blocks)
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
        ("correct replies", number(report.requests)),
        ("window", latency(report.window_ns as f64)),
        (
            "received",
            format!("{}, {}", bytes(report.bytes_received), per_second(report.bytes_received)),
        ),
        ("sent", format!("{}, {}", bytes(report.bytes_sent), per_second(report.bytes_sent))),
    ];
    if let Some(offered) = report.offered {
        let rate = thousands(offered.requests_per_second);
        rows.push(("offered", format!("{rate} requests/s")));
        rows.push(("unsent at the end", number(offered.owed_at_end)));
    }
    rows.push(("connections made", number(report.connections_made as u64)));
    let closed = report.client_closes + report.server_closes + report.reconnects;
    if closed > 0 {
        rows.push(("connections closed by the client", number(report.client_closes)));
        rows.push(("connections closed by the server", number(report.server_closes)));
        rows.push(("reopened after failures", number(report.reconnects)));
    }
    if let Some(tls) = &report.tls {
        rows.push(("TLS", format!("{}, {}", tls.version, tls.cipher_suite)));
    }
    let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]);
    Block::Section("Counted".to_owned(), vec![Block::Table(Table::of(["what"], ["number"], rows))])
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
