//! What conditions find in synthetic results of `run`, `tune` and `load`: no load is made.

use super::*;
use crate::tune::tests::{FOUND, search};
use crate::{
    Details, Report,
    compare::{CompareOptions, LoadSide, compare_loads},
    fixtures::{
        self, add_reason, alter, alter_runs, assert_golden, cost_pair, journal_of, limited, pair,
        rate, reason, run, with_reason,
    },
    load::{self, Load},
    schemas::tests::valid,
    screen::{self, Facts},
    tune::{self, SUITE, Tuned},
};
use wirebench_schema::{
    journal::{Cause, Journal, Outcome, Run, SearchResult, Unavailable, Weight},
    load::{
        ErrorCounts, LatencySummary, LoadConfig, LoadModel, LoadReport, LoadResult, NamedRequests,
        Offered, RateCurve, RequestFile, RequestOrder,
    },
};

mod change;
mod forms;

fn conditions(texts: &[&str]) -> Vec<Condition> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn of_journal(journal: &Journal, texts: &[&str]) -> Gate {
    of_run(&Analysis::of(journal), &conditions(texts)).unwrap()
}

/// The verdict, and each line.
fn shown(gate: &Gate) -> String {
    format!("{:?}\n{}\n{}\n", gate.verdict, gate_lines(gate).join("\n"), gate.unjudged().join("\n"))
}

fn load() -> LoadReport {
    fixtures::load(20_000.0, 20)
}

/// A load of two named requests, of which one is slow and fails at times.
fn load_of_two() -> LoadReport {
    let latency =
        |p99| LatencySummary { latency_ns_p99: p99, count: 1000, ..LatencySummary::default() };
    let named = |name: &str, p99, errors| NamedRequests {
        name: name.to_owned(),
        requests: 1000,
        requests_per_second: 1000.0,
        errors,
        latency: Some(latency(p99)),
    };
    let by_name = vec![named("GET /", 1_000_000, 0), named("GET /users", 7_000_000, 5)];
    LoadReport { by_name, ..load() }
}

const OFFERED: Offered =
    Offered { due: 25_000, owed_at_end: 7, waiting: [0; 3], requests_per_second: 25e3 };

#[test]
fn values_of_a_load_are_compared_with_their_limits() {
    let violated = |report: &LoadReport, text: &str| {
        let gate = load::gate(report, &conditions(&[text])).unwrap();
        assert_eq!(gate.unjudged(), [""; 0], "{text}");
        gate.fails()
    };
    for (text, is_violated) in [
        ("p99 > 1ms", true),
        ("p99 > 2ms", false),
        ("p90 > 70us", false),
        ("max > 2ms", true),
        ("req/s < 20k", false),
        ("req/s < 21k", true),
        ("errors > 0", true),
        ("errors > 20", false),
        ("errors > 0.1%", false),
        ("errors > 0.09%", true),
    ] {
        assert_eq!(violated(&load(), text), is_violated, "{text}");
    }
    let mut refused = load();
    refused.config.model = LoadModel::rate(RateCurve::per_second(25_000));
    (refused.errors, refused.offered) = (ErrorCounts::default(), Some(OFFERED));
    refused.errors.refused = 30_000;
    let texts = ["errors > 20k", "achieved < 81%", "unsent > 6", "errors > 0%", "achieved < 80%"];
    assert_eq!(texts.map(|it| violated(&refused, it)), [true, true, true, false, false]);
    assert!(violated(&LoadReport { requests: 0, ..refused }, "errors > 99%"));
    for (text, is_violated) in [
        ("p99 of GET /users > 5ms", true),
        ("p99 of GET / > 5ms", false),
        ("errors of GET /users > 0.4%", true),
        ("errors of GET / > 0", false),
        ("req/s of GET / < 2k", true),
    ] {
        assert_eq!(violated(&load_of_two(), text), is_violated, "{text}");
    }
    assert_golden(
        "gates/load.txt",
        &shown(
            &load::gate(
                &load_of_two(),
                &conditions(&[
                    "p99 > 1ms",
                    "p99 of GET /users > 10ms",
                    "req/s < 10k",
                    "errors > 1%",
                    "p99 of GET /x > 1ms",
                ]),
            )
            .unwrap(),
        ),
    );
}

