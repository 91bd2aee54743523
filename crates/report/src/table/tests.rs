//! The tables of made-up journals: what is shown, in which order, and what is never hidden.

use super::*;
use std::collections::BTreeMap;
use wirebench_schema::{
    entry::Class,
    journal::{
        Bound, Cost, Counts, Described, GeneratorVersion, Goal, JOURNAL_FORMAT, Journal, LeftOut,
        Measurement, Outcome, Placement, ReasonKind, Run, Start, ToolLatency, ToolReport,
        Unavailable, Verified, Weight,
    },
    load::{EngineChoice, ErrorCounts, LatencySummary, LoadConfig, LoadReport},
    scenario::Scenario,
    suite::{Scale, Suite},
};

const SUITE: &str = r#"
description = "An example."
blocks = 3
[[workload]]
name = "hello"
scenario = "hello"
connections = 64
duration = "1s"
"#;

pub(crate) fn journal() -> Journal {
    let suite = Suite::parse("example", SUITE).unwrap();
    let described = |name: &str, class| Described {
        variant: name.parse().unwrap(),
        title: name.to_owned(),
        class,
        model: None,
        mechanism: None,
        sharing: None,
        skips: Vec::new(),
        versions: BTreeMap::new(),
        fingerprint: None,
    };
    Journal::new(Start {
        format: JOURNAL_FORMAT,
        started: "2026-01-02T03:04:05Z".into(),
        command: vec!["wirebench".into()],
        suite: "example".into(),
        baselines: vec!["c/epoll".parse().unwrap(), "go/net".parse().unwrap()],
        seed: 7,
        folder: "/".into(),
        copies: 1,
        baseline_copies: 1,
        goal: Goal::default(),
        blocks: 3,
        warmup_blocks: 0,
        scale: Scale::Machine,
        published: None,
        generator: GeneratorVersion::default(),
        left_out: Vec::new(),
        variants: vec![
            described("c/epoll", Some(Class::Raw)),
            described("go/net", Some(Class::Library)),
            described("own/server", None),
        ],
        workloads: suite.workloads,
        placement: Placement {
            server_cpus: vec![0],
            generator_cpus: vec![1],
            pinned: true,
            disjoint: true,
        },
    })
}

fn load(rate: f64, errors: u64) -> LoadReport {
    let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
    LoadReport {
        window_ns: 1_000_000_000,
        requests: rate as u64,
        requests_per_second: rate,
        latency: Some(LatencySummary {
            count: 1,
            censored: 0,
            latency_ns_mean: 1.0,
            latency_ns_stdev: 0.0,
            within_stdev: 1.0,
            latency_ns_min: 1,
            latency_ns_p50: 50_000,
            latency_ns_p75: 60_000,
            latency_ns_p90: 70_000,
            latency_ns_p95: 70_000,
            latency_ns_p99: 1_500_000,
            latency_ns_p999: 2_000_000,
            latency_ns_max: 3_000_000,
            histogram: String::new(),
        }),
        errors: ErrorCounts { timeout: errors, ..ErrorCounts::default() },
        ..LoadReport::new("0".into(), config, EngineChoice::Epoll)
    }
}

pub(crate) fn measured(rate: f64, errors: u64, flags: &[&str]) -> Outcome {
    Outcome::Measured(Box::new(Measurement {
        load: load(rate, errors),
        tool: None,
        cost: Cost {
            cpu_ns: 1,
            sampled_ns: 1,
            cpu_ns_per_request: Some(4250.0),
            cpu_share: 0.99,
            busiest_thread_share: 0.5,
            generator_cpu_share: 0.5,
            memory_peak_bytes: 3 << 20,
            processes: 1,
            threads: 1,
            context_switches_voluntary: 0,
            context_switches_involuntary: 0,
        },
        bound: Bound::Server,
        warm_up: None,
        reasons: flags
            .iter()
            .map(|&flag| ReasonKind::Errors.reason(Weight::Invalid, None, flag))
            .collect(),
    }))
}

pub(crate) fn run(block: u32, variant: &str, outcome: Outcome) -> Run {
    Run {
        block,
        counts: Counts::Yes,
        position: 0,
        copy: 0,
        variant: variant.parse().unwrap(),
        workload: "hello".into(),
        started: String::new(),
        workers: 1,
        server_command: Vec::new(),
        generator_command: Vec::new(),
        outcome,
    }
}

