//! Comparisons of synthetic results: what counts, what fails, and what is never hidden.

mod grounds;
mod loads;
mod made;
mod rules;
mod shown;

use self::made::{
    BASE, Place, compare_on, compared, conditions, machine, measurements, noise, result,
    try_compare, with_go,
};
use super::*;
use crate::{
    Report as _,
    analysis::{Claim, Inconclusive, Metric},
    fixtures::alter_all,
    gates::GateVerdict,
};
use wirebench_schema::environment::Environment;
use wirebench_schema::journal::{Bound, Journal, Outcome, Unavailable};

/// The change of a figure of `go/net`.
fn go<'a>(comparison: &'a Comparison, workload: &str, metric: Metric) -> &'a Change {
    let mut changes = comparison.changes.iter().filter(|it| it.cell.load == workload);
    let found = changes.find(|it| it.cell.entry() == "go/net" && it.metric == metric);
    found.unwrap_or_else(|| panic!("no {workload} {metric} in {comparison:#?}"))
}

fn fails(comparison: &Comparison) -> bool {
    comparison.gate.as_ref().unwrap().fails()
}

#[test]
fn five_percent_less_throughput_is_slower_comes_first_and_fails_a_condition_of_three() {
    let (old, new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (0.95, 1.0)));
    let comparison = compared(&old, &new, &conditions(&["throughput < -3%"]));
    let change = &comparison.changes[0];
    assert_eq!((change.cell.entry().as_str(), change.metric), ("go/net", Metric::Throughput));
    assert_eq!(change.movement(), Some(Movement::Worse));
    assert_eq!(change.claim(), Claim::Lower);
    assert!((change.ratio.judged.estimate.value - 0.95).abs() < 0.005, "{change:#?}");
    assert!(comparison.changes.iter().skip(1).all(|it| it.movement().is_none()));
    assert!(fails(&comparison));
    let gate = comparison.gate.unwrap();
    assert_eq!(gate.conditions[0].failed.len(), 1, "{gate:#?}");
    assert!(gate.conditions[0].failed[0].why.starts_with("requests/s -5."), "{gate:#?}");
    let wider = compared(&old, &new, &conditions(&["throughput < -7%"]));
    assert!(!fails(&wider) && wider.changes[0].movement() == Some(Movement::Worse));
}

#[test]
fn what_is_better_depends_on_the_figure() {
    let old = with_go(10, 1, (1.0, 1.0));
    let more = compared(&old, &with_go(10, 2, (1.15, 1.15)), &conditions(&["cpu > +3%"]));
    let less = compared(&old, &with_go(10, 2, (0.85, 0.85)), &conditions(&["cpu > +3%"]));
    let rows = [
        ("hello", Metric::Throughput, Movement::Better, ("faster", "slower")),
        ("hello-cost", Metric::Cpu, Movement::Worse, ("more CPU", "less CPU")),
        ("hello-cost", Metric::P99, Movement::Worse, ("longer", "shorter")),
        ("hello-idle", Metric::MemoryPerConnection, Movement::Worse, ("larger", "smaller")),
    ];
    for (workload, metric, movement, (higher, lower)) in rows {
        let (up, down) = (go(&more, workload, metric), go(&less, workload, metric));
        assert_eq!(up.movement(), Some(movement), "{up:#?}");
        assert!(down.movement().is_some_and(|it| it != movement), "{down:#?}");
        assert_eq!([up, down].map(|it| it.claim().words(it.metric)), [higher, lower]);
    }
    assert!(fails(&more) && !fails(&less));
}

#[test]
fn a_machine_that_became_slower_as_a_whole_is_reported_but_is_not_a_change() {
    let (old, mut new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (1.0, 1.0)));
    alter_all(&mut new, |it| it.load.requests_per_second *= 0.96);
    let relative = compared(&old, &new, &CompareOptions::default());
    let change = go(&relative, "hello", Metric::Throughput);
    assert_eq!(
        (change.ratio.judged.claim, change.relative_to.clone()),
        (Some(Claim::Same), Some(BASE.parse().unwrap()))
    );
    let yardstick =
        relative.facts.baseline_drift.iter().find(|it| it.metric == Metric::Throughput).unwrap();
    assert!((yardstick.estimate.value - 0.96).abs() < 0.005, "{yardstick:?}");
    assert!(relative.changes.iter().all(|it| it.cell.server != BASE));
    // As figures everything is slower, the baseline as well.
    let absolute = CompareOptions { absolute: true, ..CompareOptions::default() };
    let absolute = compared(&old, &new, &absolute);
    let change = go(&absolute, "hello", Metric::Throughput);
    assert_eq!((change.relative_to.clone(), change.movement()), (None, Some(Movement::Worse)));
    let is_base = |it: &&Change| it.cell.server == BASE;
    assert!(absolute.changes.iter().filter(is_base).any(|it| it.movement().is_some()));
}

