//! Comparisons of two servers in made-up journals: the sentence of every kind of outcome, and what
//! is never hidden.

use super::*;
use crate::{
    analysis::Claim,
    compare::GateVerdict,
    made_up::{add, changed, cost, failed, journal_of, limited, rate, reason, row as line},
    table::Style,
};
use std::time::Duration;
use wirebench_schema::journal::{
    End, EndReason, FixedRate, Goal, Outcome, ReasonKind, Verified, Weight,
};

mod page;

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

/// The noise of fourteen blocks, about 0.3 %.
const NOISE: [f64; 14] = [
    0.997, 1.002, 1.004, 0.999, 1.003, 0.996, 1.001, 0.998, 1.0, 1.002, 0.999, 1.003, 0.997, 1.001,
];

/// A journal of two sides without a run.
fn two(phase: &str) -> Journal {
    let mut journal = journal_of(&SUITE_TEXT.replace("PHASE", phase));
    let start = &mut journal.start;
    start.suite = SUITE.to_owned();
    start.variants.truncate(2);
    for (described, name) in start.variants.iter_mut().zip(["A", "B"]) {
        described.variant = format!("ab/{name}").parse().unwrap();
        described.title = format!("`./server-{name} {{port}}`");
        described.fingerprint = Some(name.repeat(16));
    }
    start.baselines = vec!["ab/A".parse().unwrap()];
    start.baseline_copies = 1;
    start.goal = Goal { precision: Some(0.005), budget: Some(Duration::from_secs(600)) };
    ended(&mut journal, EndReason::Precise);
    if phase == "cost" {
        journal.rates.push(FixedRate {
            workload: "hello".into(),
            requests_per_second: 40_000,
            reason: "half of what ab/A reached".into(),
            reached: Vec::new(),
            too_slow: Vec::new(),
        });
    }
    journal
}

fn ended(journal: &mut Journal, reason: EndReason) {
    journal.end = Some(End { ended: String::new(), reason });
}

/// Adds runs of A at about `a` and of B at about `b`; `loudness` is of the noise between the two.
fn runs(
    journal: &mut Journal,
    blocks: usize,
    (a, b): (f64, f64),
    loudness: f64,
    outcome: fn(f64) -> Outcome,
) {
    let noise = |turn: usize| {
        move |block: usize| 1.0 + (NOISE[(block * turn + turn) % 14] - 1.0) * loudness
    };
    let values = |middle: f64, turn: usize| (0..blocks).map(move |it| middle * noise(turn)(it));
    add(journal, "hello", ("ab/A", 0), values(a, 1), outcome);
    add(journal, "hello", ("ab/B", 0), values(b, 5), outcome);
}

/// A cost phase of fourteen blocks, in which B costs `ratio` times as much.
fn costs(ratio: f64, loudness: f64) -> Journal {
    let mut journal = two("cost");
    runs(&mut journal, 14, (10_000.0, 10_000.0 * ratio), loudness, cost);
    journal
}

fn of<'a>(journal: &'a Journal, conditions: &[&str]) -> Ab<'a> {
    let conditions = conditions.iter().map(|text| text.parse().unwrap()).collect();
    Ab::of(journal, &Wishes { metric: None, conditions }).unwrap()
}

fn sentence(journal: &Journal) -> String {
    of(journal, &[]).sentence()
}

/// All of `parts` in this order.
fn has_in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("no `{part}` in `{rest}` of\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn a_difference_is_told_with_its_size_its_interval_and_its_pairs() {
    let journal = costs(1.052, 1.0);
    let text = sentence(&journal);
    has_in_order(
        &text,
        &[
            "B costs 5.",
            " % more CPU time per request than A (95 % interval +",
            "..+5.",
            " %, 14 pairs at 40 000 requests/s): more CPU",
        ],
    );
    has_in_order(&sentence(&costs(0.9, 1.0)), &["B costs 1", " % less CPU", "..-", "): less CPU"]);
    let mut faster = two("saturate");
    runs(&mut faster, 8, (1e5, 2.5e5), 1.0, rate);
    has_in_order(&sentence(&faster), &["B does 150 % more requests/s than A", "8 pairs): faster"]);
}

#[test]
fn equal_servers_are_the_same_within_the_noise_floor() {
    let text = sentence(&costs(1.0, 1.0));
    let parts = ["B costs as much CPU time per request as A within 1.0 % (", "14 pairs", "): same"];
    has_in_order(&text, &parts);
}

