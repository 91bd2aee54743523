//! The page of a load, its other forms, and its rows.

use super::*;
use crate::{
    analysis::MetricFacts,
    distribution::tests::summary_of,
    exposition::tests::families,
    fixtures::{assert_golden, assert_golden_page, difference, two_hosts},
    format::Format,
    load_text::{Detail, Wanted, load_text},
};
use wirebench_schema::labels::Labels;
use wirebench_schema::load::{
    EngineChoice, ErrorCounts, Fairness, Interval, LatencyFigure, LatencySummary, LoadConfig,
    LoadModel, LoadReport, NamedRequests, Offered, Phase, RateCurve, RateStep, RequestFile,
    RequestOrder, ThreadRate,
};

fn latency(scale_ns: u64) -> LatencySummary {
    summary_of(
        &(1..=20_000_u64).map(|it| it * it / 4_000 * scale_ns + 40_000).collect::<Vec<_>>(),
        3,
    )
}

fn interval(second: u64, requests: u64, p99: Option<u64>) -> Interval {
    Interval {
        phase: if second == 0 { Phase::Warmup } else { Phase::Window },
        start_ns: second * 1_000_000_000,
        length_ns: 1_000_000_000,
        requests,
        requests_per_second: requests as f64,
        errors: u64::from(second == 4) * 40,
        latency_ns_p50: p99.map(|it| it / 9),
        latency_ns_p99: p99,
        latency_ns_max: p99.map(|it| it * 3),
        lower_bounds: if second == 4 { vec![LatencyFigure::Max] } else { Vec::new() },
        ..Interval::default()
    }
}

/// A load of two requests at a rate, with errors.
pub(crate) fn result() -> LoadResult {
    let mut config = LoadConfig::new("http://127.0.0.1:8080/".parse().unwrap());
    config.model = LoadModel::rate(RateCurve::per_second(20_000));
    let requests = RequestFile::parse("/\n/users/{seq}", RequestOrder::Weighted).unwrap().set;
    config.requests = Some(requests);
    let named = |name: &str, requests, latency| NamedRequests {
        name: name.to_owned(),
        requests,
        requests_per_second: requests as f64 / 10.0,
        errors: 20,
        latency,
    };
    let mut errors = ErrorCounts { wrong_reply: 30, ..ErrorCounts::default() };
    errors.timeout = 10;
    let report = LoadReport {
        window_ns: 10_000_000_000,
        requests: 199_950,
        requests_per_second: 19_995.0,
        bytes_received: 86_548_000,
        bytes_sent: 46_084_000,
        latency: Some(latency(100)),
        service: Some(latency(90)),
        lag: Some(latency(1)),
        connect: Some(latency(2)),
        offered: Some(Offered {
            due: 200_000,
            owed_at_end: 10,
            waiting: [0; 3],
            requests_per_second: 20_000.0,
        }),
        errors,
        error_examples: vec![
            "wrong reply: request `GET /`: the body differs from the expected one at byte 7"
                .to_owned()
                .into(),
            "timeout: request `GET /<users>`: no reply in time".to_owned().into(),
        ],
        status_classes: [0, 199_970, 0, 10, 0],
        latency_by_status: [("4xx".to_owned(), latency(50))].into(),
        connections_made: 10,
        fairness: Fairness { jain_index: 0.99, ..Fairness::default() },
        thread_rate: ThreadRate { mean: 9_997.0, stdev: 90.0, max: 10_300.0, within_stdev: 0.7 },
        thread_cpu_ns: vec![3_100_000_000, 4_100_000_000],
        by_name: vec![
            named("GET /", 120_000, Some(latency(80))),
            named("GET /<users>/{seq}", 79_950, Some(latency(120))),
        ],
        ..LoadReport::new("0.1.0".to_owned(), config, EngineChoice::Epoll)
    };
    let intervals = [18_000, 19_950, 20_010, 20_030, 0, 21_000];
    let intervals = (0..).zip(intervals).map(|(second, requests)| {
        interval(second, requests, (requests > 0).then_some(requests * 100))
    });
    let command = ["wirebench", "load", "--requests", "/home/me/api.jsonl", "-H", "Cookie: secret"];
    LoadResult {
        started: "2026-01-02T03:04:05Z".to_owned(),
        command: command.map(str::to_owned).to_vec(),
        labels: Labels { label: Some("v1.2".to_owned()), revision: Some("1a2b3c".to_owned()) },
        report,
        intervals: intervals.collect(),
    }
}

fn loaded(result: &LoadResult) -> Load<'_> {
    Load { result, machine: Some("AMD EPYC 7763, 2 CPUs"), gate: None }
}

/// The page with a mark in the place of the text in wrk's layout.
fn markdown(result: &LoadResult) -> String {
    let wanted = Wanted { detail: Detail::Everything, ..Wanted::default() };
    let (page, text) = (loaded(result).markdown(), load_text(&result.report, &wanted));
    assert!(page.contains(&text), "{page}");
    page.replace(&text, "THE TEXT\n")
}