pub(crate) fn row<'a>(text: &'a str, name: &str) -> &'a str {
    let line = text.lines().find(|line| line.trim_start_matches(['|', ' ']).starts_with(name));
    line.unwrap_or_else(|| panic!("no row {name} in\n{text}"))
}

#[test]
fn ratios_are_medians_over_the_blocks_and_the_fastest_row_comes_first() {
    let mut journal = journal();
    for (block, (base, other)) in (0..).zip([(100.0, 90.0), (200.0, 100.0), (100.0, 95.0)]) {
        journal.runs.push(run(block, "c/epoll", measured(base * 1000.0, 0, &[])));
        journal.runs.push(run(block, "go/net", measured(other * 1000.0, 0, &[])));
    }
    let text = report(&journal, Style::Text);
    let line = row(&text, "go/net");
    assert!(line.contains("95 000") && line.contains("0.90 (0.50..0.95)"), "{line}");
    for part in ["library", "50.0 us", "1.50 ms", "4.25", "3.00 MiB", "server"] {
        assert!(line.contains(part), "{part} in {line}");
    }
    assert!(row(&text, "c/epoll (baseline)").contains("1.00 (1.00..1.00)"));
    assert!(text.find("c/epoll (baseline)").unwrap() < text.find("go/net").unwrap());
    assert!(text.contains("3 blocks cannot show that a small difference is real"));
}

#[test]
fn a_ratio_says_when_the_generator_was_at_its_limit() {
    let limited = |outcome: Outcome| match outcome {
        Outcome::Measured(m) => {
            Outcome::Measured(Box::new(Measurement { bound: Bound::Generator, ..*m }))
        }
        failed => failed,
    };
    let ratio_of = |base: Outcome, other: Outcome| {
        let mut journal = journal();
        journal.runs.push(run(0, "c/epoll", base));
        journal.runs.push(run(0, "go/net", other));
        row(&report(&journal, Style::Text), "go/net").to_owned()
    };
    let server = || measured(1000.0, 0, &[]);
    assert!(ratio_of(server(), server()).contains(" 1.00 (1.00..1.00)"));
    assert!(ratio_of(limited(server()), server()).contains(" <=1.00"));
    assert!(ratio_of(server(), limited(server())).contains(" >=1.00"));
    assert!(ratio_of(limited(server()), limited(server())).contains(" ~1.00"));
    let mut journal = journal();
    journal.runs.push(run(0, "c/epoll", limited(server())));
    assert!(row(&report(&journal, Style::Text), "c/epoll").contains(" 1.00 (1.00..1.00)"));
}

#[test]
fn a_baseline_without_figures_gives_its_place_to_the_next() {
    let mut journal = journal();
    journal.runs.push(run(0, "go/net", measured(1000.0, 0, &[])));
    let text = report(&journal, Style::Text);
    assert!(row(&text, "go/net (baseline)").contains("1.00 (1.00..1.00)"), "{text}");
}

#[test]
fn what_an_entry_leaves_out_is_said() {
    let mut journal = journal();
    journal.start.variants[0].skips = vec!["does not parse".into(), "has no timeouts".into()];
    let text = report(&journal, Style::Text);
    assert!(text.contains("  c/epoll: does not parse; has no timeouts"), "{text}");
}

#[test]
fn failures_flags_and_refusals_are_notes_of_their_rows() {
    let mut journal = journal();
    journal.runs.push(run(0, "c/epoll", measured(1000.0, 2, &["2 errors: late"])));
    let failed =
        Outcome::Failed { reason: "the server ended".into(), server_stderr: "boom\n".into() };
    journal.runs.push(run(0, "own/server", failed));
    journal.verified.push(Verified {
        variant: "go/net".parse().unwrap(),
        scenario: Scenario::Hello,
        passed: 3,
        failed: vec![("reply-once".into(), "it sent more".into())],
        deviates: Vec::new(),
        skipped: Vec::new(),
    });
    let go = "go/net".parse().unwrap();
    journal.unavailable.push(Unavailable { variant: go, reason: "no compiler".into() });
    let text = report(&journal, Style::Text);
    assert!(row(&text, "c/epoll").contains("[1]"), "{text}");
    assert!(text.contains("[1] 2 errors: late"), "{text}");
    assert!(text.contains("not measured, fails `reply-once`: it sent more"), "{text}");
    assert!(text.contains("failed: the server ended (boom)"), "{text}");
    assert!(row(&text, "own/server").contains("own"), "{text}");
    assert!(text.contains("  go/net: no compiler"), "{text}");
    assert!(text.contains("cut off"), "{text}");
}

