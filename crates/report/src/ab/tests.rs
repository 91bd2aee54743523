//! Comparisons of two servers in synthetic journals: the sentence of every kind of outcome, and what
//! is never hidden.

use super::*;
use crate::{
    Report as _,
    analysis::Claim,
    filter::meant,
    fixtures::{
        add, add_reason, alter, alter_runs, assert_golden, assert_golden_cases, assert_golden_page,
        cost, difference_in_words, failed, fixed_rate, journal_of, limited, rate, reason, verified,
        with_reason,
    },
    format::Format,
    gates::GateVerdict,
    view::tests::{cell_of, figure_of},
};
use expect_test::expect;
use std::time::Duration;
use wirebench_judge::standing::Standing;
use wirebench_schema::journal::{Bound, End, EndReason, Goal, Outcome, ReasonKind, Run, Weight};

mod looks;
mod page;
mod verdicts;

const SUITE_TEXT: &str = r#"
description = "Made by wirebench ab."
blocks = 6
[[workload]]
name = "hello"
scenario = "hello"
phases = ["PHASE"]
connections = 64
duration = "1s"
"#;

/// The noise of fourteen cohorts, about 0.3 %.
const NOISE: [f64; 14] = [
    0.997, 1.002, 1.004, 0.999, 1.003, 0.996, 1.001, 0.998, 1.0, 1.002, 0.999, 1.003, 0.997, 1.001,
];
/// The instances of both sides, each with the order of its noise.
const INSTANCES: [(&str, u32, usize); 4] =
    [("ab/A", 0, 1), ("ab/A", 1, 3), ("ab/B", 0, 5), ("ab/B", 1, 9)];

/// A journal of two sides without a run.
pub(crate) fn two(phase: &str) -> Journal {
    let mut journal = journal_of(&SUITE_TEXT.replace("PHASE", phase));
    let start = &mut journal.start;
    start.suite = SUITE.to_owned();
    start.procedure = wirebench_schema::journal::Procedure::Short;
    start.variants.truncate(2);
    for (described, name) in start.variants.iter_mut().zip(["A", "B"]) {
        described.variant = format!("ab/{name}").parse().unwrap();
        described.title = format!("`./server-{name} {{port}}`");
        described.fingerprint = Some(name.repeat(16));
    }
    start.baselines = vec!["ab/A".parse().unwrap()];
    (start.copies, start.baseline_copies) = (2, 1);
    start.goal = Goal { budget: Some(Duration::from_secs(40)), ..Goal::default() };
    ended(&mut journal, EndReason::Budget);
    if phase == "cost" {
        journal.rates.push(fixed_rate("hello", 40_000, &[]));
    }
    journal
}

fn ended(journal: &mut Journal, reason: EndReason) {
    journal.end = Some(End { ended: String::new(), reason });
}

/// Adds runs of both instances of A at about `a` and of B at about `b`; `loudness` is of the noise.
fn runs(
    journal: &mut Journal,
    cohorts: usize,
    (a, b): (f64, f64),
    loudness: f64,
    outcome: fn(f64) -> Outcome,
) {
    for (name, copy, turn) in INSTANCES {
        let middle = if name == "ab/A" { a } else { b };
        let noise = |cohort: usize| 1.0 + (NOISE[(cohort * turn + turn) % 14] - 1.0) * loudness;
        let values = (0..cohorts).map(|cohort| middle * noise(cohort));
        add(journal, "hello", (name, copy), values, outcome);
    }
}

/// A cost phase of fourteen cohorts, in which B uses `ratio` times as much CPU time.
pub(crate) fn costs(ratio: f64, loudness: f64) -> Journal {
    let mut journal = two("cost");
    runs(&mut journal, 14, (10_000.0, 10_000.0 * ratio), loudness, cost);
    journal
}

/// A journal with one run of either side in each block, each with a process of its own.
fn older(blocks: usize, ratio: f64) -> Journal {
    let mut journal = costs(1.0, 1.0);
    journal.start.procedure = wirebench_schema::journal::Procedure::Whole;
    journal.start.copies = 1;
    journal.runs.clear();
    let values = |middle: f64, turn: usize| {
        (0..blocks).map(move |block| middle * NOISE[(block * turn + turn) % 14])
    };
    add(&mut journal, "hello", ("ab/A", 0), values(10_000.0, 1), cost);
    add(&mut journal, "hello", ("ab/B", 0), values(10_000.0 * ratio, 5), cost);
    journal
}

fn of<'a>(journal: &'a Journal, conditions: &[&str]) -> Ab<'a> {
    by(journal, None, conditions)
}