#[test]
fn results_of_which_nothing_differs_are_not_compared_and_pass() {
    let old = with_go(10, 1, (1.0, 1.0));
    let mut new = old.clone();
    alter_all(&mut new, |it| it.load.requests_per_second *= 0.8);
    let options = conditions(&["throughput < -3%", "p99 > 1s"]);
    let text = compared(&old, &new, &options);
    assert!(text.facts.nothing_differs && text.changes.is_empty(), "{text:#?}");
    assert!(text.text(Rows::All).contains("same program in every row, nothing to compare"));
    let gate = text.gate.unwrap();
    assert_eq!((gate.verdict, gate.conditions.len()), (GateVerdict::Passed, 1));
    let forced = CompareOptions { force: true, ..options.clone() };
    assert!(!compared(&old, &new, &forced).changes.is_empty());
    let mut slow = new.clone();
    alter_all(&mut slow, |it| it.load.requests_per_second *= 0.1);
    let far = compared(&old, &slow, &options);
    assert!(!far.facts.nothing_differs && far.gate.as_ref().unwrap().fails(), "{far:#?}");
    let warnings = far.facts.warnings.join("\n");
    assert!(warnings.contains("what it reads may differ"), "{far:#?}");
    let [was, is] = [machine(), Environment { kernel: "6.2.0".into(), ..machine() }];
    let other_kernel = compare_on([Some(&was), Some(&is)], &old, &new, &options).unwrap();
    assert!(!other_kernel.facts.nothing_differs);
    let unknown = compare_on([None, Some(&is)], &old, &new, &options).unwrap();
    assert!(!unknown.facts.nothing_differs);
}

#[test]
fn a_program_that_may_run_others_or_had_other_variables_is_not_known_to_be_the_same() {
    let old = with_go(10, 1, (1.0, 1.0));
    let new = old.clone();
    let other = Environment { other_variables: Some("0011".into()), ..machine() };
    let with_variables = Environment { other_variables: Some("2233".into()), ..machine() };
    let compared = |new: &Journal, environment: &Environment| {
        let machines = [Some(&other), Some(environment)];
        let comparison = compare_on(machines, &old, new, &CompareOptions::default()).unwrap();
        (
            comparison.facts.nothing_differs,
            comparison.facts.baseline_drift.is_empty(),
            comparison.facts.warnings.join(" "),
        )
    };
    let mut script = new.clone();
    script.start.variants.iter_mut().for_each(|it| it.runs_others = true);
    assert!(compared(&new, &other).0);
    for (new, environment) in [(&script, &other), (&new, &with_variables)] {
        let (is_same, has_no_yardstick, warnings) = compared(new, environment);
        assert!(!is_same && has_no_yardstick, "{warnings}");
        assert!(warnings.contains("the same program in both is not known"), "{warnings}");
    }
    assert!(compared(&new, &with_variables).2.contains("other_variables was `0011` and is `2233`"));
}

#[test]
fn a_baseline_that_changed_itself_is_no_yardstick_but_a_cell_as_any_other() {
    let slower = |journal: &mut Journal| {
        for it in measurements(journal, BASE, "hello") {
            it.load.requests_per_second *= 0.9;
        }
    };
    let same = Some("0011");
    let reasons = [
        (Some("0022"), Some("4455"), "is not the same program in both"),
        (same, Some("6677"), "is not the same program in both"),
        (None, Some("4455"), "the same program in both is not known"),
        // As in results of earlier versions.
        (same, None, "the same program in both is not known"),
    ];
    for (fingerprint, mapped, reason) in reasons {
        let (old, mut new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (1.0, 1.0)));
        slower(&mut new);
        new.start.variants[0].fingerprint = fingerprint.map(str::to_owned);
        for run in &mut new.runs {
            match &mut run.outcome {
                Outcome::Measured(it) => it.cost.mapped = mapped.map(str::to_owned),
                Outcome::Idle(it) => it.mapped = mapped.map(str::to_owned),
                Outcome::Failed { .. } => {}
            }
        }
        let comparison = compared(&old, &new, &CompareOptions::default());
        assert!(comparison.facts.baseline_drift.is_empty());
        assert!(comparison.changes.iter().all(|it| it.relative_to.is_none()));
        let change = &comparison.changes[0];
        assert_eq!(change.cell.server, BASE);
        assert_eq!(change.movement(), Some(Movement::Worse));
        let told = comparison.facts.warnings.iter().any(|warning| warning.contains(reason));
        assert!(told, "{:#?}", comparison.facts.warnings);
    }
}

