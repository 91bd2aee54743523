//! The tables of fixture journals: what is shown, in which order, and what is never hidden.

use super::{Metric, *};
use crate::{
    Details, Report as _,
    analysis::MetricFacts,
    fixtures::{
        COST, NOISE, add, alter, alter_last, assert_golden, assert_golden_cases, cost, cost_pair,
        failed, fixed_rate, journal, journal_of, limited, measured, noisy, pair, rate, reason, run,
        silence, silent, verified,
    },
    screen::Facts,
};
use wirebench_schema::{
    journal::{
        Cause, Counts, Described, End, EndReason, Generator, GeneratorVersion, Journal, LeftOut,
        Outcome, ReasonKind, Resumed, Run, ToolLatency, ToolReport, Unavailable, Weight,
    },
    suite::Phase,
};

mod width;

fn report_by(journal: &Journal, style: Style, metric: Option<Metric>) -> String {
    let details = Details { analysis: &Analysis::of(journal), metric, facts: Facts::default() };
    match style {
        Style::Text => details.details(),
        Style::Markdown => details.markdown(),
    }
}

pub(crate) fn report(journal: &Journal, style: Style) -> String {
    report_by(journal, style, None)
}

/// The report with ratios of requests/s, in which the rows of the fixtures differ.
fn by_rate(journal: &Journal, style: Style) -> String {
    report_by(journal, style, Some(Metric::Throughput))
}

/// Compares the text of a journal with a golden file.
#[track_caller]
fn check(name: &str, journal: &Journal) {
    assert_golden(&format!("details/{name}.txt"), &report(journal, Style::Text));
}

/// The same by requests/s.
#[track_caller]
fn check_rate(name: &str, journal: &Journal) {
    assert_golden(&format!("details/{name}.txt"), &by_rate(journal, Style::Text));
}

