//! The tables of fixture journals: what is shown, in which order, and what is never hidden.

use super::*;
use crate::fixtures::{
    add, assert_golden, assert_golden_cases, changed, failed, journal, limited, measured, noisy,
    pair, rate, reason, run,
};
use wirebench_schema::{
    journal::{
        Cause, Counts, Described, End, EndReason, Generator, GeneratorVersion, Journal, LeftOut,
        Outcome, Resumed, Run, ToolLatency, ToolReport, Unavailable, Verified, Weight,
    },
    scenario::Scenario,
};

mod phases;
mod width;

fn report_by(journal: &Journal, style: Style, metric: Option<Metric>) -> String {
    super::report(&Analysis::of(journal), None, style, metric)
}

pub(crate) fn report(journal: &Journal, style: Style) -> String {
    report_by(journal, style, None)
}

/// The report with ratios of requests/s, in which the rows of the fixtures differ.
fn by_rate(journal: &Journal, style: Style) -> String {
    report_by(journal, style, Some(Metric::Throughput))
}

#[test]
fn six_blocks_have_ranks_intervals_and_verdicts_and_the_best_row_comes_first() {
    let text = by_rate(&pair(0.9), Style::Text);
    assert_golden("details/six-blocks-have-ranks-intervals-and-verdicts-and-the.txt", &text);
}

#[test]
fn the_details_as_text_and_markdown() {
    assert_golden("run/details.txt", &by_rate(&pair(0.9), Style::Text));
    assert_golden("run/details.md", &by_rate(&pair(0.9), Style::Markdown));
}

#[test]
fn a_table_fits_a_terminal() {
    let text = by_rate(&pair(0.9), Style::Text);
    let (_, table) = text.split_once("rank").unwrap();
    for line in table.lines().take(4) {
        assert!(line.chars().count() <= 120, "{} {line}", line.chars().count());
    }
}

#[test]
fn two_blocks_have_ranges_and_a_note_on_what_they_cannot_show() {
    let mut journal = journal();
    for (block, (base, other)) in (0..).zip([(200.0, 100.0), (100.0, 95.0)]) {
        journal.runs.push(run(block, "c/epoll", rate(base * 1000.0)));
        journal.runs.push(run(block, "go/net", rate(other * 1000.0)));
    }
    let text = by_rate(&journal, Style::Text);
    assert_golden("details/two-blocks-have-ranges-and-a-note-on-what.txt", &text);
}

#[test]
fn a_ratio_says_when_the_generator_was_at_its_limit() {
    let table_of = |base: Outcome, other: Outcome| {
        let mut journal = journal();
        journal.runs.push(run(0, "c/epoll", base));
        journal.runs.push(run(0, "go/net", other));
        by_rate(&journal, Style::Text)
    };
    let server = || rate(1000.0);
    let cases = [
        ("none", table_of(server(), server())),
        ("of the baseline", table_of(limited(server()), server())),
        ("of the other", table_of(server(), limited(server()))),
        ("of both", table_of(limited(server()), limited(server()))),
    ];
    assert_golden_cases("details/bounds.txt", cases);
}

#[test]
fn a_baseline_without_figures_gives_its_place_to_the_next() {
    let mut journal = journal();
    journal.runs.push(run(0, "c/epoll", failed("it ended")));
    journal.runs.push(run(0, "go/net", rate(1000.0)));
    let text = report(&journal, Style::Text);
    assert_golden("details/a-baseline-without-figures-gives-its-place-to-the.txt", &text);
}

#[test]
fn a_second_run_without_a_first_one_is_no_copy_and_says_what_it_is() {
    let mut journal = pair(0.9);
    for run in journal.runs.iter_mut().filter(|it| it.copy == 0) {
        if run.variant.to_string() == "c/epoll" {
            run.outcome = failed("it ended");
        }
    }
    let failed = report(&journal, Style::Text);
    // As when it is cut off in the first block, whose order is shuffled.
    journal.runs.retain(|run| run.copy == 1 || run.variant.to_string() != "c/epoll");
    let absent = report(&journal, Style::Text);
    // Copies that were asked for are copies.
    journal.start.copies = 2;
    let copies = report(&journal, Style::Text);
    let cases = [("failed", failed), ("not run", absent), ("copies", copies)];
    assert_golden_cases("details/second-instance-alone.txt", cases);
}

