//! Tries from synthetic cohorts, and their text.

use super::*;
use crate::{
    ab::tests::two,
    fixtures::{add, alter_runs, cost, reason, with_reason},
};
use expect_test::expect;
use wirebench_schema::journal::{Described, Run, Weight};

const TIME: TryTime =
    TryTime { cohort: Duration::from_millis(2500), budget: Duration::from_secs(40) };

/// A run in which each figure has noise of this deviation.
fn run(cohorts: usize, deviation: f64) -> Journal {
    let mut journal = two("saturate");
    let described = journal.start.variants[0].clone();
    let variant = |(name, _): &(&str, f64)| format!("{SUITE}/{name}").parse().unwrap();
    let variants = SERVERS.iter().map(|it| Described { variant: variant(it), ..described.clone() });
    journal.start.variants = variants.collect();
    journal.start.suite = SUITE.to_owned();
    journal.start.baselines = vec![variant(&SERVERS[0])];
    let mut random = Rng::with_seed(7);
    for (name, share) in SERVERS {
        for copy in 0..INSTANCES {
            let mut noise = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
            let values = (0..cohorts).map(|_| 5000.0 * (1.0 + share) * (deviation * noise()).exp());
            let values: Vec<f64> = values.collect();
            add(&mut journal, "hello", (&format!("{SUITE}/{name}"), copy), values, cost);
        }
    }
    journal
}

#[test]
fn a_quiet_machine_finds_small_differences_and_a_noisy_one_large_ones() {
    let [quiet, usual, noisy] = [0.001, 0.01, 0.03].map(|deviation| {
        let detection = Detection::of(&run(10, deviation), TIME).unwrap();
        detection.differences.iter().map(|it| it.found).collect::<Vec<_>>()
    });
    assert!(quiet[0] <= 5 && quiet[2..] == [100; 3], "{quiet:?}");
    assert!(usual[0] <= 5 && usual[1] < 50 && usual[4] == 100, "{usual:?}");
    assert!(noisy[0] <= 5 && noisy[3] < 50, "{noisy:?}");
}

#[test]
fn a_difference_between_equal_servers_is_dealt_to_both_sides() {
    let mut journal = run(10, 0.004);
    let again = format!("{SUITE}/plain-again");
    let of_again = |it: &Run| it.variant.entry() == again;
    alter_runs(&mut journal, of_again, |it| {
        it.cost.cpu_ns_per_request = it.cost.cpu_ns_per_request.map(|ns| ns * 1.01);
    });
    let detection = Detection::of(&journal, TIME).unwrap();
    let equal = &detection.differences[0];
    assert!(equal.measured.value > 1.005 && equal.found <= 5, "{equal:?}");
}

#[test]
fn looks_are_those_of_a_comparison_that_uses_up_its_budget() {
    let looks = looks(TIME);
    assert_eq!(looks.iter().map(|it| it.cohorts).collect::<Vec<_>>(), [3, 4, 5, 6, 8, 10, 12, 16]);
    assert_eq!((looks[0].share, looks[7].share), (3.0 / 16.0, 1.0));
    let slow = super::looks(TryTime { cohort: Duration::from_secs(30), ..TIME });
    assert_eq!(slow, [PlannedLook { cohorts: 3, share: 1.0 }]);
}

#[test]
fn the_text_says_what_is_found_and_from_which_cohorts() {
    let text = |cohorts: usize, deviation: f64| {
        Detection::of(&run(cohorts, deviation), TIME).unwrap().text() + "\n"
    };
    expect![[r#"
        `wirebench ab` finds +0.6 % ±0.2 (0.5 % more work) in 25 s in 99 of 100 tries, 1 false alarm in 100

        extra work  measured                found in          median time
        0 %         +0.0 % ±0.3             1 of 100 tries    40 s         false alarms
        0.5 %       +0.6 % ±0.2             99 of 100 tries   25 s
        1 %         +1.0 % ±0.2             99 of 100 tries   20 s
        2 %         +1.9 % ±0.2             100 of 100 tries  10 s
        5 %         +5.0 % ±0.2             100 of 100 tries  8 s

        Each try is a comparison as `wirebench ab` makes it, with a margin of 0.5 % and a budget of 40 s.
        Its cohorts, of 2.5 s, are drawn with replacement from the 10 of this run, in which the built-in
        server and copies of it with more work per request ran side by side.
    "#]].assert_eq(&text(10, 0.004));
    expect![[r#"
        `wirebench ab` finds +6 % ±5 (5 % more work) in 30 s in 92 of 100 tries, 0 false alarms in 100

        extra work  measured                found in          median time
        0 %         +0 % ±6                 0 of 100 tries    40 s         false alarms
        0.5 %       -2 % ±5                 0 of 100 tries    40 s
        1 %         -1 % ±5                 0 of 100 tries    40 s
        2 %         +2 % ±5                 3 of 100 tries    40 s
        5 %         +6 % ±5                 92 of 100 tries   30 s

        Each try is a comparison as `wirebench ab` makes it, with a margin of 0.5 % and a budget of 40 s.
        Its cohorts, of 2.5 s, are drawn with replacement from the 4 of this run, in which the built-in
        server and copies of it with more work per request ran side by side. With fewer than 8, tries repeat
        each other and find too much: give a longer --budget.
    "#]].assert_eq(&text(4, 0.05));
}

#[test]
fn a_run_without_three_valid_cohorts_has_a_reason() {
    let of = |journal: &Journal| Detection::of(journal, TIME).unwrap_err();
    let mut texts = vec![of(&run(2, 0.01)), of(&run(0, 0.01))];
    let shared = reason(Weight::Invalid, "both sides share a CPU");
    texts.push(of(&with_reason(run(4, 0.01), &shared)));
    expect![[r#"
        2 cohorts have valid figures of every server, at least 3 are needed
        plain was not run
        plain is not valid in 8 of 8 runs: some requests failed. Check the server's log
    "#]]
    .assert_eq(&(texts.join("\n") + "\n"));
}