#[test]
fn a_rate_that_changes_has_a_row_for_each_step() {
    let mut result = result();
    let report = &mut result.report;
    report.config.model = LoadModel::rate(RateCurve::steps([10_000, 30_000]));
    report.steps = RateStep::of(&report.config);
    (report.steps[1].requests_per_second, report.steps[1].errors) = (29_990.0, 40);
    report.steps[0].latency = Some(latency(100));
    let page = Format::Markdown.write(&Load { machine: None, ..loaded(&result) }, None).text;
    let (_, steps) = page.split_once("Steps of the rate").unwrap();
    expect_test::expect![[r#"
        | from second | offered/s | requests/s |     p50 |     p99 | errors |
        |-------------|-----------|------------|---------|---------|--------|
        |         0.0 |    10 000 |          0 | 2.54 ms | 9.85 ms |      0 |
        |         5.0 |    30 000 |     29 990 |       - |       - |     40 |"#]]
    .assert_eq(steps.split("\n\n").nth(1).unwrap());
}

#[test]
fn a_page_has_figures_pictures_errors_and_what_speaks_against_them() {
    let result = result();
    let page = loaded(&result).html();
    assert_golden_page("load.html", &page);
    assert!(!page.contains("<users>"), "names are text");
    assert_golden("load/result.md", &markdown(&result));
}

/// More names than lines that can be followed, a rate that changes, and two classes of statuses.
#[test]
fn a_page_of_steps_and_many_names_has_all_pictures() {
    let mut result = result();
    let report = &mut result.report;
    let first = report.by_name[0].clone();
    let named = |number: u64| {
        let (name, latency) = (format!("GET /{number}"), Some(latency(60 + 5 * number)));
        NamedRequests { name, latency, ..first.clone() }
    };
    report.by_name = (0..14).map(named).collect();
    report.config.model = LoadModel::rate(RateCurve::steps([10_000, 20_000, 30_000]));
    report.steps = RateStep::of(&report.config);
    for (scale, step) in (1..).zip(&mut report.steps) {
        step.latency = Some(latency(40 * scale));
    }
    for interval in &mut result.intervals {
        interval.status_classes = vec![0, interval.requests, 0, interval.errors, 0];
    }
    let page = loaded(&result).html();
    assert_golden_page("load-steps.html", &page);
    assert!(page.contains("latency by percentile, part 2 of 2"), "16 curves");
    assert!(page.contains("status class over time") && page.contains("over the offered rate"));
}

#[test]
fn a_load_of_several_hosts_has_a_row_for_each_and_a_failed_one_is_not_valid() {
    let mut result = result();
    result.intervals.truncate(2);
    result.report.by_name.clear();
    result.report.generators = two_hosts().to_vec();
    result.report.errors.timeout = 500_000;
    let whole = markdown(&self::result());
    assert_golden("load/hosts.md", &difference(&whole, &markdown(&result)));
}

#[test]
fn a_view_has_the_figures_of_the_whole_and_of_each_name() {
    let mut result = result();
    let cells = loaded(&result).view().cells;
    let latencies = ["mean", "p50", "p75", "p90", "p95", "p99", "p999", "max"];
    let latencies = latencies.map(|it| format!("latency_ns_{it}"));
    let text = str::to_owned;
    let named =
        [&["requests_per_second".to_owned()][..], &latencies, &["errors".to_owned()]].concat();
    let of_rate = ["achieved_share", "unsent_requests"].map(text);
    let names = [("", 19_995, 40), ("GET /", 12_000, 20), ("GET /<users>/{seq}", 7995, 20)];
    for (cell, (name, rate, errors)) in cells.iter().zip(names) {
        let found: Vec<_> = cell.figures.iter().map(|it| it.metric.field().to_owned()).collect();
        let of_rate = if name.is_empty() { &of_rate[..] } else { &[] };
        assert_eq!(found, [&named[..], of_rate].concat(), "{name}");
        assert_eq!(cell.id.request.as_deref().unwrap_or_default(), name);
        assert_eq!((cell.figures[0].value as u64, cell.errors), (rate, errors), "{name}");
        assert!(cell.figures.iter().all(|it| it.valid), "{name}");
    }
    assert_eq!(cells.len(), names.len());
    result.report.errors.timeout = 500_000;
    let written = Format::Bencher.write(&loaded(&result), None);
    assert!(written.skipped > 0, "{written:?}");
    assert!(written.remarks[0].contains("500030 of 699980 requests failed"), "{written:?}");
}

#[test]
fn forms_of_rows_name_requests() {
    let families = families(&Format::Openmetrics.write(&loaded(&result()), None).text);
    let whole = "server=\"http://127.0.0.1:8080/\",copy=\"0\",workload=\"load\",phase=\"cost\"";
    for (request, expected) in [("", "40"), (",request=\"GET /\"", "20")] {
        let errors = families["wirebench_errors"][&format!("{whole}{request}")];
        assert_eq!(errors.to_string(), expected);
    }
    assert_eq!(families.len(), 5, "requests/s, p50, p99, p999 and errors");
    let csv = Format::Csv.write(&loaded(&result()), None).text;
    assert!(csv.contains(",load,GET /<users>/{seq},cost,"), "{csv}");
}

#[test]
fn a_load_without_a_reply_has_a_page_and_no_figure() {
    let mut result = result();
    let config = result.report.config.clone();
    result.report = LoadReport::new("0.1.0".to_owned(), config, EngineChoice::Epoll);
    result.intervals.clear();
    let text = loaded(&result).markdown();
    assert!(
        text.starts_with(
            "# Load on http://127.0.0.1:8080/\n\n**0 requests/s, no error**; **NOT VALID**"
        ),
        "{text}"
    );
    assert!(!text.contains("## Latency") && !text.contains("## Over time"), "{text}");
}