#[test]
fn what_is_too_noisy_to_tell_says_so_and_what_to_do_next() {
    let mut journal = costs(1.0, 12.0);
    ended(&mut journal, EndReason::Budget);
    let whether = "cannot tell whether B costs more or less CPU time per request than A (95 %";
    has_in_order(
        &sentence(&journal),
        &[whether, "noise floor is ", " %: give --budget 30m or a q"],
    );
    ended(&mut journal, EndReason::Precise);
    has_in_order(&sentence(&journal), &[whether, ": give --precision 0.25%"]);
    ended(&mut journal, EndReason::Complete);
    has_in_order(&sentence(&journal), &[whether, ": give --blocks 12 or"]);
    journal.end = None;
    has_in_order(&sentence(&journal), &[whether, "`wirebench run --resume FOLDER`"]);
}

#[test]
fn a_real_difference_below_the_floor_is_no_difference() {
    let text = sentence(&costs(1.009, 1.0));
    let parts =
        ["cannot tell: B costs 0.9", " % more CPU", "no more than the noise floor of 1.0 %"];
    has_in_order(&text, &parts);
}

#[test]
fn too_few_pairs_tell_nothing_however_large_the_difference() {
    let mut journal = two("cost");
    runs(&mut journal, 4, (10_000.0, 20_000.0), 1.0, cost);
    ended(&mut journal, EndReason::Complete);
    let ab = of(&journal, &["cpu > +3%"]);
    let parts = ["cannot tell: it takes 6 pairs", "(from +", "%, 4 pairs at", "give --blocks 12"];
    has_in_order(&ab.sentence(), &parts);
    assert_eq!(ab.verdict, Verdict::Claimed(Claim::CannotTell));
    let gate = ab.gate.as_ref().unwrap();
    assert!(!gate.fails() && gate.warnings[0].contains("can never fail here"), "{gate:?}");
    assert!(ab.text(Style::Text).contains("too few blocks"));
}

#[test]
fn a_generator_at_its_limit_leaves_a_bound() {
    let mut journal = two("saturate");
    runs(&mut journal, 14, (1e5, 1.2e5), 1.0, |value| limited(rate(value)));
    let parts = ["cannot tell: the load generator was at its limit", "--phase cost"];
    has_in_order(&sentence(&journal), &parts);
    let mut journal = two("saturate");
    runs(&mut journal, 14, (1e5, 1.2e5), 1.0, rate);
    for run in journal.runs.iter_mut().filter(|run| run.variant.entry() == "ab/B") {
        run.outcome = limited(run.outcome.clone());
    }
    has_in_order(&sentence(&journal), &["B does at least 20.", " % more requests/s", "): faster"]);
}

#[test]
fn a_condition_that_an_open_bound_does_not_exclude_is_not_passed() {
    let mut journal = two("saturate");
    runs(&mut journal, 14, (1e5, 1.0e5), 1.0, |value| limited(rate(value)));
    let ab = of(&journal, &["throughput < -3%"]);
    assert_eq!(ab.gate.as_ref().unwrap().verdict(), GateVerdict::Inconclusive);
    let told = "inconclusive 'throughput < -3%': hello ab/B: requests/s ~";
    let limit = "at its limit, so the true change may be anything, also below -3.0 %";
    has_in_order(&ab.text(Style::Text), &[told, limit, "NOT PASSED, and nothing fails"]);
    has_in_order(&ab.text(Style::Markdown), &["inconclusive 'throughput", "NOT PASSED"]);
    assert!(!ab.text(Style::Text).contains("passed '"), "{}", ab.text(Style::Text));
    let json: serde_json::Value = serde_json::from_str(&ab.json()).unwrap();
    assert_eq!(json["gate"]["verdict"], "inconclusive");
    assert_eq!(json["gate"]["passed"], false);
}

#[test]
fn most_runs_not_valid_make_no_verdict_and_fail_no_condition() {
    let mut journal = costs(1.2, 1.0);
    assert!(of(&journal, &["cpu > +3%"]).gate.unwrap().fails());
    for run in journal.runs.iter_mut().filter(|it| it.block < 8 && it.variant.entry() == "ab/A") {
        run.outcome = changed(run.outcome.clone(), |it| {
            it.reasons.push(reason(Weight::Invalid, "others used the CPU"));
        });
    }
    let ab = of(&journal, &["cpu > +3%"]);
    assert_eq!(ab.verdict, Verdict::NotValid);
    assert_eq!(ab.sentence(), "not valid: A is not valid in 8 of 14 runs: others used the CPU");
    let gate = ab.gate.as_ref().unwrap();
    assert!(!gate.fails(), "{gate:?}");
    assert!(gate.warnings.iter().any(|it| it.contains("no condition can fail")), "{gate:?}");
    assert!(gate.conditions[0].inconclusive[0].why.contains("not valid"), "{gate:?}");
    let other = of(&journal, &["cpu > +90%"]).gate.unwrap();
    assert_eq!((other.conditions[0].passed, other.verdict()), (0, GateVerdict::Inconclusive));
    let text = ab.text(Style::Text);
    assert!(text.contains("A: `./server-A {port}`, 14 runs, 8 not valid"), "{text}");
    assert!(text.contains("! A "), "{text}");
}