#[test]
fn what_is_not_valid_is_marked_in_text_and_markdown() {
    let mut journal = pair(0.9);
    let last = journal.runs.last_mut().unwrap();
    last.outcome = changed(last.outcome.clone(), |it| {
        it.reasons.push(reason(Weight::Invalid, "others used 30 % of the server's CPUs"));
        it.reasons.push(reason(Weight::Note, "it wrote 7 bytes"));
    });
    for run in journal.runs.iter_mut().filter(|run| run.variant.to_string() == "go/net") {
        run.outcome = changed(run.outcome.clone(), |it| {
            it.reasons.push(reason(Weight::Limit, "the generator was busy"));
        });
    }
    assert_golden("details/not-valid.txt", &by_rate(&journal, Style::Text));
    assert_golden("details/not-valid.md", &by_rate(&journal, Style::Markdown));
    // CPU time is not a bound, so the limit has no sign there and must be reported in words.
    let text = report_by(&journal, Style::Text, Some(Metric::Cpu));
    assert_golden("details/what-is-not-valid-is-marked-in-text-and.txt", &text);
}

#[test]
fn failures_flags_and_refusals_are_notes_of_their_rows() {
    let mut journal = journal();
    journal.runs.push(run(0, "c/epoll", measured(1000.0, 2, &["2 errors: late"])));
    let ended =
        Outcome::Failed { reason: "the server ended".into(), server_stderr: "boom\n".into() };
    journal.runs.push(run(0, "own/server", ended));
    journal.verified.push(Verified {
        variant: "go/net".parse().unwrap(),
        scenario: Scenario::Hello,
        passed: 3,
        failed: vec![("reply-once".into(), "it sent more".into())],
        deviates: Vec::new(),
        skipped: Vec::new(),
    });
    let go = "go/net".parse().unwrap();
    let reason = "no compiler".into();
    journal.unavailable.push(Unavailable { variant: go, reason, cause: Cause::Missing });
    let text = report(&journal, Style::Text);
    assert_golden("details/failures-flags-and-refusals-are-notes-of-their-rows.txt", &text);
}

#[test]
fn a_check_that_fails_as_declared_is_a_note_of_the_row_that_was_measured() {
    let mut journal = journal();
    journal.runs.push(run(0, "go/net", rate(1000.0)));
    journal.verified.push(Verified {
        variant: "go/net".parse().unwrap(),
        scenario: Scenario::Hello,
        passed: 3,
        failed: Vec::new(),
        deviates: vec![("half-close".into(), "by design (it closed at once)".into())],
        skipped: Vec::new(),
    });
    let text = report(&journal, Style::Text);
    assert_golden("details/a-check-that-fails-as-declared-is-a-note.txt", &text);
}

#[test]
fn missing_blocks_are_reported() {
    let mut journal = pair(1.0);
    journal.runs.retain(|run| run.copy == 0 || run.block > 0);
    let text = by_rate(&journal, Style::Text);
    assert_golden("details/missing-blocks-are-reported.txt", &text);
}

#[test]
fn outliers_are_reported_by_block_and_grouped_where_the_blocks_are_the_same() {
    let mut journal = pair(1.0);
    journal.start.blocks = 12;
    journal.runs.clear();
    // A run of each of 12 blocks, in which `strange` blocks are so much faster.
    let mut add_row = |variant, strange: &[usize], by: f64| {
        let value = |block: usize| {
            let noise = crate::fixtures::NOISE[block % 6];
            100e3 * noise * if strange.contains(&(block + 1)) { by } else { 1.0 }
        };
        add(&mut journal, "hello", variant, (0..12).map(value), rate);
    };
    add_row(("c/epoll", 0), &[], 1.0);
    add_row(("c/epoll", 1), &[], 1.0);
    add_row(("go/net", 0), &[1, 10], 1.5);
    add_row(("go/net", 1), &[10], 1.5);
    add_row(("own/server", 0), &[1, 10], 1.2);
    let text = by_rate(&journal, Style::Text);
    assert_golden("details/outliers-are-reported-by-block-and-grouped-where-the.txt", &text);
}

#[test]
fn another_metric_is_compared_where_it_is_asked_for() {
    let mut journal = pair(1.0);
    for run in journal.runs.iter_mut().filter(|run| run.variant.to_string() == "go/net") {
        run.outcome = changed(run.outcome.clone(), |it| {
            it.load.latency.as_mut().unwrap().latency_ns_p99 = 3_000_000;
        });
    }
    let text = report_by(&journal, Style::Text, Some(Metric::LatencyP99));
    assert_golden("details/another-metric-is-compared-where-it-is-asked-for.txt", &text);
    assert_eq!(text.matches(" p99 ").count(), 1 + 1, "its value stands once, beside the ratio");
}

#[test]
fn few_samples_beyond_a_percentile_are_marked() {
    let mut journal = pair(1.0);
    let last = journal.runs.last_mut().unwrap();
    last.outcome =
        changed(last.outcome.clone(), |it| it.load.latency.as_mut().unwrap().count = 999);
    let text = report(&journal, Style::Text);
    assert_golden("details/few-samples-beyond-a-percentile-are-marked.txt", &text);
}

