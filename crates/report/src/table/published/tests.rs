//! Synthetic journals of a suite that repeats a document.

use super::*;
use crate::{
    fixtures::{journal, measured, row, run},
    table::report,
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

fn repeated(figures: &str) -> Journal {
    let suite = Suite::parse("example", SUITE).unwrap();
    let mut journal = journal();
    let figures = PublishedFigures::parse(figures, &suite).unwrap();
    journal.start.published = Some(Box::new(Published {
        document: suite.document.clone().unwrap(),
        blocks: suite.blocks,
        warmup_blocks: suite.warmup_blocks,
        workloads: suite.workloads.clone(),
        figures,
    }));
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
    format!(
        "[[table]]\nsection = \"A\"\nworkloads = [\"hello\"]\n\
         columns = [\"requests_per_second\"]\n[table.rows]\n{rows}\n"
    )
}

#[test]
fn the_header_says_all_that_is_not_as_published() {
    let text = report(&repeated(&rates("\"c/epoll\" = [1]")), Style::Text);
    for part in [
        "suite example at machine scale, 3 blocks after 1 warm-up block",
        "repeats `Example`; published machine: a machine; published load generator: their tool; this run: \
         load by wirebench; 3 blocks instead of 30; 1 warm-up block instead of 3",
        "server and generator on separate CPUs instead of shared ones",
        "1 worker instead of 12; 64 connections instead of 768; 1 generator thread instead of 12",
        "2000 requests per connection and run instead of 20000",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_load_as_published_is_said_to_be_so_but_for_its_generator() {
    let mut journal = repeated(&rates("\"c/epoll\" = [1]"));
    let published = journal.start.published.clone().unwrap();
    journal.start.blocks = published.blocks;
    journal.start.warmup_blocks = published.warmup_blocks;
    journal.start.workloads = published.workloads;
    journal.start.placement.pinned = false;
    let text = report(&journal, Style::Text);
    assert!(text.contains("; this run: load by wirebench; otherwise identical\n"), "{text}");
}

#[test]
fn what_options_take_away_or_add_is_a_difference_too() {
    let mut journal = repeated(&rates("\"c/epoll\" = [1]"));
    journal.start.workloads[0].warmup = Duration::from_millis(200);
    let published = journal.start.published.as_mut().unwrap();
    published.document.placement = DocumentPlacement::Apart;
    journal.start.placement.disjoint = false;
    let mut other = published.workloads[0].clone();
    other.name = "other".to_owned();
    published.workloads.push(other);
    let text = report(&journal, Style::Text);
    for part in [
        "; server and generator on shared CPUs instead of separate ones; without other; ",
        "; 200ms of warm-up instead of 0",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_published_ratio_is_next_to_the_one_measured_for_the_same_pair() {
    let figures = rates("\"c/epoll\" = [2000]\n\"go/net\" = [1000]");
    for style in [Style::Text, Style::Markdown] {
        let text = report(&repeated(&figures), style);
        let (_, beside) = text.split_once("published in `Example`, relative to c/epoll:").unwrap();
        let line = row(beside, "go/net");
        let words: Vec<&str> = line.split([' ', '|']).filter(|word| !word.is_empty()).collect();
        assert_eq!(words, ["go/net", "requests/s", "1", "000", "0.50", "0.80"], "{text}");
    }
}

#[test]
fn without_a_published_pair_no_published_ratio_is_shown() {
    for rows in ["\"c/epoll\" = [2000]", "\"go/net\" = [2000]"] {
        let text = report(&repeated(&rates(rows)), Style::Text);
        assert!(!text.contains("published in `Example`"), "{text}");
    }
}

#[test]
fn a_table_of_latencies_is_compared_by_latencies() {
    let figures = "[[table]]\nsection = \"A\"\nworkloads = [\"hello\"]\n\
                   columns = [\"latency_ns_p50\", \"latency_ns_p99\"]\n[table.rows]\n\
                   \"c/epoll\" = [10_000, 20_000]\n\"go/net\" = [15_000, 50_000]\n";
    let text = report(&repeated(figures), Style::Text);
    let (_, beside) = text.split_once("published in `Example`").unwrap();
    assert!(beside.contains("15.0 us") && beside.contains("1.50") && beside.contains("1.00"));
    assert!(beside.contains("p99") && beside.contains("2.50"), "{text}");
}

#[test]
fn the_smallest_scale_shows_no_published_ratios_and_says_that_figures_mean_nothing() {
    let mut journal = repeated(&rates("\"c/epoll\" = [2000]\n\"go/net\" = [1000]"));
    journal.start.scale = Scale::Smoke;
    let text = report(&journal, Style::Text);
    assert!(!text.contains("published in `Example`"), "{text}");
    assert!(text.contains("figures are meaningless"), "{text}");
}