#[test]
fn a_condition_on_a_figure_that_is_not_there_warns() {
    let (mut old, new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (1.0, 1.0)));
    old.runs.retain(|run| run.workload == "hello-idle");
    let comparison = compared(&old, &new, &conditions(&["throughput < -3%", "memory > 5%"]));
    let gate = comparison.gate.unwrap();
    assert_eq!(gate.warnings.len(), 1, "{gate:#?}");
    assert!(gate.warnings[0].contains("no cell has this metric on both sides"), "{gate:#?}");
    let counts =
        |index: usize| (gate.conditions[index].looked_at, gate.conditions[index].kept.len());
    assert_eq!((counts(0), counts(1)), ((0, 0), (2, 2)));
}

#[test]
fn a_bound_claims_only_what_lies_on_its_own_side() {
    use Claim::{CannotTell, Higher, Lower, NotHigher};
    let limited = |mut journal: Journal, variant, is_limited: bool| {
        let measured = measurements(&mut journal, variant, "hello").filter(|_| is_limited);
        measured.for_each(|it| it.bound = Bound::Generator);
        journal
    };
    for (variant, rate, [old, new], claim) in [
        ("go/net", 0.9, [false, false], Lower),
        ("go/net", 0.9, [true, false], Lower),
        ("go/net", 0.9, [false, true], CannotTell),
        ("go/net", 0.9, [true, true], CannotTell),
        ("go/net", 1.1, [false, true], Higher),
        ("go/net", 1.1, [true, false], CannotTell),
        ("go/net", 1.0, [true, false], NotHigher),
        // The old ratio to a baseline that is a bound is at most what was found, so the change is at
        // least that.
        (BASE, 0.9, [true, false], CannotTell),
        (BASE, 1.1, [true, false], Higher),
        (BASE, 0.9, [false, true], Lower),
        (BASE, 1.1, [false, true], CannotTell),
        (BASE, 0.9, [true, true], Lower),
    ] {
        let old_result = limited(with_go(10, 1, (1.0, 1.0)), variant, old);
        let new_result = limited(with_go(10, 2, (rate, 1.0)), variant, new);
        let comparison = compared(&old_result, &new_result, &CompareOptions::default());
        let found = go(&comparison, "hello", Metric::Throughput).ratio.judged.claim;
        assert_eq!(found, Some(claim), "{variant} {rate} {old} {new}");
    }
}

#[test]
fn what_is_not_passed_is_shown_everywhere_with_its_reason() {
    let mut old = with_go(10, 1, (1.0, 1.0));
    measurements(&mut old, "go/net", "hello").for_each(|it| it.bound = Bound::Generator);
    let new = with_go(10, 2, (1.0, 1.0));
    let comparison = compared(&old, &new, &conditions(&["throughput < -3%"]));
    assert!(!fails(&comparison));
    let text = comparison.text(Rows::ThatCount);
    let (_, conditions) = text
        .split_once(
            "

inconclusive ",
        )
        .unwrap();
    crate::fixtures::assert_golden("compare/inconclusive.txt", conditions);
    let value: serde_json::Value = serde_json::from_str(&comparison.json()).unwrap();
    let gate = &value["gate"];
    assert_eq!(gate["verdict"], "inconclusive");
    let open = &gate["conditions"][0]["inconclusive"];
    assert_eq!(open.as_array().unwrap().len(), 1, "{gate:#}");
    assert!(open[0]["why"].as_str().unwrap().contains("saturated"), "{gate:#}");
}

#[test]
fn a_figure_that_is_zero_in_a_block_has_no_change_and_that_is_said() {
    let (old, mut new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (1.0, 1.5)));
    for run in new.runs.iter_mut().filter(|it| it.variant.to_string() == "go/net" && it.block == 4)
    {
        let Outcome::Idle(measurement) = &mut run.outcome else { continue };
        measurement.memory_bytes_per_connection = -100.0;
    }
    let comparison = compared(&old, &new, &CompareOptions::default());
    let is_it = |it: &&Change| it.metric == Metric::MemoryPerConnection;
    let cells: Vec<String> =
        comparison.changes.iter().filter(is_it).map(|it| it.cell.entry()).collect();
    assert_eq!(cells, ["rust/tokio"]);
    let expected = "hello-idle go/net: no change, because memory/connection is 0 in some cohorts";
    assert!(comparison.facts.warnings.iter().any(|it| it.starts_with(expected)), "{comparison:#?}");
}

