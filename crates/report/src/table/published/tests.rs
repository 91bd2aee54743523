//! Synthetic journals of a suite that repeats a document.

use super::*;

mod documents;
mod states;

use crate::{
    fixtures::{assert_golden, assert_golden_differences, journal, measured, run},
    table::{Style, tests::report},
};
use std::time::Duration;
use wirebench_schema::suite::{PublishedFigures, Scale, Suite};

const SUITE: &str = r#"
description = "An example."
blocks = 30
warmup_blocks = 3
[published]
document = "Example"
machine = "a machine"
cpus = 12
placement = "shared"
generator = "their tool"
[[workload]]
name = "hello"
scenario = "hello"
workers = 12
threads = 12
connections = 768
count_per_connection = 20000
[scale.machine]
blocks = 3
warmup_blocks = 1
count_per_connection = 2000
"#;

const STATES: &str = r#"[rows]
"c/epoll" = { name = "raw epoll", state = "same-design", clause = "written anew" }
"go/net" = { name = "Go", state = "same-program", published = "Go 1", here = "Go 1" }
"#;

/// A journal of a suite with these tables, in which each row of them has its state of [`STATES`].
fn repeated(tables: &str) -> Journal {
    let rows: Vec<&str> = STATES
        .lines()
        .filter(|line| line.starts_with('[') || tables.contains(line.split(" =").next().unwrap()))
        .collect();
    repeated_with(tables, &rows.join("\n"))
}

fn published(suite: &Suite, figures: &str) -> Published {
    Published {
        document: suite.document.clone().unwrap(),
        blocks: suite.blocks,
        warmup_blocks: suite.warmup_blocks,
        workloads: suite.workloads.clone(),
        figures: PublishedFigures::parse(figures, suite).unwrap(),
    }
}

fn repeated_with(tables: &str, rows: &str) -> Journal {
    let suite = Suite::parse("example", SUITE).unwrap();
    let mut journal = journal();
    let figures = format!("{rows}\n{tables}");
    journal.start.published = Some(Box::new(published(&suite, &figures)));
    let here = suite.at_scale(Scale::Machine, 1).unwrap();
    journal.start.blocks = here.blocks;
    journal.start.warmup_blocks = here.warmup_blocks;
    journal.start.workloads = here.workloads;
    for block in 0..3 {
        journal.runs.push(run(block, "c/epoll", measured(1000.0, 0, &[])));
        journal.runs.push(run(block, "go/net", measured(800.0, 0, &[])));
    }
    journal
}

fn rates(rows: &str) -> String {
    table("workloads = [\"hello\"]\ncolumns = [\"requests_per_second\"]", rows)
}

fn table(keys: &str, rows: &str) -> String {
    format!("[[table]]\nsection = \"A\"\n{keys}\n[table.rows]\n{rows}\n")
}

/// Compares the reports of journals with a golden file: the first one whole, and how the others differ from it.
#[track_caller]
fn check<const N: usize>(file: &str, cases: [(&str, Journal); N]) {
    let shown = cases.map(|(name, journal)| (name, report(&journal, Style::Text)));
    assert_golden_differences(&format!("published/{file}.txt"), shown);
}

/// Of whose workload the document has other requests, with these headers here.
fn with_requests(headers: &[(&str, &str)]) -> Journal {
    let mut journal = repeated(&rates("\"c/epoll\" = [1]"));
    let published = &mut journal.start.published.as_mut().unwrap().workloads[0];
    published.headers = vec![("User-Agent".into(), "x".into()), ("Accept".into(), "y".into())];
    published.on_closed = ClosedPolicy::Retry;
    published.timeout = Duration::from_secs(10);
    let own = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    journal.start.workloads[0].headers = own.collect();
    journal
}

#[test]
fn the_header_says_all_that_is_not_as_published() {
    let of_one = || repeated(&rates("\"c/epoll\" = [1]"));
    let mut as_published = of_one();
    let start = &mut as_published.start;
    let published = start.published.clone().unwrap();
    start.blocks = published.blocks;
    start.warmup_blocks = published.warmup_blocks;
    start.workloads = published.workloads;
    start.placement.pinned = false;
    let mut changed = of_one();
    changed.start.workloads[0].warmup = Duration::from_millis(200);
    changed.start.placement.disjoint = false;
    let published = changed.start.published.as_mut().unwrap();
    published.document.placement = DocumentPlacement::Apart;
    let mut other = published.workloads[0].clone();
    other.name = "other".to_owned();
    published.workloads.push(other);
    let mut versions = of_one();
    versions.start.variants[1].versions.insert("go".into(), "1.25".into());
    let cases = [
        ("another scale", of_one()),
        ("as published", as_published),
        ("changed by options", changed),
        ("versions", versions),
        ("requests without the headers", with_requests(&[])),
        ("requests with another value", with_requests(&[("User-Agent", "x"), ("Accept", "z")])),
    ];
    check("header", cases);
}

#[test]
fn tables_have_the_columns_of_the_document_with_both_figures_and_ratios() {
    let both = repeated(&rates("\"c/epoll\" = [2000]\n\"go/net\" = [1000]"));
    let latencies = table(
        "workloads = [\"hello\"]\n\
         columns = [\"latency_ns_mean\", \"latency_ns_p50\", \"latency_ns_p9999\"]",
        "\"c/epoll\" = [9_000, 10_000, 20_000]\n\"go/net\" = [14_000, 15_000, 50_000]",
    );
    let percentages = table(
        "workloads = [\"hello\"]\nrelative_to = \"c/epoll\"\n\
         columns = [\"requests_per_second\", \"requests_per_second_percent\"]",
        "\"c/epoll\" = [2000, 100]\n\"go/net\" = [1000, 50]",
    );
    let of_several = table(
        "workloads = [\"hello\", \"other\"]\nrelative_to = \"c/epoll\"\n\
         columns = [\"requests_per_second_ratio\"]",
        "\"go/net\" = [1.6, 1.7]",
    );
    let mut several = repeated(&rates("\"c/epoll\" = [1]"));
    let other = SUITE.replace("[scale.machine]", &format!("{OTHER}[scale.machine]"));
    let suite = Suite::parse("example", &other).unwrap();
    let figures = PublishedFigures::parse(&format!("{STATES}\n{of_several}"), &suite);
    several.start.published.as_mut().unwrap().figures = figures.unwrap();
    let mut smoke = both.clone();
    smoke.start.scale = Scale::Smoke;
    let cases = [
        ("both ratios", both),
        ("without a pair", repeated(&rates("\"go/net\" = [2000]"))),
        ("latencies", repeated(&latencies)),
        ("percentages", repeated(&percentages)),
        ("workloads", several),
        // The smallest scale shows no published figures and says that figures mean nothing.
        ("smoke", smoke),
    ];
    check("columns", cases);
}

const OTHER: &str = "[[workload]]\nname = \"other\"\nscenario = \"hello\"\nconnections = 1\n\
                     duration = \"1s\"\n";