fn by<'a>(journal: &'a Journal, metric: Option<Metric>, conditions: &[&str]) -> Ab<'a> {
    let conditions = conditions.iter().map(|text| text.parse().unwrap()).collect();
    Ab::of(journal, &AbOptions { metric, conditions }).unwrap()
}

fn sentence(journal: &Journal) -> String {
    of(journal, &[]).sentence()
}

#[test]
fn the_metric_of_the_run_is_that_of_its_report() {
    let mut journal = two("saturate");
    runs(&mut journal, 14, (1e5, 1.0e5), 1.0, |value| limited(rate(value)));
    assert_eq!(of(&journal, &[]).metric, Metric::Cpu);
    journal.start.metric = Some("p99".to_owned());
    assert_eq!(of(&journal, &[]).metric, Metric::P99);
    assert_eq!(by(&journal, Some(Metric::Throughput), &[]).metric, Metric::Throughput);
}

/// The same with all figures of the second instance of a side off by 5 %.
fn apart(mut journal: Journal, side: &str) -> Journal {
    let is_second = |run: &Run| run.variant.entry() == side && run.copy == 1;
    alter_runs(&mut journal, is_second, |it| {
        it.cost.cpu_ns_per_request = it.cost.cpu_ns_per_request.map(|cpu| cpu * 1.05);
    });
    journal
}

/// The same with two valid cohorts of A.
fn mostly_invalid(mut journal: Journal) -> Journal {
    let is_meant = |it: &Run| it.block < 12 && it.variant.entry() == "ab/A";
    add_reason(&mut journal, is_meant, &reason(Weight::Invalid, "others used the CPU"));
    journal
}

#[test]
fn each_doubt_has_its_lines_its_verdict_and_that_of_conditions() {
    let usual = of(&costs(1.2, 1.0), &["cpu > +3%"]).details();
    let not_verified = ReasonKind::NotVerified.reason(Weight::Invalid, None, "");
    let mut same = costs(1.2, 1.0);
    same.start.variants.iter_mut().for_each(|it| it.fingerprint = Some("0123456789abcdef".into()));
    let mut bound = two("saturate");
    runs(&mut bound, 14, (1e5, 1.0e5), 1.0, |value| limited(rate(value)));
    let cases = [
        ("two valid cohorts", mostly_invalid(costs(1.2, 1.0)), Metric::Cpu, "cpu > +3%"),
        ("checks skipped", with_reason(costs(1.2, 1.0), &not_verified), Metric::Cpu, "cpu > +3%"),
        ("same program", same, Metric::Cpu, "cpu > +3%"),
        ("bound", bound, Metric::Throughput, "throughput < -3%"),
        ("instances of A", apart(costs(1.2, 1.0), "ab/A"), Metric::Cpu, "cpu > +3%"),
        ("instances of B", apart(costs(1.2, 1.0), "ab/B"), Metric::Cpu, "cpu > +3%"),
        ("a run of each side in a block", older(14, 1.2), Metric::Cpu, "cpu > +3%"),
        ("absent metric", costs(1.2, 1.0), Metric::MemoryIdle, "cpu > +3%"),
    ];
    let shown = cases.map(|(name, journal, metric, condition)| {
        let ab = by(&journal, Some(metric), &[condition]);
        let (verdict, gate) = (ab.verdict.name(), ab.gate.as_ref().unwrap().verdict);
        (format!("{name}: {verdict}, {gate:?}"), difference_in_words(&usual, &ab.details()))
    });
    assert_golden_cases("ab/doubts.txt", shown);
}

#[test]
fn two_valid_cohorts_of_many_keep_no_condition_and_show_no_figure() {
    let journal = mostly_invalid(costs(1.2, 1.0));
    let gate = of(&journal, &["cpu > +90%"]).gate.unwrap();
    assert!(gate.conditions[0].kept.is_empty() && gate.verdict != GateVerdict::Passed);
    let page = of(&journal, &[]).page(None);
    assert!(!page.contains("CPU us/request") && !page.contains("9 of 10"), "{page}");
}

#[test]
fn each_condition_has_its_line_on_the_page() {
    let conditions = ["cpu > +3%", "cpu > +4%", "p99 > +3%", "p50 > +3%"];
    let page = of(&costs(1.2, 1.0), &conditions).page(None);
    for condition in conditions {
        assert_eq!(page.matches(&format!("'{condition}'")).count(), 1, "{condition}: {page}");
    }
}

