//! The statistical rules: how often nothing is called a change, what is found, and what withholds every
//! verdict.

use super::*;
use std::collections::BTreeSet;

#[test]
fn noise_alone_is_hardly_ever_a_change() {
    let noisy = |cohorts, seed| {
        result(cohorts, |place| (noise(place, seed, 0.02), noise(place, seed + 5000, 0.02)))
    };
    let limits = conditions(&["throughput < -1%", "cpu > +1%", "p99 > +1%"]);
    for cohorts in [4, 10] {
        let experiments = 60;
        let (mut families, mut wrong) = (0, 0);
        for seed in 0..experiments {
            let comparison = compared(&noisy(cohorts, seed), &noisy(cohorts, seed + 1000), &limits);
            let of = |it: &Change| (it.cell.load.clone(), it.metric);
            let all: BTreeSet<_> = comparison.changes.iter().map(of).collect();
            let moved = comparison.changes.iter().filter(|it| it.movement().is_some());
            families += all.len();
            wrong += moved.map(of).collect::<BTreeSet<_>>().len();
        }
        // At most 5 % are expected, and three standard errors are allowed.
        let share = wrong as f64 / families as f64;
        let allowed = 0.05 + 3.0 * (0.05 * 0.95 / families as f64).sqrt();
        assert!(share <= allowed, "{cohorts} cohorts: {wrong} of {families}");
    }
}

#[test]
fn four_cohorts_on_each_side_find_five_percent() {
    let result = |seed: u64, go: f64| {
        result(4, |place| {
            let factor = if place.variant == "go/net" { go } else { 1.0 };
            (factor * noise(place, seed, 0.01), 1.0)
        })
    };
    let found = (0..40).filter(|seed| {
        let comparison =
            compared(&result(*seed, 1.0), &result(seed + 1000, 0.95), &CompareOptions::default());
        go(&comparison, "hello", Metric::Throughput).movement() == Some(Movement::Worse)
    });
    let found = found.count();
    assert!(found >= 36, "{found} of 40");
}

#[test]
fn two_instances_of_the_baseline_that_differ_withhold_every_verdict() {
    let apart = |seed: u64, second: f64| {
        result(10, |place: Place<'_>| {
            let factor = if place.copy == 1 { second } else { 1.0 };
            let go = if place.variant == "go/net" && seed == 2 { 0.9 } else { 1.0 };
            (go * factor * noise(place, seed, 0.003), 1.0)
        })
    };
    let options = conditions(&["throughput < -3%"]);
    for (old, new) in [(1.08, 1.0), (1.0, 1.08)] {
        let comparison = compared(&apart(1, old), &apart(2, new), &options);
        let change = go(&comparison, "hello", Metric::Throughput);
        let why = change.ratio.judged.inconclusive;
        assert_eq!(why, Some(Inconclusive::BaselineCheckFailed), "{change:#?}");
        assert!(change.movement().is_none());
        let gate = comparison.gate.clone().unwrap();
        assert_eq!(
            (gate.verdict, gate.conditions[0].inconclusive.len()),
            (GateVerdict::Inconclusive, 2)
        );
        let shown = comparison.text(Rows::All);
        assert!(
            shown.contains("inconclusive: the two instances of the baseline differ"),
            "{shown}"
        );
    }
    let quiet = compared(&apart(1, 1.0), &apart(2, 1.0), &options);
    assert!(go(&quiet, "hello", Metric::Throughput).movement().is_some() && fails(&quiet));
}

#[test]
fn results_of_one_instance_per_row_and_block_are_compared() {
    let alone = |seed: u64, go: f64| {
        let mut journal = with_go(4, seed, (go, 1.0));
        journal.runs.retain(|run| run.copy == 0);
        journal.start.baseline_copies = 1;
        journal
    };
    let comparison = compared(&alone(1, 1.0), &alone(2, 0.9), &conditions(&["throughput < -3%"]));
    let change = go(&comparison, "hello", Metric::Throughput);
    assert_eq!(change.relative_to, Some(BASE.parse().unwrap()));
    assert_eq!((change.movement(), fails(&comparison)), (Some(Movement::Worse), true));
}

#[test]
fn fewer_than_three_cohorts_show_nothing_and_an_inconclusive_gate_says_so() {
    let (old, new) = (with_go(2, 1, (1.0, 1.0)), with_go(10, 2, (0.5, 2.0)));
    let comparison = compared(&old, &new, &conditions(&["throughput < -3%"]));
    let change = go(&comparison, "hello", Metric::Throughput);
    let ratio = &change.ratio.judged;
    assert_eq!((ratio.estimate.interval, ratio.claim), (None, Some(Claim::CannotTell)));
    let gate = comparison.gate.clone().unwrap();
    assert!(!gate.fails());
    let expected = "'throughput < -3%' is inconclusive in 2 of 2 cells: it needs 3 cohorts with";
    assert!(gate.warnings[0].starts_with(expected), "{gate:#?}");
    assert!(gate.warnings[0].ends_with("have 2; measure with --cohorts 3"), "{gate:#?}");
    assert!(gate.conditions[0].inconclusive[0].why.contains("too few cohorts"), "{gate:#?}");
    assert_eq!((gate.conditions[0].looked_at, gate.conditions[0].kept.len()), (2, 0));
    assert!(comparison.markdown().contains("**Conditions: inconclusive**"));
    assert!(comparison.facts.warnings.iter().any(|it| it.starts_with("old has 2 cohorts")));
}