#[test]
fn a_latency_that_no_reply_took_violates_any_limit() {
    let mut report = load();
    report.latency = report.latency.map(|it| LatencySummary { censored: 5000, ..it });
    let gate = load::gate(&report, &conditions(&["p99 > 10s", "p50 > 10s"])).unwrap();
    assert_eq!([&gate.conditions[0], &gate.conditions[1]].map(|it| it.failed.len()), [1, 0]);
    assert!(gate.conditions[0].failed[0].why.contains("at least 1.50 ms"), "{gate:#?}");
}

#[test]
fn requests_of_a_single_name_are_all_requests() {
    let mut report = load();
    let file = RequestFile::parse("/users", RequestOrder::InTurn).unwrap();
    report.config = LoadConfig { requests: Some(file.set), ..report.config };
    let gate = load::gate(&report, &conditions(&["p99 of GET /users > 1ms"])).unwrap();
    assert_eq!(gate.verdict, GateVerdict::Failed, "{gate:#?}");
}

#[test]
fn a_server_is_compared_with_its_baseline_and_with_values() {
    let slower = pair(0.8);
    let all = ["throughput < -10%", "req/s < 90k", "req/s < 70k", "memory > 1MiB", "cpu > 5us"];
    assert_golden("gates/run.txt", &shown(&of_journal(&slower, &all)));
    // The baseline is faster, and only a condition that names it concerns it.
    let named = ["req/s of c/epoll < 90k", "req/s of net < 90k", "req/s of epoll < 200k"];
    let gate = of_journal(&slower, &named);
    assert_eq!(gate.conditions.iter().map(|it| it.failed.len()).collect::<Vec<_>>(), [0, 1, 1]);
    assert_eq!(gate.conditions.iter().map(|it| it.looked_at).collect::<Vec<_>>(), [1, 1, 1]);
    // Figures of which no change is computed.
    let gate = of_journal(&cost_pair(1.0), &["p90 > 60us", "max > 4ms"]);
    let found = gate.conditions.iter().map(|it| (it.failed.len(), it.kept.len()));
    assert!(found.eq([(1, 0), (0, 1)]), "{gate:#?}");
    let mut disturbed = cost_pair(1.0);
    let is_first = |it: &Run| it.block == 0;
    alter_runs(&mut disturbed, is_first, |it| {
        it.reasons.push(reason(Weight::Invalid, "x"));
        it.load.latency.as_mut().unwrap().latency_ns_p90 = 10_000_000;
    });
    let kept = &of_journal(&disturbed, &["p90 > 100us"]).conditions[0].kept[0];
    assert!(kept.interval.unwrap().high < 1e5, "void runs are in no figure: {kept:?}");
}

#[test]
fn a_latency_is_a_figure_of_the_cost_phase_and_throughput_of_the_other() {
    let start = |journal: &Journal, text: &str| {
        scope("report", journal).check(&conditions(&[text])[0]).err()
    };
    let (saturated, at_rate) = (pair(1.0), cost_pair(1.0));
    assert_eq!(start(&saturated, "req/s < 10k"), None);
    assert_eq!(start(&at_rate, "p99 > 5ms"), None);
    let texts = [
        start(&saturated, "p99 > 5ms"),
        start(&at_rate, "req/s < 10k"),
        start(&at_rate, "cpu of go/x > 1us"),
    ];
    assert_golden("gates/scope.txt", &texts.map(Option::unwrap).join("\n"));
}

#[test]
fn figures_that_are_bounds_or_not_valid_leave_a_condition_open() {
    let mut bounded = pair(0.8);
    for run in bounded.runs.iter_mut().filter(|run| run.variant.to_string() == "go/net") {
        run.outcome = limited(run.outcome.clone());
    }
    let gate = of_journal(&bounded, &["req/s < 90k", "req/s < 70k"]);
    assert_eq!(gate.conditions[0].inconclusive.len(), 1, "{gate:#?}");
    assert_eq!(gate.conditions[1].kept.len(), 1, "at least as much as the limit");
    let mut invalid = pair(0.8);
    add_reason(
        &mut invalid,
        |run| run.variant.to_string() == "go/net",
        &reason(Weight::Invalid, "x"),
    );
    alter(&mut invalid, "go/net", |it| it.load.errors.timeout = 3);
    let gate = of_journal(&invalid, &["req/s < 90k", "throughput < -10%", "errors > 0"]);
    assert_eq!(
        gate.conditions.iter().map(|it| it.inconclusive.len()).collect::<Vec<_>>(),
        [1, 1, 0]
    );
    assert_eq!(gate.conditions[2].failed.len(), 1, "errors are errors: {gate:#?}");
}