#[test]
fn a_spoiled_tail_takes_no_verdict_on_cpu_time_or_the_median_away_but_one_on_the_tail() {
    let mut journal = costs(1.2, 1.0);
    for run in &mut journal.runs {
        run.outcome = changed(run.outcome.clone(), |it| {
            it.reasons.push(ReasonKind::ScheduleLag.reason(Weight::Tail, Some(2e6), "late"));
        });
    }
    let of = |metric| {
        let wishes = Wishes { metric: Some(metric), ..Wishes::default() };
        Ab::of(&journal, &wishes).unwrap().verdict
    };
    assert_eq!(of(Metric::Cpu), Verdict::Claimed(Claim::Higher));
    assert_ne!(of(Metric::LatencyP50), Verdict::NotValid);
    assert_eq!(of(Metric::LatencyP99), Verdict::NotValid);
}

#[test]
fn what_was_asked_for_is_told_and_takes_no_verdict_away() {
    let mut journal = costs(1.2, 1.0);
    for run in &mut journal.runs {
        run.outcome = changed(run.outcome.clone(), |it| {
            let text = "not verified: the conformance checks were left out";
            it.reasons.push(ReasonKind::NotVerified.reason(Weight::Invalid, None, text));
        });
    }
    let ab = of(&journal, &[]);
    assert_eq!(ab.verdict, Verdict::Claimed(Claim::Higher));
    assert!(ab.text(Style::Text).contains("B: ! not verified"), "{}", ab.text(Style::Text));
}

#[test]
fn a_side_that_was_refused_or_failed_is_named_with_the_reason_and_fails_every_condition() {
    let mut refused = two("cost");
    refused.verified.push(Verified {
        variant: "ab/B".parse().unwrap(),
        scenario: wirebench_schema::scenario::Scenario::Hello,
        passed: 3,
        failed: vec![("reply-once".into(), "it sent two".into())],
        deviates: Vec::new(),
        skipped: Vec::new(),
    });
    let ab = of(&refused, &["cpu > +3%"]);
    has_in_order(
        &ab.sentence(),
        &["not measured: ", "B fails the check `reply-once`: it sent two"],
    );
    assert!(ab.gate.unwrap().fails());
    let mut crashed = two("cost");
    runs(&mut crashed, 6, (10_000.0, 10_000.0), 1.0, cost);
    for run in crashed.runs.iter_mut().filter(|run| run.variant.entry() == "ab/B") {
        run.outcome = failed("the server ended");
    }
    assert_eq!(sentence(&crashed), "not measured: B failed in 6 of 6 runs: the server ended");
    assert!(half_width(&crashed, Metric::Cpu) <= Some(0.0), "nobody waits for it");
}

#[test]
fn a_condition_is_met_only_beyond_the_noise() {
    let journal = costs(1.052, 1.0);
    let passed = |conditions: &[&str]| !of(&journal, conditions).gate.unwrap().fails();
    assert!(!passed(&["cpu > +3%"]));
    assert!(passed(&["cpu > +8%"]) && passed(&["cpu < -3%"]) && passed(&["p99 > +1%"]));
    assert!(!of(&costs(1.04, 30.0), &["cpu > +3%"]).gate.unwrap().fails());
    let text = of(&journal, &["cpu > +3%"]).text(Style::Text);
    assert!(text.contains("FAILED 'cpu > +3%': hello ab/B"), "{text}");
}