#[test]
fn other_work_on_the_machine_hides_differences_and_causes_none() {
    let disturbed = |ratio: f64, loudness: f64, kind: ReasonKind| {
        with_reason(costs(ratio, loudness), &kind.reason(Weight::Invalid, Some(0.31), ""))
    };
    let journal = disturbed(2.68, 1.0, ReasonKind::Neighbour);
    let ab = of(&journal, &["cpu > +3%"]);
    assert_eq!(ab.verdict, Verdict::Claimed(Claim::Higher));
    assert_eq!(ab.gate.as_ref().map(|it| it.verdict), Some(GateVerdict::Failed));
    assert_golden("ab/disturbed.txt", &ab.page(None));
    let json: serde_json::Value = serde_json::from_str(&ab.json()).unwrap();
    let trouble = json["cells"][0]["trouble"].as_str().unwrap();
    assert!(trouble.starts_with("was disturbed in "), "{trouble}");
    assert_eq!(json["verdict"], "higher");
    let passes = of(&journal, &["cpu > +900%"]).gate.unwrap();
    assert_eq!(passes.verdict, GateVerdict::Passed, "{passes:?}");
    for (ratio, loudness, kind, expected) in [
        (1.0, 1.0, ReasonKind::Neighbour, Verdict::Claimed(Claim::Same)),
        (1.04, 60.0, ReasonKind::Neighbour, Verdict::Claimed(Claim::CannotTell)),
        (2.68, 1.0, ReasonKind::Throttled, Verdict::NotValid),
        (2.68, 1.0, ReasonKind::WrongReplies, Verdict::NotValid),
    ] {
        let journal = disturbed(ratio, loudness, kind);
        assert_eq!(of(&journal, &[]).verdict, expected, "{ratio} {loudness} {kind}");
    }
    let mut builds = disturbed(1.05, 1.0, ReasonKind::Neighbour);
    builds.start.command = ["ab", "go/net", "--old", "main"].map(str::to_owned).to_vec();
    let ab = of(&builds, &[]);
    assert_eq!((ab.sides[0].standing, ab.is_valid()), (Standing::Valid, true));
    assert!(!ab.sentence().contains("warning"), "{}", ab.sentence());
}

#[test]
fn a_spoiled_tail_withholds_verdicts_on_the_tail_and_no_others() {
    let late = ReasonKind::ScheduleLag.reason(Weight::Tail, Some(2e6), "late");
    let journal = with_reason(costs(1.2, 1.0), &late);
    let of = |metric| by(&journal, Some(metric), &[]).verdict;
    assert_eq!(of(Metric::Cpu), Verdict::Claimed(Claim::Higher));
    assert_ne!(of(Metric::P50), Verdict::NotValid);
    assert_eq!(of(Metric::P99), Verdict::NotValid);
    let ab = self::of(&journal, &["cpu > +3%", "p99 > +3%"]);
    assert!(ab.details().contains("1.50 ms!"));
    // Of each condition the validity of its own figure counts.
    let conditions = ab.gate.unwrap().conditions;
    assert_eq!((conditions[0].failed.len(), conditions[1].inconclusive.len()), (1, 1));
}

#[test]
fn one_cpu_withholds_the_verdict_unless_both_options_ask_for_it() {
    let mut journal = costs(1.2, 1.0);
    add_reason(&mut journal, |_| true, &ReasonKind::SharedCpu.reason(Weight::Invalid, None, ""));
    let line = "all runs: server and load generator shared a CPU";
    let mut found = |options: &[&str]| {
        journal.start.command = options.iter().map(|word| (*word).to_owned()).collect();
        let ab = of(&journal, &[]);
        (ab.verdict == Verdict::Claimed(Claim::Higher), ab.page(None).contains(line))
    };
    assert_eq!(found(&["wirebench", "ab"]), (false, false));
    assert_eq!(found(&["ab", "--server-cpus=0"]), (false, false));
    assert_eq!(found(&["ab", "--server-cpus=0", "--generator-cpus", "0"]), (true, true));
}