#[test]
fn a_cell_on_one_side_is_listed_and_one_that_broke_fails_a_gate() {
    let old = with_go(10, 1, (1.0, 1.0));
    let without_go = |mut journal: Journal| {
        journal.runs.retain(|run| run.variant.to_string() != "go/net");
        journal
    };
    let options = conditions(&["throughput < -3%"]);
    let absent = compared(&old, &without_go(with_go(10, 2, (1.0, 1.0))), &options);
    assert_eq!(absent.facts.left_out.len(), 3, "{:#?}", absent.facts.left_out);
    assert_eq!(absent.facts.left_out[0].presence, Presence::OldOnly);
    assert!(!fails(&absent));
    let mut broken = without_go(with_go(10, 2, (1.0, 1.0)));
    let variant = "go/net".parse().unwrap();
    broken.unavailable.push(Unavailable {
        variant,
        reason: "it does not build".into(),
        cause: wirebench_schema::journal::Cause::Broken,
    });
    let broken = compared(&old, &broken, &options);
    assert_eq!(broken.facts.left_out[0].presence, Presence::Lost);
    let text = broken.facts.left_out[0].to_string();
    let expected = "hello go/net: only in the older result: it does not build";
    assert_eq!((text.as_str(), fails(&broken)), (expected, true));
    let appeared = compared(&without_go(old), &with_go(10, 2, (1.0, 1.0)), &options);
    assert!(appeared.facts.left_out.iter().all(|it| it.presence == Presence::NewOnly));
    assert!(!fails(&appeared));
}

#[test]
fn a_figure_that_a_condition_names_and_that_is_not_known_any_more_fails_a_gate() {
    let (old, mut new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (1.0, 1.0)));
    measurements(&mut new, "go/net", "hello-cost").for_each(|it| it.cost.cpu_ns_per_request = None);
    let named = compared(&old, &new, &conditions(&["cpu > +5%"]));
    let gate = named.gate.clone().unwrap();
    let [lost] = gate.lost.as_slice() else { panic!("{gate:#?}") };
    assert_eq!(lost.cell.to_string(), "hello-cost go/net");
    assert_eq!(lost.reason, "server CPU us/request is missing in the newer result");
    assert!(fails(&named));
    assert!(!fails(&compared(&old, &new, &conditions(&["throughput < -5%"]))));
    assert!(!fails(&compared(&new, &old, &conditions(&["cpu > +5%"]))));
}

#[test]
fn a_cell_whose_runs_all_failed_is_lost_and_one_of_which_some_failed_is_doubtful() {
    let (old, mut new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (1.0, 1.0)));
    for run in &mut new.runs {
        let is_go = run.variant.to_string() == "go/net" && run.workload == "hello";
        let is_one_tokio = run.variant.to_string() == "rust/tokio" && run.block == 3;
        if is_go || is_one_tokio {
            let (reason, server_stderr) = ("the server ended".into(), String::new());
            run.outcome = Outcome::Failed { reason, server_stderr };
        }
    }
    let comparison = compared(&old, &new, &conditions(&["p99 > +10%"]));
    assert_eq!(
        comparison.facts.left_out[0].to_string(),
        "hello go/net: only in the older result: failed: the server ended"
    );
    assert!(fails(&comparison));
    let tokio = comparison.changes.iter().find(|it| it.cell.entry() == "rust/tokio").unwrap();
    let cell = comparison.cells.iter().find(|it| it.id == tokio.cell).unwrap();
    assert_eq!((cell.runs.measured, cell.runs.failed), (9, 1));
    let doubts: Vec<String> = tokio.doubts.concat().iter().map(ToString::to_string).collect();
    assert_eq!(doubts, ["in the newer result: failed: the server ended"]);
}

#[test]
fn the_figures_that_are_compared_can_be_chosen() {
    let (old, new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (1.0, 1.0)));
    let options = CompareOptions {
        metrics: vec![Metric::Memory, Metric::Throughput],
        ..CompareOptions::default()
    };
    let comparison = compared(&old, &new, &options);
    let mut found: Vec<_> =
        comparison.changes.iter().map(|it| (it.cell.load.as_str(), it.metric)).collect();
    found.sort_unstable();
    found.dedup();
    // Throughput at a given rate is that rate, and no figure of the server's.
    let expected = [
        ("hello", Metric::Throughput),
        ("hello", Metric::Memory),
        ("hello-cost", Metric::Memory),
        ("hello-idle", Metric::MemoryPerConnection),
    ];
    assert_eq!(found, expected);
    let nowhere = |journal: &Journal| {
        let mut loads = journal.clone();
        loads.runs.retain(|run| run.workload != "hello-idle");
        loads
    };
    let options = CompareOptions { metrics: vec![Metric::MemoryIdle], ..CompareOptions::default() };
    let comparison = compared(&nowhere(&old), &nowhere(&new), &options);
    let missing = "memory-idle was not measured (saturate, cost)".to_owned();
    assert!(comparison.changes.is_empty() && comparison.facts.warnings.contains(&missing));
    let shown = comparison.text(Rows::All);
    assert!(shown.contains("\nnothing compared: ") && shown.contains(&missing), "{shown}");
}
