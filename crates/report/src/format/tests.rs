//! Every form of every kind of result against golden files, and what trackers must not see.

use super::*;
use crate::{
    Details,
    analysis::Analysis,
    exposition::tests::families,
    fixtures::{
        add_reason, alter, assert_golden, assert_golden_cases, journal, pair, reason, verified,
    },
    screen::Facts,
    view::tests::cell_of,
};
use serde_json::Value;
use wirebench_schema::journal::{Bound, Cause, Journal, Run, Unavailable, Weight};

mod dashboard;

fn write(format: Format, journal: &Journal, metric: Option<Metric>) -> Written {
    let (analysis, facts) = (&Analysis::of(journal), Facts::default());
    format.write(&Details { analysis, metric: None, facts }, metric)
}

fn written(journal: &Journal, format: Format) -> String {
    write(format, journal, None).text
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_forms_of_a_run() {
    let journal = pair(0.9);
    for (format, metric, name) in [
        (Format::Csv, None, "figures.csv"),
        (Format::Bencher, Some(Metric::Throughput), "bencher.json"),
        (Format::GithubActionBenchmark, Some(Metric::Cpu), "github-action-benchmark.json"),
    ] {
        assert_golden(&format!("run/{name}"), &write(format, &journal, metric).text);
    }
}

#[test]
fn trackers_get_neither_the_second_baseline_nor_figures_that_are_not_valid() {
    let mut journal = pair(0.9);
    let all = parsed(&written(&journal, Format::Bencher));
    assert_eq!(
        all.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["hello c/epoll", "hello go/net"]
    );
    let ratio = &all["hello go/net"]["requests_per_second_ratio"];
    assert!(ratio["lower_value"].as_f64() < ratio["value"].as_f64(), "{ratio}");
    assert!(ratio["upper_value"].as_f64() > ratio["value"].as_f64(), "{ratio}");
    let mut bounded = journal.clone();
    alter(&mut bounded, "go/net", |it| it.load.latency.as_mut().unwrap().censored = 5000);
    let Written { text, skipped, remarks } = write(Format::Bencher, &bounded, None);
    assert!(skipped == 0 && remarks[0].contains("_p99 is only a lower bound"), "{remarks:?}");
    let measures = &parsed(&text)["hello go/net"];
    assert!(measures["latency_ns_p99"].is_null() && measures["latency_ns_p50"].is_object());
    alter(&mut journal, "go/net", |it| it.reasons.push(reason(Weight::Tail, "disturbed")));
    let measures = &parsed(&written(&journal, Format::Bencher))["hello go/net"];
    assert!(measures["latency_ns_p99"].is_null() && measures["latency_ns_p50"].is_object());
    alter(&mut journal, "go/net", |it| it.reasons.push(reason(Weight::Invalid, "disturbed")));
    assert!(parsed(&written(&journal, Format::Bencher))["hello go/net"].is_null());
    assert_eq!(write(Format::Bencher, &journal, None).skipped, 7, "one for each metric");
    assert!(written(&journal, Format::Csv).contains(",go/net,0,entrant,library,false,"));
}

#[test]
fn a_server_that_failed_its_checks_is_valid_in_no_form_and_named_where_it_has_no_row() {
    let mut journal = pair(0.9);
    journal.runs.retain(|run| run.variant.to_string() != "go/net");
    journal.verified.push(verified("go/net", &[("reply-once", "it sent two")], &[]));
    let why = "not measured, fails `reply-once`: it sent two";
    let csv = written(&journal, Format::Csv);
    let row = csv.lines().find(|line| line.contains(",go/net,")).unwrap();
    assert!(row.contains(",entrant,library,false,0,0,0,0,0,"), "{row}");
    assert!(row.ends_with(&format!(",false,\"{why}\",\"{why}\"{}", ",".repeat(12))), "{row}");
    let json = parsed(&written(&journal, Format::Json));
    assert_eq!(cell_of(&json, "go/net", 0)["valid"], false);
    for format in [Format::Bencher, Format::GithubActionBenchmark] {
        let remarks = write(format, &journal, None).remarks;
        assert_eq!(remarks, [format!("hello go/net is not valid: {why}")]);
    }
}

#[test]
fn a_server_without_a_row_is_named_where_a_form_has_only_rows() {
    let mut journal = pair(0.9);
    let (variant, cause) = ("d/vibe".parse().unwrap(), Cause::Missing);
    journal.unavailable.push(Unavailable { variant, reason: "no compiler".to_owned(), cause });
    for format in [Format::Csv, Format::Openmetrics, Format::Bencher] {
        let remarks = write(format, &journal, None).remarks;
        assert_eq!(remarks, ["d/vibe was not measured: no compiler"], "{format:?}");
    }
}

#[test]
fn trackers_name_the_servers_whose_figures_are_bounds() {
    let mut journal = pair(0.9);
    alter(&mut journal, "go/net", |it| it.bound = Bound::Generator);
    let written = write(Format::GithubActionBenchmark, &journal, None);
    assert_eq!(written.remarks, [format!("hello go/net: {}", crate::view::BOUND)]);
    let points: Vec<Value> = serde_json::from_str(&written.text).unwrap();
    let says = |name: &str| {
        let point = points.iter().find(|it| it["name"] == name).unwrap();
        point["extra"].as_str().unwrap().contains(crate::view::BOUND)
    };
    assert!(says("hello go/net latency_ns_p50") && !says("hello c/epoll latency_ns_p50"));
}

#[test]
fn trackers_get_no_ratio_to_a_baseline_that_is_not_valid() {
    let mut journal = pair(0.9);
    let first = |run: &Run| run.variant.to_string() == "c/epoll" && run.copy == 0 && run.block < 4;
    add_reason(&mut journal, first, &reason(Weight::Invalid, "x"));
    let all = parsed(&written(&journal, Format::Bencher));
    let measures = all["hello go/net"].as_object().unwrap();
    assert_eq!((all.as_object().unwrap().len(), measures.len()), (1, 7), "{all:#}");
}

#[test]
fn all_points_of_a_file_have_one_direction() {
    let journal = pair(0.9);
    let names = |metric: Option<Metric>| -> Vec<String> {
        let text = write(Format::GithubActionBenchmark, &journal, metric).text;
        let points: Vec<Value> = serde_json::from_str(&text).unwrap();
        points.iter().map(|point| point["name"].as_str().unwrap().to_owned()).collect()
    };
    let less = names(None);
    assert!(less.contains(&"hello go/net latency_ns_p50".to_owned()), "{less:?}");
    assert!(!less.iter().any(|name| name.contains("requests_per_second")), "{less:?}");
    let more = names(Some(Metric::Throughput));
    assert_eq!(
        more,
        [
            "hello c/epoll requests_per_second",
            "hello go/net requests_per_second",
            "hello go/net requests_per_second_ratio",
        ]
    );
}

#[test]
fn openmetrics_has_families_in_base_units_and_escapes_names() {
    let journal = pair(0.9);
    let text = written(&journal, Format::Openmetrics);
    let one = write(Format::Openmetrics, &journal, Some(Metric::Throughput)).text;
    let heads = text.lines().filter(|line| line.starts_with("# UNIT"));
    let heads = heads.collect::<Vec<_>>().join("\n");
    assert_golden_cases("run/openmetrics.txt", [("throughput", one), ("families", heads)]);
    let families_of_run = families(&text);
    let of = |family: &str, server: &str, estimate: &str| {
        let labels = format!(
            "server=\"{server}\",copy=\"0\",workload=\"hello\",phase=\"saturate\",estimate=\"{estimate}\""
        );
        families_of_run[family][&labels]
    };
    let flat = parsed(&written(&journal, Format::Bencher));
    let p50 = flat["hello go/net"]["latency_ns_p50"]["value"].as_f64().unwrap();
    let shown = of("wirebench_latency_p50_seconds", "go/net", "value");
    assert!((shown * 1e9 - p50).abs() < 1e-3, "{shown}");
    let ratio = |estimate| of("wirebench_throughput_over_reference_ratio", "go/net", estimate);
    assert!(ratio("low") < ratio("value") && ratio("value") < ratio("high"));
    assert!(!families_of_run.contains_key("wirebench_errors"), "there is none");
    let mut failing = pair(0.9);
    alter(&mut failing, "go/net", |it| it.load.errors.timeout = 3);
    let errors = &families(&written(&failing, Format::Openmetrics))["wirebench_errors"];
    assert!(errors.len() == 1 && errors.values().all(|it| *it >= 3.0), "{errors:?}");
    assert_eq!(families(&written(&self::journal(), Format::Openmetrics)).len(), 0);
}