#[test]
fn a_side_that_was_refused_or_failed_is_named_with_the_reason_and_fails_every_condition() {
    let mut refused = two("cost");
    refused.verified.push(verified("ab/B", &[("reply-once", "it sent two")], &[]));
    let ab = of(&refused, &["cpu > +3%"]);
    expect!["not measured: A was not run; B fails `reply-once` in hello: it sent two"]
        .assert_eq(&ab.sentence());
    assert!(ab.gate.unwrap().fails());
    ended(&mut refused, EndReason::Interrupted);
    assert!(sentence(&refused).starts_with("not measured: A was not run: interrupted; B fails"));
    let mut crashed = two("cost");
    runs(&mut crashed, 6, (10_000.0, 10_000.0), 1.0, cost);
    let crash = |journal: &mut Journal, from| {
        let is_b = |run: &&mut Run| run.variant.entry() == "ab/B" && run.block >= from;
        let runs = journal.runs.iter_mut().filter(is_b);
        runs.for_each(|run| run.outcome = failed("the server ended"));
    };
    let disturbed = ReasonKind::Throttled.reason(Weight::Invalid, Some(0.3), "");
    let mut died = with_reason(crashed.clone(), &disturbed);
    crash(&mut died, 5);
    assert!(sentence(&died).ends_with("B is not valid in 12 of 12 runs: the server ended"));
    crash(&mut crashed, 0);
    expect!["not measured: B failed in 12 of 12 runs: the server ended"]
        .assert_eq(&sentence(&crashed));
    assert!(of(&crashed, &[]).half_width() <= Some(0.0), "it will never be known");
}

#[test]
fn another_figure_can_be_asked_for_but_not_the_rate_that_was_given() {
    assert_eq!(has(Phase::Cost, Metric::Throughput), None);
    assert_eq!(has(Phase::Saturate, Metric::Throughput), Some(Metric::Throughput));
    assert_eq!(has(Phase::Cost, Metric::Switches), None);
    let journal = costs(1.052, 1.0);
    let width = of(&journal, &[]).half_width().unwrap();
    assert!(width > 0.0 && width < 0.005, "{width}");
}

#[test]
fn the_result_in_every_form_of_which_markdown_and_json_begin_with_the_verdict() {
    let journal = costs(1.052, 1.0);
    let ab = of(&journal, &["cpu > +3%", "p99 > +3%"]);
    assert_golden("ab/details.txt", &ab.details());
    assert_golden_page("ab.html", &Format::Html.write(&ab, None).text);
    let csv = Format::Csv.write(&ab, None).text;
    let row = csv.lines().find(|it| it.contains(",B,") && it.contains("_p50")).unwrap();
    let figure = ",B,0,entrant,library,true,28,0,0,0,0,neither,false,,,latency_ns_p50,ns,50000,,,true,1,0.9999";
    assert!(row.contains(figure) && row.ends_with(",exactly,same,50000"), "{row}");
    let sentence = ab.sentence();
    let markdown = ab.markdown();
    assert!(markdown.starts_with(&format!("**{sentence}**\n")), "{markdown}");
    let json = ab.json();
    assert!(json.starts_with(&format!("{{\n  \"sentence\": \"{sentence}\"")), "{json}");
    let json = crate::schemas::tests::valid("result", &json);
    assert_eq!(json["sentence"], sentence);
    assert_eq!((&json["verdict"], &json["loads"][0]["cohorts"]), (&"higher".into(), &14.into()));
    let start = &json["results"][0]["start"];
    assert_eq!((&start["suite"], &start["procedure"]), (&"ab".into(), &"cohorts".into()));
    assert_eq!(json["gate"]["verdict"], "failed");
    let b = cell_of(&json, "B", 0);
    let cpu = &figure_of(b, "server_cpu_ns_per_request")["ratios"][0];
    assert!(cpu["interval"]["low"].as_f64() > Some(1.04), "{cpu:#}");
    assert_eq!((&cpu["claim"], &cpu["checks"][1]["state"]), (&"higher".into(), &"passed".into()));
    assert_eq!(figure_of(b, "requests_per_second")["ratios"], serde_json::json!([]));
}

#[test]
fn a_side_with_some_runs_that_are_not_valid_says_so_in_csv() {
    let mut journal = costs(0.98, 1.0);
    let first = |run: &Run| run.variant.entry() == "ab/B" && run.copy == 0 && run.block < 3;
    add_reason(&mut journal, first, &reason(Weight::Invalid, "disturbed"));
    let ab = of(&journal, &[]);
    assert_eq!((ab.sides[1].standing, ab.sides[1].invalid), (Standing::Valid, 3));
    let csv = Format::Csv.write(&ab, None).text;
    let row = csv.lines().find(|line| line.contains(",entrant,")).unwrap();
    assert!(row.contains(",true,28,0,3,0,0,"), "{row}");
    assert!(row.contains(",false,not valid in 3 of 28 runs,"), "{row}");
}

#[test]
fn a_side_is_called_by_its_command() {
    assert_eq!(meant(&two("cost"), "./server-B {port}").unwrap().to_string(), "ab/B");
}

#[test]
fn other_journals_are_not_taken_for_such_a_comparison() {
    assert!(Ab::of(&crate::fixtures::pair(0.9), &AbOptions::default()).is_none());
}
