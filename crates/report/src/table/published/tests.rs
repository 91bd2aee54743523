//! Synthetic journals of a suite that repeats a document.

use super::*;

mod documents;
mod states;

use crate::{
    fixtures::{assert_golden, assert_golden_cases, journal, measured, run},
    table::tests::{Style, report},
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

const STATES: &str = "[rows]\n\"c/epoll\" = { state = \"same-design\", clause = \"written anew\" }\n\
                      \"go/net\" = { state = \"same-program\", published = \"Go 1\", here = \"Go 1\" }\n";

/// A journal of a suite with these tables, in which each row of them has its state of [`STATES`].
fn repeated(tables: &str) -> Journal {
    let rows: Vec<&str> = STATES
        .lines()
        .filter(|line| line.starts_with('[') || tables.contains(line.split(" =").next().unwrap()))
        .collect();
    repeated_with(tables, &rows.join("\n"))
}

fn repeated_with(tables: &str, rows: &str) -> Journal {
    let suite = Suite::parse("example", SUITE).unwrap();
    let mut journal = journal();
    let figures = PublishedFigures::parse(&format!("{rows}\n{tables}"), &suite).unwrap();
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
    assert_golden("published/differences.txt", &text);
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
    assert_golden("published/as-published.txt", &text);
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
    assert_golden("published/changed-by-options.txt", &text);
}

#[test]
fn requests_that_differ_are_a_difference() {
    let text = |headers: &[(&str, &str)]| {
        let mut journal = repeated(&rates("\"c/epoll\" = [1]"));
        let published = &mut journal.start.published.as_mut().unwrap().workloads[0];
        published.headers = vec![("User-Agent".into(), "x".into()), ("Accept".into(), "y".into())];
        published.on_closed = ClosedPolicy::Retry;
        published.timeout = Duration::from_secs(10);
        let own = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        journal.start.workloads[0].headers = own.collect();
        report(&journal, Style::Text)
    };
    let cases = [&[][..], &[("User-Agent", "x"), ("Accept", "z")]];
    let cases = cases.map(|headers| (format!("{headers:?}"), text(headers)));
    assert_golden_cases("published/requests.txt", cases);
}

#[test]
fn a_published_figure_is_next_to_the_one_measured_with_both_ratios() {
    let figures = rates("\"c/epoll\" = [2000]\n\"go/net\" = [1000]");
    let shown = report(&repeated(&figures), Style::Text);
    assert_golden("published/both-ratios.txt", &shown);
    let shown = report(&repeated(&figures), Style::Markdown);
    assert_golden("published/both-ratios.md", &shown);
}

#[test]
fn without_a_published_pair_no_published_ratio_is_shown() {
    let text = report(&repeated(&rates("\"go/net\" = [2000]")), Style::Text);
    assert_golden("published/without-pair.txt", &text);
}

#[test]
fn a_table_of_latencies_has_the_columns_of_the_document() {
    let figures = "[[table]]\nsection = \"A\"\nworkloads = [\"hello\"]\n\
                   columns = [\"latency_ns_mean\", \"latency_ns_p50\", \"latency_ns_p9999\"]\n\
                   [table.rows]\n\
                   \"c/epoll\" = [9_000, 10_000, 20_000]\n\"go/net\" = [14_000, 15_000, 50_000]\n";
    let text = report(&repeated(figures), Style::Text);
    assert_golden("published/latencies.txt", &text);
}

#[test]
fn percentages_refer_to_the_row_of_the_document() {
    let figures = "[[table]]\nsection = \"A\"\nworkloads = [\"hello\"]\n\
                   relative_to = \"c/epoll\"\n\
                   columns = [\"requests_per_second\", \"requests_per_second_percent\"]\n\
                   [table.rows]\n\"c/epoll\" = [2000, 100]\n\"go/net\" = [1000, 50]\n";
    let text = report(&repeated(figures), Style::Text);
    assert_golden("published/percentages.txt", &text);
}

#[test]
fn a_table_of_several_workloads_has_a_line_for_each() {
    let figures = "[[table]]\nsection = \"A\"\nworkloads = [\"hello\", \"other\"]\n\
                   relative_to = \"c/epoll\"\ncolumns = [\"requests_per_second_ratio\"]\n\
                   [table.rows]\n\"go/net\" = [1.6]\n";
    let mut journal = repeated(&rates("\"c/epoll\" = [1]"));
    let two = SUITE.replace("[scale.machine]", &format!("{OTHER}[scale.machine]"));
    let suite = Suite::parse("example", &two).unwrap();
    let published = journal.start.published.as_mut().unwrap();
    published.figures = PublishedFigures::parse(&format!("{STATES}\n{figures}"), &suite).unwrap();
    let text = report(&journal, Style::Text);
    assert_golden("published/workloads.txt", &text);
}

const OTHER: &str = "[[workload]]\nname = \"other\"\nscenario = \"hello\"\nconnections = 1\n\
                     duration = \"1s\"\n";

#[test]
fn the_versions_of_the_entries_are_listed() {
    let mut journal = repeated(&rates("\"c/epoll\" = [1]"));
    journal.start.variants[1].versions.insert("go".into(), "1.25".into());
    let text = report(&journal, Style::Text);
    assert_golden("published/versions.txt", &text);
}

#[test]
fn one_sentence_counts_the_published_differences_that_hold() {
    let text = |ratio: f64| {
        let figures = rates(&format!("\"c/epoll\" = [1000]\n\"go/net\" = [{}]", 1000.0 * ratio));
        report(&repeated(&figures), Style::Text)
    };
    let cases = [0.5, 2.0, 1.01].map(|ratio| (format!("published ratio {ratio}"), text(ratio)));
    assert_golden_cases("published/conclusion.txt", cases);
}

#[test]
fn the_smallest_scale_shows_no_published_figures_and_says_that_figures_mean_nothing() {
    let mut journal = repeated(&rates("\"c/epoll\" = [2000]\n\"go/net\" = [1000]"));
    journal.start.scale = Scale::Smoke;
    let text = report(&journal, Style::Text);
    assert_golden("published/smoke.txt", &text);
}