#[test]
fn a_check_that_fails_as_declared_is_a_note_of_the_row_that_was_measured() {
    let mut journal = journal();
    journal.runs.push(run(0, "go/net", measured(1000.0, 0, &[])));
    journal.verified.push(Verified {
        variant: "go/net".parse().unwrap(),
        scenario: Scenario::Hello,
        passed: 3,
        failed: Vec::new(),
        deviates: vec![("half-close".into(), "by design (it closed at once)".into())],
        skipped: Vec::new(),
    });
    let text = report(&journal, Style::Text);
    assert!(row(&text, "go/net").contains("[1]"), "{text}");
    let note = "[1] known to fail `half-close`: by design (it closed at once)";
    assert!(text.contains(note), "{text}");
}

#[test]
fn markdown_has_a_table_for_each_workload() {
    let mut journal = journal();
    journal.runs.push(run(0, "c/epoll", measured(1000.0, 0, &[])));
    let text = report(&journal, Style::Markdown);
    assert!(text.starts_with("# wirebench example\n"), "{text}");
    assert!(text.contains("## hello: hello, closed loop, 64 connections, 1s a run"), "{text}");
    assert!(
        text.contains("| entry ") && row(&text, "c/epoll (baseline)").starts_with('|'),
        "{text}"
    );
}

#[test]
fn warm_up_blocks_are_in_no_figure_but_their_failures_are_told() {
    let mut journal = journal();
    journal.start.warmup_blocks = 1;
    let warm = |block, outcome| Run { counts: Counts::WarmUp, ..run(block, "c/epoll", outcome) };
    journal.runs.push(warm(0, measured(9000.0, 0, &["flag of a warm-up run"])));
    journal.runs.push(run(1, "c/epoll", measured(1000.0, 0, &[])));
    let text = report(&journal, Style::Text);
    assert!(row(&text, "c/epoll").contains(" 1 000 "), "{text}");
    assert!(text.contains("3 blocks after 1 warm-up block"), "{text}");
    assert!(!text.contains("flag of a warm-up run"), "{text}");
    let failed = Outcome::Failed { reason: "it ended".into(), server_stderr: String::new() };
    journal.runs.push(warm(0, failed));
    let text = report(&journal, Style::Text);
    assert!(text.contains("in a warm-up block: failed: it ended"), "{text}");
}

#[test]
fn the_latencies_of_another_generator_are_shown_as_far_as_it_tells_them() {
    let mut journal = journal();
    let generator = GeneratorVersion { name: Generator::Wrk, version: "4.1.0".into() };
    journal.start.generator = generator.clone();
    let Outcome::Measured(mut outcome) = measured(1000.0, 0, &[]) else { unreachable!() };
    outcome.load.latency = None;
    let latency = ToolLatency { latency_ns_p50: Some(123_000.0), ..ToolLatency::default() };
    let tool = ToolReport { generator, latency, cpu_ns: 1, output: String::new() };
    outcome.tool = Some(Box::new(tool));
    journal.runs.push(run(0, "c/epoll", Outcome::Measured(outcome)));
    let text = report(&journal, Style::Text);
    assert!(text.contains(", load by wrk 4.1.0"), "{text}");
    let line = row(&text, "c/epoll");
    assert!(line.contains("123 us") && line.contains(" - "), "{line}");
}

#[test]
fn what_a_suite_names_in_vain_is_listed() {
    let mut journal = journal();
    let reason = "there is no entry of this language here".to_owned();
    journal.start.left_out.push(LeftOut { what: "d/".into(), reason });
    let text = report(&journal, Style::Text);
    assert!(text.contains("  d/: there is no entry of this language here"), "{text}");
}
