//! The verdicts: what is claimed of which figures, how often it is wrong, and what it finds.

use super::*;
use crate::analysis::Inconclusive;

#[test]
fn a_difference_has_its_size_its_interval_and_its_cohorts() {
    assert_golden("ab/sentence-more.txt", &sentence(&costs(1.052, 1.0)));
    assert_golden("ab/sentence-less.txt", &sentence(&costs(0.9, 1.0)));
    let mut faster = two("saturate");
    runs(&mut faster, 8, (1e5, 2.5e5), 1.0, rate);
    let throughput = by(&faster, Some(Metric::Throughput), &[]);
    expect!["B handles 150 % more requests/s than A (95 % interval +150 to +150 %, 8 cohorts)"]
        .assert_eq(&throughput.sentence());
    // Without a wish the verdict is about the CPU time, at any load.
    assert_eq!(of(&faster, &[]).metric, Metric::Cpu);
}

#[test]
fn servers_that_differ_by_less_than_the_margin_are_the_same() {
    let same = [1.0, 1.005, 0.996].map(|ratio| (ratio, sentence(&costs(ratio, 1.0))));
    assert_golden_cases("ab/sentences-same.txt", same);
    let mut strict = costs(1.005, 1.0);
    strict.start.margin = Some(0.001);
    assert_golden("ab/sentence-narrow-margin.txt", &sentence(&strict));
}

#[test]
fn an_inconclusive_result_has_a_next_step() {
    let mut journal = costs(1.0, 12.0);
    let mut shown = vec![("budget", sentence(&journal))];
    ended(&mut journal, EndReason::Precise);
    journal.start.goal.precision = Some(0.005);
    shown.push(("precision", sentence(&journal)));
    ended(&mut journal, EndReason::Complete);
    shown.push(("cohorts", sentence(&journal)));
    journal.end = None;
    shown.push(("interrupted", sentence(&journal)));
    journal.runs[0].started = "2026-01-02T03:04:05Z".to_owned();
    let ended = "2026-01-02T03:06:25Z".to_owned();
    journal.end = Some(End { ended, reason: EndReason::Budget });
    assert!(sentence(&journal).ends_with("next step: --budget 560s to halve the interval"));
    assert_golden_cases("ab/sentences-next-step.txt", shown);
}

#[test]
fn a_side_whose_cost_is_unknown_has_no_verdict_but_the_reason() {
    let mut journal = costs(1.1, 1.0);
    alter(&mut journal, "ab/B", |it| {
        it.cost.cpu_ns_per_request = None;
        it.reasons.push(ReasonKind::NoCost.reason(Weight::Note, Some(7.0), ""));
    });
    expect![
        "inconclusive: no cohort has the CPU per request of both A and B: CPU time unknown: server processes \
         started or ended unseen. Make the server wait for its children, or use --procedure process."
    ]
    .assert_eq(&sentence(&journal));
    assert_eq!(half_width(&journal, Metric::Cpu), Some(0.0));
}

#[test]
fn too_few_cohorts_show_nothing_however_large_the_difference() {
    let mut journal = two("cost");
    runs(&mut journal, 2, (10_000.0, 20_000.0), 1.0, cost);
    ended(&mut journal, EndReason::Complete);
    let ab = of(&journal, &["cpu > +3%"]);
    assert_golden("ab/sentence-too-few.txt", &ab.sentence());
    assert_eq!(ab.verdict.name(), "inconclusive");
    assert!(!ab.gate.as_ref().unwrap().fails());
    let mut journal = two("cost");
    runs(&mut journal, 3, (10_000.0, 20_000.0), 1.0, cost);
    assert_eq!(of(&journal, &[]).verdict, Verdict::Claimed(Claim::Higher));
}

#[test]
fn a_generator_at_its_limit_leaves_a_bound_of_the_throughput_and_the_cost_as_it_is() {
    let throughput = |journal: &Journal| by(journal, Some(Metric::Throughput), &[]).sentence();
    let mut journal = two("saturate");
    runs(&mut journal, 14, (1e5, 1.2e5), 1.0, |value| limited(rate(value)));
    assert_golden("ab/sentence-bound-of-both.txt", &throughput(&journal));
    assert_eq!(of(&journal, &[]).verdict, Verdict::Claimed(Claim::Same));
    let mut journal = two("saturate");
    runs(&mut journal, 14, (1e5, 1.2e5), 1.0, rate);
    alter(&mut journal, "ab/B", |it| it.bound = Bound::Generator);
    assert_golden("ab/sentence-bound-of-b.txt", &throughput(&journal));
    for run in journal.runs.iter_mut().filter(|run| run.variant.entry() == "ab/A") {
        run.outcome = rate(1.2e5);
    }
    assert_golden("ab/sentence-bound-above.txt", &throughput(&journal));
}

#[test]
fn a_server_that_was_not_saturated_is_named() {
    let mut journal = two("saturate");
    runs(&mut journal, 4, (10_000.0, 10_500.0), 1.0, cost);
    let saturated = of(&journal, &[]).page(None);
    alter(&mut journal, "ab/B", |it| it.cost.cpu_share = 0.71);
    let ab = of(&journal, &[]);
    expect![[r#"
        not saturated: B (busy 71 %); CPU per request includes wake-ups; consider --rate
    "#]]
    .assert_eq(&added(&ab.page(None), &saturated));
    // At a rate no server is saturated.
    assert!(!of(&costs(1.05, 1.0), &[]).page(None).contains("not saturated"));
    assert_eq!(ab.verdict, Verdict::Claimed(Claim::Higher));
}

#[test]
fn a_figure_has_a_check_of_its_own() {
    let journal = apart(costs(1.2, 1.0), "ab/B");
    let ratio = |metric| by(&journal, Some(metric), &[]).ratio().unwrap().judged.clone();
    assert_eq!(ratio(Metric::Cpu).inconclusive, Some(Inconclusive::BaselineCheckFailed));
    assert_eq!(ratio(Metric::P99).claim, Some(Claim::Same));
}

#[test]
fn older_journals_with_one_run_of_either_side_in_a_block_have_no_checks() {
    let journal = older(14, 1.0);
    assert!(!of(&journal, &[]).details().contains("A/A"));
    assert_golden("ab/sentence-older-same.txt", &sentence(&journal));
}

#[test]
fn further_figures_are_one_family() {
    let journal = costs(1.0, 1.0);
    let ab = of(&journal, &[]);
    let reach = |metric: Metric| {
        let ratio = &crate::ab::view::ratio(&ab.cells, metric).unwrap().judged;
        ratio.estimate.interval.unwrap().width() / ratio.plain_interval.unwrap().width()
    };
    assert!(reach(Metric::Switches) > 1.2 * reach(Metric::Cpu));
}

/// How many of this many comparisons of servers that differ by `ratio` claim a difference, with four
/// cohorts. The machine becomes slower and faster from cohort to cohort, and an instance scatters by
/// 1 % within one.
fn claimed(ratio: f64, experiments: usize) -> usize {
    let mut random = fastrand::Rng::with_seed(11);
    let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
    let mut experiment = |_: &usize| {
        let mut journal = two("saturate");
        let mut machine = 10_000.0;
        let machine: Vec<f64> = (0..4)
            .map(|_| {
                machine *= 1.01 + 0.03 * normal();
                machine
            })
            .collect();
        for (name, copy, _) in INSTANCES {
            let level = if name == "ab/B" { ratio } else { 1.0 };
            let noise: Vec<f64> =
                machine.iter().map(|it| it * level * (1.0 + 0.01 * normal())).collect();
            add(&mut journal, "hello", (name, copy), noise, cost);
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