#[test]
fn the_verdict_stands_last_in_text_and_first_in_markdown_and_json() {
    let journal = costs(1.052, 1.0);
    let ab = of(&journal, &["cpu > +3%"]);
    let (sentence, text) = (ab.sentence(), ab.text(Style::Text));
    assert_eq!(text.lines().last(), Some(sentence.as_str()));
    let cpu = line(&text, "server CPU us/request");
    has_in_order(cpu, &["10.0", "10.5", "+5.", " (+", "1.0 %", "more CPU"]);
    assert!(text.contains("40 000 requests/s for all"), "{text}");
    let markdown = ab.text(Style::Markdown);
    assert!(markdown.starts_with(&format!("**{sentence}**\n")), "{markdown}");
    has_in_order(&markdown, &["FAILED 'cpu > +3%'", "| server CPU us", "<details>", "</details>"]);
    let json = ab.json();
    assert!(json.starts_with(&format!("{{\n  \"sentence\": \"{sentence}\"")), "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["sentence"], sentence);
    assert_eq!((&json["verdict"], &json["pairs"]), (&"higher".into(), &14.into()));
    assert_eq!(json["gate"]["passed"], false);
    assert!(json["figures"]["server_cpu_ns_per_request"]["ratio"]["low"].as_f64() > Some(1.04));
    assert_eq!(json["figures"]["requests_per_second"]["ratio"], serde_json::Value::Null);
    assert_eq!(json["report"]["suite"], "ab");
}

#[test]
fn another_figure_can_be_asked_for_but_not_the_rate_that_was_given() {
    assert_eq!(has(Phase::Cost, Metric::Throughput), None);
    assert_eq!(has(Phase::Saturate, Metric::Throughput), Some(Metric::Throughput));
    assert_eq!(has(Phase::Cost, Metric::Switches), None);
    let journal = costs(1.052, 1.0);
    let wishes = Wishes { metric: Some(Metric::LatencyP99), conditions: Vec::new() };
    let ab = Ab::of(&journal, &wishes).unwrap();
    has_in_order(&ab.sentence(), &["B answers as soon at p99 as A within 1.0 %"]);
    let idle = Wishes { metric: Some(Metric::MemoryIdle), conditions: Vec::new() };
    let told = "the phase cost has no memory-idle, but cpu, p50, p99, p999, memory: compared by \
                server CPU us/request\n";
    let ab = Ab::of(&journal, &idle).unwrap();
    assert!(ab.metric == Metric::Cpu && ab.text(Style::Text).contains(told));
    let width = half_width(&journal, Metric::Cpu).unwrap();
    assert!(width > 0.0 && width < 0.005, "{width}");
}

#[test]
fn other_journals_are_not_taken_for_such_a_comparison() {
    assert!(Ab::of(&crate::made_up::pair(0.9), &Wishes::default()).is_none());
    assert_eq!(half_width(&crate::made_up::pair(0.9), Metric::Cpu), None);
}

#[test]
fn the_same_program_on_both_sides_is_said() {
    let mut journal = costs(1.0, 1.0);
    let text = |journal: &Journal| of(journal, &[]).text(Style::Text);
    assert!(!text(&journal).contains("the same program"));
    for described in &mut journal.start.variants {
        described.fingerprint = Some("0123456789abcdef".into());
    }
    assert!(text(&journal).contains("both are the same program: what differs is noise"));
}

/// How many of so many comparisons of equal servers, or of those that differ by `ratio`, claim a
/// difference. The machine becomes 0.3 % slower with each run, and runs scatter by 1 %.
fn claimed(ratio: f64, experiments: usize) -> usize {
    let mut random = fastrand::Rng::with_seed(11);
    let mut noise = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
    let mut experiment = |_: &usize| {
        let mut journal = two("cost");
        let mut values = [Vec::new(), Vec::new()];
        for place in 0..24 {
            // A B B A, B A A B, ...
            let side = [0, 1, 1, 0, 1, 0, 0, 1][place % 8];
            let level = if side == 1 { ratio } else { 1.0 };
            let drift = 1.003_f64.powi(i32::try_from(place).unwrap());
            values[side].push(10_000.0 * level * drift * (1.0 + 0.01 * noise()));
        }
        for (name, values) in ["ab/A", "ab/B"].into_iter().zip(values) {
            add(&mut journal, "hello", (name, 0), values, cost);
        }
        let claims = [Verdict::Claimed(Claim::Higher), Verdict::Claimed(Claim::Lower)];
        claims.contains(&of(&journal, &[]).verdict)
    };
    (0..experiments).filter(&mut experiment).count()
}

#[test]
fn equal_servers_seldom_differ_on_a_machine_that_drifts_and_others_do() {
    let (experiments, equal) = (200, claimed(1.0, 200));
    assert!(equal * 20 <= experiments, "{equal} of {experiments}");
    let different = claimed(1.05, experiments);
    assert!(different * 10 >= experiments * 9, "{different} of {experiments}");
}