#[test]
fn a_server_without_figures_fails_every_condition_on_it() {
    let mut journal = pair(1.0);
    for run in journal.runs.iter_mut().filter(|run| run.variant.to_string() == "go/net") {
        run.outcome =
            Outcome::Failed { reason: "it ended".to_owned(), server_stderr: String::new() };
    }
    for text in ["req/s < 10k", "cpu > +3%"] {
        let gate = of_journal(&journal, &[text]);
        assert_eq!((gate.verdict, gate.lost.len()), (GateVerdict::Failed, 1), "{gate:#?}");
        assert_eq!(gate.lost[0].reason, "failed: it ended");
    }
}

#[test]
fn a_server_that_was_named_and_has_no_row_fails_every_condition_on_it() {
    let mut journal = pair(0.8);
    let (variant, cause) = ("d/vibe".parse().unwrap(), Cause::Missing);
    journal.unavailable.push(Unavailable { variant, reason: "no scenario".to_owned(), cause });
    let lost = |journal: &Journal, text| of_journal(journal, &[text]).lost.len();
    assert_eq!(lost(&journal, "req/s < 10k"), 0, "a suite names entries of other machines");
    journal.start.command = ["run", "d/vibe"].map(str::to_owned).to_vec();
    let gate = of_journal(&journal, &["req/s < 10k"]);
    assert_eq!((gate.verdict, gate.lost.len()), (GateVerdict::Failed, 1), "{gate:#?}");
    let texts = ["req/s of d/vibe < 10k", "req/s of go/net < 10k", "cpu > +3%"];
    assert_eq!(texts.map(|text| lost(&journal, text)), [1, 0, 1]);
}

#[test]
fn a_condition_that_concerns_nothing_is_never_passed_in_silence() {
    let gate = of_journal(&pair(1.0), &["cpu of c/epoll > +3%", "p99 of GET / > 1ms"]);
    assert_eq!((gate.verdict, gate.unjudged().len()), (GateVerdict::Inconclusive, 2), "{gate:#?}");
    let alone = {
        let mut journal = pair(1.0);
        journal.runs.retain(|run| run.variant.to_string() == "c/epoll");
        journal
    };
    let gate = of_journal(&alone, &["req/s < 200k", "cpu > +3%"]);
    assert_eq!(gate.conditions[0].failed.len(), 1, "the only server is judged: {gate:#?}");
    assert_eq!(gate.unjudged().len(), 1, "{gate:#?}");
}

/// A sweep of two combinations, of which the second is the best.
fn swept() -> Journal {
    let mut journal = journal_of(
        "description = \"An example.\"\nblocks = 1\n[[workload]]\nname = \"{connections}\"\nscenario = \"hello\"\n\
         workers = 1\nconnections = [10, 50]\nduration = \"1s\"\n",
    );
    journal.start.suite = SUITE.to_owned();
    for (workload, value) in [("10", 50_000.0), ("50", 100_000.0)] {
        journal.runs.push(Run { workload: workload.into(), ..run(0, "c/epoll", rate(value)) });
    }
    journal
}

#[test]
fn the_best_combination_of_a_sweep_is_judged() {
    let mut journal = swept();
    let judged = |journal: &Journal| {
        let texts = ["req/s < 90k", "req/s < 110k", "p99 > 1ms", "cpu > 5us", "errors > 0"];
        tune::gate(&Tuned::of(journal).unwrap(), &conditions(&texts)).unwrap()
    };
    assert_golden("gates/sweep.txt", &shown(&judged(&journal)));
    journal.runs.clear();
    let gate = judged(&journal);
    assert!(gate.fails() && gate.lost.len() == 1, "{gate:#?}");
}

#[test]
fn a_rate_that_was_not_confirmed_passes_no_gate() {
    use GateVerdict::{Failed, Inconclusive, Passed};
    for (held, disturbed, expected) in
        [(0, None, Failed), (1, None, Passed), (0, Some(61_000), Inconclusive)]
    {
        let found = Some(SearchResult { held, disturbed, ..FOUND });
        let journal = with_reason(search(found), &reason(Weight::Invalid, ""));
        let gate = tune::gate(&Tuned::of(&journal).unwrap(), &conditions(&["req/s < 1"]));
        assert_eq!(gate.unwrap().verdict, expected, "confirmations decide, not single runs");
    }
}
