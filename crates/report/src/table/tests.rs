//! The tables of fixture journals: what is shown, in which order, and what is never hidden.

use super::{Metric, *};
use crate::{
    Details, Report as _,
    analysis::MetricFacts,
    fixtures::{
        COST, NOISE, add, alter, alter_last, assert_golden, assert_golden_cases,
        assert_golden_differences, cost, cost_pair, failed, fixed_rate, journal, journal_of,
        limited, measured, noisy, pair, rate, reason, run, silence, silent, verified,
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

/// The first workload and what follows it, without the usual heading and with the first words of each line that is not
/// in every legend.
fn body(text: &str) -> String {
    let body = &text[text.find("\n\nhello").unwrap() + 2..];
    let usual = "hello: hello, closed loop, 64 connections, 1s per run\n";
    let body = body.strip_prefix(usual).unwrap_or(body);
    let (body, legend) = body.split_once("\n\nlegend\n").unwrap_or((body.trim_end(), ""));
    let words = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let legend = legend.lines().skip(2).map(words).collect::<Vec<_>>().join(" | ");
    if legend.is_empty() { body.to_owned() + "\n" } else { format!("{body}\nlegend: {legend}\n") }
}

/// A journal of these runs in the first block.
fn first_block(runs: impl IntoIterator<Item = (&'static str, Outcome)>) -> Journal {
    let mut journal = journal();
    journal.runs.extend(runs.into_iter().map(|(variant, outcome)| run(0, variant, outcome)));
    journal
}

/// Six blocks of the baseline twice and of `go/net` with a change.
fn changed_pair(change: impl FnOnce(&mut Journal)) -> Journal {
    let mut journal = pair(1.0);
    change(&mut journal);
    journal
}

/// As the generator was at its limit in the runs of the baseline, and in those of the other row.
fn bounds(base: fn(Outcome) -> Outcome, other: fn(Outcome) -> Outcome) -> Journal {
    first_block([("c/epoll", base(rate(1000.0))), ("go/net", other(rate(1000.0)))])
}

fn is_first_of_baseline(run: &Run) -> bool {
    run.copy == 0 && run.variant.to_string() == "c/epoll"
}

/// A second instance of the baseline without a first one, as when a run is cut off in the first block, whose order is
/// shuffled.
fn without_first() -> Journal {
    let mut journal = pair(0.9);
    journal.runs.retain(|run| !is_first_of_baseline(run));
    journal
}

fn not_valid() -> Journal {
    let mut journal = pair(0.9);
    alter_last(&mut journal, |it| {
        it.reasons.push(ReasonKind::Neighbour.reason(Weight::Invalid, Some(0.3), ""));
        it.reasons.push(ReasonKind::Stderr.reason(Weight::Note, Some(7.0), ""));
    });
    alter(&mut journal, "go/net", |it| {
        it.reasons.push(ReasonKind::GeneratorBound.reason(Weight::Limit, Some(1.0), ""));
    });
    journal
}

fn warm_up(outcome: Outcome) -> Journal {
    let mut journal = journal();
    journal.start.warmup_blocks = 1;
    journal.runs.push(Run { counts: Counts::WarmUp, ..run(0, "c/epoll", outcome) });
    journal.runs.push(run(1, "c/epoll", rate(1000.0)));
    journal
}

fn idle() -> Journal {
    let (mut journal, name) = silent();
    add(&mut journal, &name, ("c/epoll", 0), noisy(100.0, 1), silence);
    add(&mut journal, &name, ("go/net", 0), noisy(4096.0, 5), silence);
    journal
}

fn two_blocks() -> Journal {
    let mut journal = journal();
    add(&mut journal, "hello", ("c/epoll", 0), [200e3, 100e3], rate);
    add(&mut journal, "hello", ("go/net", 0), [100e3, 95e3], rate);
    journal
}

/// By another generator, which reports a median alone.
fn of_wrk() -> Journal {
    let mut journal = first_block([("c/epoll", rate(1000.0))]);
    let generator = GeneratorVersion { name: Generator::Wrk, version: "4.1.0".into() };
    journal.start.generator = generator.clone();
    alter_last(&mut journal, |outcome| {
        outcome.load.latency = None;
        let latency = ToolLatency { latency_ns_p50: Some(123_000.0), ..ToolLatency::default() };
        let tool = ToolReport { generator, latency, cpu_ns: 1, output: String::new() };
        outcome.tool = Some(Box::new(tool));
    });
    journal
}

/// What is shown, by what its rows are compared unless by the metric of their phase, and the journal.
type Case = (&'static str, Option<Metric>, fn() -> Journal);

const BY_RATE: Option<Metric> = Some(Metric::Throughput);

const CASES: [Case; 28] = [
    ("two blocks have ranges", BY_RATE, two_blocks),
    ("no bound", BY_RATE, || bounds(|it| it, |it| it)),
    ("a bound of the baseline", BY_RATE, || bounds(limited, |it| it)),
    ("a bound of the other", BY_RATE, || bounds(|it| it, limited)),
    ("bounds of both", BY_RATE, || bounds(limited, limited)),
    ("a baseline without figures gives its place to the next", None, || {
        first_block([("c/epoll", failed("it ended")), ("go/net", rate(1000.0))])
    }),
    ("a second instance of the baseline, of which the first failed", None, || {
        let mut journal = pair(0.9);
        for run in journal.runs.iter_mut().filter(|run| is_first_of_baseline(run)) {
            run.outcome = failed("it ended");
        }
        journal
    }),
    ("a second instance of the baseline, of which the first did not run", None, without_first),
    ("copies that were asked for are copies", None, || {
        let mut journal = without_first();
        journal.start.copies = 2;
        journal
    }),
    ("a second instance without figures leaves the baseline unchecked", None, || {
        changed_pair(|it| {
            let second = it.runs.iter_mut().filter(|run| run.copy == 1);
            second.for_each(|run| run.outcome = failed("it ended"));
        })
    }),
    ("copies have numbers", BY_RATE, || {
        changed_pair(|it| add(it, "hello", ("go/net", 1), noisy(100e3, 5), rate))
    }),
    // CPU time is not a bound, so the limit has no sign there and must be reported in words.
    ("what is not valid is marked, and a limit is a note", None, not_valid),
    ("failures, flags and refusals are notes of their rows", None, || {
        let ended =
            Outcome::Failed { reason: "the server ended".into(), server_stderr: "boom\n".into() };
        let errors = measured(1000.0, 2, &["2 errors: late"]);
        let mut journal = first_block([("c/epoll", errors), ("own/server", ended)]);
        journal.verified.push(verified("go/net", &[("reply-once", "it sent more")], &[]));
        let (variant, reason) = ("go/net".parse().unwrap(), "no compiler".into());
        journal.unavailable.push(Unavailable { variant, reason, cause: Cause::Missing });
        journal
    }),
    ("a check that fails as declared is a note of the row that was measured", None, || {
        let mut journal = first_block([("go/net", rate(1000.0))]);
        let known = [("half-close", "by design (it closed at once)")];
        journal.verified.push(verified("go/net", &[], &known));
        journal
    }),
    ("missing blocks are reported", BY_RATE, || {
        changed_pair(|it| it.runs.retain(|run| run.copy == 0 || run.block > 0))
    }),
    ("outliers are reported by block, and together where the blocks are the same", BY_RATE, || {
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
        journal
    }),
    ("another metric is compared where it is asked for", Some(Metric::P99), || {
        changed_pair(|it| {
            alter(it, "go/net", |it| {
                it.load.latency.as_mut().unwrap().latency_ns_p99 = 3_000_000;
            });
        })
    }),
    ("few samples mark a figure and not the row", None, || {
        changed_pair(|it| alter_last(it, |it| it.load.latency.as_mut().unwrap().count = 999))
    }),
    ("a spoiled tail marks a figure and not the row", None, || {
        let late = reason(Weight::Tail, "sent late");
        changed_pair(|it| alter_last(it, |it| it.reasons.push(late)))
    }),
    ("warm-up blocks are in no figure", None, || {
        warm_up(measured(9000.0, 0, &["flag of a warm-up run"]))
    }),
    ("failures of warm-up blocks are reported", None, || warm_up(failed("it ended"))),
    ("the latencies of another generator are shown as far as it tells them", None, of_wrk),
    ("what an entry skips and missing entries of a suite are listed", None, || {
        let mut journal = journal();
        journal.start.variants[0].skips = vec!["does not parse".into(), "has no timeouts".into()];
        let reason = "there is no entry of this language here".to_owned();
        journal.start.left_out.push(LeftOut { what: "d/".into(), reason });
        journal
    }),
    (
        "a table of the cost tells its rate, who chose it and who cannot hold it",
        None,
        at_fixed_rate,
    ),
    ("a rate that was not found is reported", None, || {
        let mut journal = at_fixed_rate();
        (journal.rates, journal.runs) = (Vec::new(), Vec::new());
        journal
    }),
    ("a table of silence has memory and CPU time", None, idle),
    ("silence has no p99", Some(Metric::P99), idle),
    ("silence by CPU time", Some(Metric::Cpu), idle),
];

fn at_fixed_rate() -> Journal {
    let mut journal = cost_pair(1.1);
    journal.rates.push(fixed_rate("hello", 40_000, &[("own/server", "it reached 900 requests/s")]));
    journal
}

#[test]
fn tables_have_what_must_be_known_of_their_rows() {
    let shown = CASES
        .map(|(name, metric, journal)| (name, body(&report_by(&journal(), Style::Text, metric))));
    assert_golden_cases("details/tables.txt", shown);
}

#[test]
fn the_details_as_text_and_markdown() {
    for (name, journal) in [("run/details", pair(0.9)), ("details/not-valid", not_valid())] {
        assert_golden(&format!("{name}.txt"), &report_by(&journal, Style::Text, BY_RATE));
    }
    let markdown = [pair(0.9), not_valid()].map(|it| report_by(&it, Style::Markdown, BY_RATE));
    let cases = ["figures", "not valid"].into_iter().zip(markdown);
    assert_golden_differences("run/details.md", cases);
    let both = report(&bounds(limited, limited), Style::Text);
    let legend =
        "  bound by generator: the load generator was saturated, throughput is a lower bound\n";
    assert!(both.ends_with(legend), "{both}");
}

#[test]
fn the_headline_tells_how_it_ended_and_that_it_was_resumed() {
    let headline =
        |journal: &Journal| report(journal, Style::Text).lines().next().unwrap().to_owned();
    let mut journal = pair(1.0);
    let mut shown = Vec::new();
    for reason in [EndReason::Complete, EndReason::Precise, EndReason::Budget] {
        journal.end = Some(End { ended: String::new(), reason });
        shown.push(headline(&journal));
    }
    journal.start.goal.precision = Some(0.015);
    journal.end = Some(End { ended: String::new(), reason: EndReason::Precise });
    let differences = vec!["the machine was started anew".to_owned()];
    let at = "2026-01-02T04:00:00Z".to_owned();
    journal.resumed.push(Resumed { at, command: Vec::new(), differences });
    shown.push(headline(&journal));
    let list = "\n\nresumed\n  2026-01-02T04:00:00Z: the machine was started anew\n\n";
    assert!(report(&journal, Style::Text).contains(list));
    journal.start.blocks = 10;
    shown.extend([&journal, &warm_up(rate(1.0)), &of_wrk()].map(headline));
    // What two blocks cannot show follows the headline.
    let two = report(&two_blocks(), Style::Text);
    shown.extend(two.split("\n\n").take(2).map(str::to_owned));
    assert_golden("details/headlines.txt", &(shown.join("\n") + "\n"));
}

#[test]
fn markdown_has_the_columns_that_fit() {
    let markdown = report(&at_fixed_rate(), Style::Markdown);
    assert!(markdown.contains("| CPU us/request |"), "{markdown}");
    let is_narrow = |line: &str| !line.starts_with('|') || line.chars().count() <= 100;
    assert!(markdown.lines().all(is_narrow), "{markdown}");
    assert!(!markdown.contains("switches/request"), "not enough room: {markdown}");
    assert!(report(&idle(), Style::Markdown).contains("| memory at rest |"));
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