#[test]
fn a_spoiled_tail_marks_its_figures_and_not_the_row() {
    let mut journal = pair(1.0);
    let last = journal.runs.last_mut().unwrap();
    last.outcome =
        changed(last.outcome.clone(), |it| it.reasons.push(reason(Weight::Tail, "sent late")));
    let text = report(&journal, Style::Text);
    assert_golden("details/a-spoiled-tail-marks-its-figures-and-not-the.txt", &text);
}

#[test]
fn markdown_has_a_table_for_each_workload() {
    let mut journal = journal();
    journal.runs.push(run(0, "c/epoll", rate(1000.0)));
    let text = report(&journal, Style::Markdown);
    assert_golden("details/markdown-has-a-table-for-each-workload.txt", &text);
}

#[test]
fn warm_up_blocks_are_in_no_figure_but_their_failures_are_reported() {
    let mut journal = journal();
    journal.start.warmup_blocks = 1;
    let warm = |block, outcome| Run { counts: Counts::WarmUp, ..run(block, "c/epoll", outcome) };
    journal.runs.push(warm(0, measured(9000.0, 0, &["flag of a warm-up run"])));
    journal.runs.push(run(1, "c/epoll", rate(1000.0)));
    let text = report(&journal, Style::Text);
    assert_golden("details/warm-up-blocks-are-in-no-figure-but-their.txt", &text);
    journal.runs.push(warm(0, failed("it ended")));
    let text = report(&journal, Style::Text);
    assert_golden("details/warm-up-blocks-are-in-no-figure-but-their-2.txt", &text);
}

#[test]
fn the_headline_tells_how_it_ended_and_that_it_was_resumed() {
    let mut journal = pair(1.0);
    let mut headline = |reason: EndReason| {
        journal.end = Some(End { ended: String::new(), reason });
        report(&journal, Style::Text).lines().next().unwrap().to_owned()
    };
    let ends = [EndReason::Complete, EndReason::Precise, EndReason::Budget];
    let shown = ends.map(|reason| (format!("{reason:?}"), headline(reason)));
    assert_golden_cases("details/headlines.txt", shown);
    journal.start.goal.precision = Some(0.015);
    journal.end = Some(End { ended: String::new(), reason: EndReason::Precise });
    let differences = vec!["the machine was started anew".to_owned()];
    let at = "2026-01-02T04:00:00Z".to_owned();
    journal.resumed.push(Resumed { at, command: Vec::new(), differences });
    let text = report(&journal, Style::Text);
    assert_golden("details/the-headline-tells-how-it-ended-and-that-it.txt", &text);
    journal.start.blocks = 10;
    assert_golden("details/missing-of-ten.txt", &report(&journal, Style::Text));
}

#[test]
fn the_latencies_of_another_generator_are_shown_as_far_as_it_tells_them() {
    let mut journal = journal();
    let generator = GeneratorVersion { name: Generator::Wrk, version: "4.1.0".into() };
    journal.start.generator = generator.clone();
    let outcome = changed(rate(1000.0), |outcome| {
        outcome.load.latency = None;
        let latency = ToolLatency { latency_ns_p50: Some(123_000.0), ..ToolLatency::default() };
        let tool = ToolReport { generator, latency, cpu_ns: 1, output: String::new() };
        outcome.tool = Some(Box::new(tool));
    });
    journal.runs.push(run(0, "c/epoll", outcome));
    let text = report(&journal, Style::Text);
    assert_golden("details/the-latencies-of-another-generator-are-shown-as-far.txt", &text);
}

#[test]
fn what_an_entry_skips_and_missing_entries_of_a_suite_are_listed() {
    let mut journal = journal();
    journal.start.variants[0].skips = vec!["does not parse".into(), "has no timeouts".into()];
    let reason = "there is no entry of this language here".to_owned();
    journal.start.left_out.push(LeftOut { what: "d/".into(), reason });
    let text = report(&journal, Style::Text);
    assert_golden("details/what-an-entry-skips-and-missing-entries-of-a.txt", &text);
}

#[test]
fn a_second_instance_without_figures_leaves_the_baseline_unchecked() {
    let mut journal = pair(1.0);
    for run in journal.runs.iter_mut().filter(|run| run.copy == 1) {
        run.outcome = failed("it ended");
    }
    let text = report(&journal, Style::Text);
    assert_golden(
        "details/a-second-instance-without-figures-leaves-the-baseline-unchecked.txt",
        &text,
    );
}

#[test]
fn copies_have_numbers() {
    let mut journal = pair(1.0);
    add(&mut journal, "hello", ("go/net", 1), noisy(100e3, 5), rate);
    let text = by_rate(&journal, Style::Text);
    assert_golden("details/copies-have-numbers.txt", &text);
}