/// A journal of these runs in the first block.
fn first_block(runs: impl IntoIterator<Item = (&'static str, Outcome)>) -> Journal {
    let mut journal = journal();
    journal.runs.extend(runs.into_iter().map(|(variant, outcome)| run(0, variant, outcome)));
    journal
}

#[test]
fn the_details_as_text_and_markdown() {
    assert_golden("run/details.txt", &by_rate(&pair(0.9), Style::Text));
    assert_golden("run/details.md", &by_rate(&pair(0.9), Style::Markdown));
    let one = report(&first_block([("c/epoll", rate(1000.0))]), Style::Markdown);
    assert_golden("details/markdown-has-a-table-for-each-workload.txt", &one);
}

#[test]
fn two_blocks_have_ranges_and_a_note_on_what_they_cannot_show() {
    let mut journal = journal();
    add(&mut journal, "hello", ("c/epoll", 0), [200e3, 100e3], rate);
    add(&mut journal, "hello", ("go/net", 0), [100e3, 95e3], rate);
    check_rate("two-blocks-have-ranges-and-a-note-on-what", &journal);
}

#[test]
fn a_ratio_says_when_the_generator_was_at_its_limit() {
    let table_of = |base: fn(Outcome) -> Outcome, other: fn(Outcome) -> Outcome| {
        let runs = [("c/epoll", base(rate(1000.0))), ("go/net", other(rate(1000.0)))];
        by_rate(&first_block(runs), Style::Text)
    };
    let free: fn(Outcome) -> Outcome = |outcome| outcome;
    let cases = [
        ("none", table_of(free, free)),
        ("of the baseline", table_of(limited, free)),
        ("of the other", table_of(free, limited)),
        ("of both", table_of(limited, limited)),
    ];
    assert_golden_cases("details/bounds.txt", cases);
}

#[test]
fn a_baseline_without_figures_gives_its_place_to_the_next() {
    let journal = first_block([("c/epoll", failed("it ended")), ("go/net", rate(1000.0))]);
    check("a-baseline-without-figures-gives-its-place-to-the", &journal);
}

#[test]
fn a_second_run_without_a_first_one_is_no_copy_and_says_what_it_is() {
    let mut journal = pair(0.9);
    let is_first = |run: &Run| run.copy == 0 && run.variant.to_string() == "c/epoll";
    for run in journal.runs.iter_mut().filter(|run| is_first(run)) {
        run.outcome = failed("it ended");
    }
    let failed = report(&journal, Style::Text);
    // As when it is cut off in the first block, whose order is shuffled.
    journal.runs.retain(|run| !is_first(run));
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
    alter_last(&mut journal, |it| {
        it.reasons.push(ReasonKind::Neighbour.reason(Weight::Invalid, Some(0.3), ""));
        it.reasons.push(ReasonKind::Stderr.reason(Weight::Note, Some(7.0), ""));
    });
    alter(&mut journal, "go/net", |it| {
        it.reasons.push(ReasonKind::GeneratorBound.reason(Weight::Limit, Some(1.0), ""));
    });
    check_rate("not-valid", &journal);
    assert_golden("details/not-valid.md", &by_rate(&journal, Style::Markdown));
    // CPU time is not a bound, so the limit has no sign there and must be reported in words.
    check("what-is-not-valid-is-marked-in-text-and", &journal);
}

#[test]
fn failures_flags_and_refusals_are_notes_of_their_rows() {
    let ended =
        Outcome::Failed { reason: "the server ended".into(), server_stderr: "boom\n".into() };
    let errors = measured(1000.0, 2, &["2 errors: late"]);
    let mut journal = first_block([("c/epoll", errors), ("own/server", ended)]);
    journal.verified.push(verified("go/net", &[("reply-once", "it sent more")], &[]));
    let (variant, reason) = ("go/net".parse().unwrap(), "no compiler".into());
    journal.unavailable.push(Unavailable { variant, reason, cause: Cause::Missing });
    check("failures-flags-and-refusals-are-notes-of-their-rows", &journal);
}

#[test]
fn a_check_that_fails_as_declared_is_a_note_of_the_row_that_was_measured() {
    let mut journal = first_block([("go/net", rate(1000.0))]);
    journal.verified.push(verified(
        "go/net",
        &[],
        &[("half-close", "by design (it closed at once)")],
    ));
    check("a-check-that-fails-as-declared-is-a-note", &journal);
}

#[test]
fn missing_blocks_are_reported() {
    let mut journal = pair(1.0);
    journal.runs.retain(|run| run.copy == 0 || run.block > 0);
    check_rate("missing-blocks-are-reported", &journal);
}

#[test]
fn outliers_are_reported_by_block_and_grouped_where_the_blocks_are_the_same() {
    let mut journal = journal();
    journal.start.blocks = 12;
    // A run of each of 12 blocks, in which `strange` blocks are so much faster.
    let mut add_row = |variant, strange: &[usize], by: f64| {
        let value = |block: usize| {
            100e3 * NOISE[block % 6] * if strange.contains(&(block + 1)) { by } else { 1.0 }
        };
        add(&mut journal, "hello", variant, (0..12).map(value), rate);
    };
    add_row(("c/epoll", 0), &[], 1.0);
    add_row(("c/epoll", 1), &[], 1.0);
    add_row(("go/net", 0), &[1, 10], 1.5);
    add_row(("go/net", 1), &[10], 1.5);
    add_row(("own/server", 0), &[1, 10], 1.2);
    check_rate("outliers-are-reported-by-block-and-grouped-where-the", &journal);
}

#[test]
fn another_metric_is_compared_where_it_is_asked_for() {
    let mut journal = pair(1.0);
    alter(&mut journal, "go/net", |it| {
        it.load.latency.as_mut().unwrap().latency_ns_p99 = 3_000_000;
    });
    let text = report_by(&journal, Style::Text, Some(Metric::P99));
    assert_golden("details/another-metric-is-compared-where-it-is-asked-for.txt", &text);
}

#[test]
fn few_samples_and_a_spoiled_tail_mark_figures_and_not_the_row() {
    let mut journal = pair(1.0);
    alter_last(&mut journal, |it| it.load.latency.as_mut().unwrap().count = 999);
    check("few-samples-beyond-a-percentile-are-marked", &journal);
    let mut journal = pair(1.0);
    alter_last(&mut journal, |it| it.reasons.push(reason(Weight::Tail, "sent late")));
    check("a-spoiled-tail-marks-its-figures-and-not-the", &journal);
}

#[test]
fn warm_up_blocks_are_in_no_figure_but_their_failures_are_reported() {
    let mut journal = journal();
    journal.start.warmup_blocks = 1;
    let warm = |outcome| Run { counts: Counts::WarmUp, ..run(0, "c/epoll", outcome) };
    journal.runs.push(warm(measured(9000.0, 0, &["flag of a warm-up run"])));
    journal.runs.push(run(1, "c/epoll", rate(1000.0)));
    check("warm-up-blocks-are-in-no-figure-but-their", &journal);
    journal.runs.push(warm(failed("it ended")));
    check("warm-up-blocks-are-in-no-figure-but-their-2", &journal);
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
    check("the-headline-tells-how-it-ended-and-that-it", &journal);
    journal.start.blocks = 10;
    check("missing-of-ten", &journal);
}

#[test]
fn the_latencies_of_another_generator_are_shown_as_far_as_it_tells_them() {
    let mut journal = first_block([("c/epoll", rate(1000.0))]);
    let generator = GeneratorVersion { name: Generator::Wrk, version: "4.1.0".into() };
    journal.start.generator = generator.clone();
    alter_last(&mut journal, |outcome| {
        outcome.load.latency = None;
        let latency = ToolLatency { latency_ns_p50: Some(123_000.0), ..ToolLatency::default() };
        let generator = generator.clone();
        let tool = ToolReport { generator, latency, cpu_ns: 1, output: String::new() };
        outcome.tool = Some(Box::new(tool));
    });
    check("the-latencies-of-another-generator-are-shown-as-far", &journal);
}

#[test]
fn what_an_entry_skips_and_missing_entries_of_a_suite_are_listed() {
    let mut journal = journal();
    journal.start.variants[0].skips = vec!["does not parse".into(), "has no timeouts".into()];
    let reason = "there is no entry of this language here".to_owned();
    journal.start.left_out.push(LeftOut { what: "d/".into(), reason });
    check("what-an-entry-skips-and-missing-entries-of-a", &journal);
}

#[test]
fn a_second_instance_without_figures_leaves_the_baseline_unchecked() {
    let mut journal = pair(1.0);
    for run in journal.runs.iter_mut().filter(|run| run.copy == 1) {
        run.outcome = failed("it ended");
    }
    check("a-second-instance-without-figures-leaves-the-baseline-unchecked", &journal);
}

#[test]
fn copies_have_numbers() {
    let mut journal = pair(1.0);
    add(&mut journal, "hello", ("go/net", 1), noisy(100e3, 5), rate);
    check_rate("copies-have-numbers", &journal);
}

#[test]
fn a_table_of_the_cost_tells_its_rate_who_chose_it_and_who_cannot_hold_it() {
    let mut journal = cost_pair(1.1);
    journal.rates.push(fixed_rate("hello", 40_000, &[("own/server", "it reached 900 requests/s")]));
    check("a-table-of-the-cost-tells-its-rate-who", &journal);
    let markdown = report(&journal, Style::Markdown);
    assert!(markdown.contains("| CPU us/request |"), "{markdown}");
    let is_narrow = |line: &str| !line.starts_with('|') || line.chars().count() <= 100;
    assert!(markdown.lines().all(is_narrow), "{markdown}");
    assert!(!markdown.contains("switches/request"), "not enough room: {markdown}");
    (journal.rates, journal.runs) = (Vec::new(), Vec::new());
    check("a-rate-that-was-not-found-is-reported", &journal);
}

#[test]
fn a_table_of_silence_has_memory_and_cpu_time() {
    let (mut journal, name) = silent();
    add(&mut journal, &name, ("c/epoll", 0), noisy(100.0, 1), silence);
    add(&mut journal, &name, ("go/net", 0), noisy(4096.0, 5), silence);
    let name = "a-table-of-silence-has-memory-and-cpu-time";
    for (place, metric) in [("", None), ("-2", Some(Metric::P99)), ("-3", Some(Metric::Cpu))] {
        let text = report_by(&journal, Style::Text, metric);
        assert_golden(&format!("details/{name}{place}.txt"), &text);
    }
    assert!(report(&journal, Style::Markdown).contains("| memory at rest |"));
}

#[test]
fn no_figure_of_a_load_stands_below_a_name_of_silence() {
    for metric in Metric::of_phase(Phase::Idle) {
        for (journal, phase) in [(cost_pair(1.1), "cost"), (pair(0.9), "saturate")] {
            let text = report_by(&journal, Style::Text, Some(*metric));
            let absent = format!(
                "the phase {phase} has no {metric}, but throughput, cpu, p50, p99, p999, switches, \
                 memory, ready: compared by server CPU us/request\n"
            );
            assert!(text.contains(&absent), "{text}");
            assert_eq!(text.replace(&absent, ""), report(&journal, Style::Text));
        }
    }
}
