//! The verdicts: what is claimed of which figures, how often it is wrong, and what it finds.

use super::*;
use crate::analysis::Inconclusive;

fn with(mut journal: Journal, change: impl Fn(&mut Journal)) -> Journal {
    change(&mut journal);
    journal
}

/// The same after an end for another reason.
fn until(journal: Journal, reason: EndReason) -> Journal {
    with(journal, |it| ended(it, reason))
}

/// Saturated servers, of which A handles 100 000 requests/s.
fn saturated(cohorts: usize, b: f64, outcome: fn(f64) -> Outcome) -> Journal {
    with(two("saturate"), |it| runs(it, cohorts, (1e5, b), 1.0, outcome))
}

#[test]
fn each_outcome_has_its_sentence_with_the_interval_and_the_next_step() {
    use Metric::{Cpu, Throughput};
    let noisy = || costs(1.0, 12.0);
    let few = |cohorts| {
        let journal = with(two("cost"), |it| runs(it, cohorts, (1e4, 2e4), 1.0, cost));
        until(journal, EndReason::Complete)
    };
    let at_limit =
        |b| with(saturated(14, b, rate), |it| alter(it, "ab/B", |it| it.bound = Bound::Generator));
    let both_at_limit = saturated(14, 1.2e5, |value| limited(rate(value)));
    let precise = with(until(noisy(), EndReason::Precise), |it| {
        it.start.goal.precision = Some(0.005);
    });
    let unknown = with(costs(1.1, 1.0), |it| {
        alter(it, "ab/B", |it| {
            it.cost.cpu_ns_per_request = None;
            it.reasons.push(ReasonKind::NoCost.reason(Weight::Note, Some(7.0), ""));
        });
    });
    assert_eq!(of(&unknown, &[]).half_width(), Some(0.0));
    let longer = with(noisy(), |it| {
        it.runs[0].started = "2026-01-02T03:04:05Z".to_owned();
        it.end.as_mut().unwrap().ended = "2026-01-02T03:06:25Z".to_owned();
    });
    let cases = [
        ("more", costs(1.052, 1.0), Cpu),
        ("less", costs(0.9, 1.0), Cpu),
        ("more requests", saturated(8, 2.5e5, rate), Throughput),
        ("same", costs(1.0, 1.0), Cpu),
        ("0.5 % more", costs(1.005, 1.0), Cpu),
        ("0.4 % less", costs(0.996, 1.0), Cpu),
        ("narrow margin", with(costs(1.005, 1.0), |it| it.start.margin = Some(0.001)), Cpu),
        ("same p99", costs(1.052, 1.0), Metric::P99),
        ("a process per run", older(14, 1.0), Cpu),
        ("cost unknown", unknown, Cpu),
        ("two cohorts", few(2), Cpu),
        ("three cohorts", few(3), Cpu),
        ("both at the generator's limit", both_at_limit.clone(), Throughput),
        ("CPU at the generator's limit", both_at_limit, Cpu),
        ("B at the generator's limit", at_limit(1.2e5), Throughput),
        ("B at the generator's limit and alike", at_limit(1e5), Throughput),
        ("budget", noisy(), Cpu),
        ("budget, and longer", longer, Cpu),
        ("precision", precise, Cpu),
        ("cohorts", until(noisy(), EndReason::Complete), Cpu),
        ("interrupted", with(noisy(), |it| it.end = None), Cpu),
    ];
    let sentences = cases.map(|(name, journal, metric)| {
        let ab = by(&journal, Some(metric), &[]);
        format!("{name}: {}: {}\n", ab.verdict.name(), ab.sentence())
    });
    assert_golden("ab/sentences.txt", &sentences.concat());
}

#[test]
fn a_server_that_was_not_saturated_is_named() {
    let mut journal = two("saturate");
    runs(&mut journal, 4, (10_000.0, 10_500.0), 1.0, cost);
    let usual = of(&journal, &[]).page(None);
    alter(&mut journal, "ab/B", |it| it.cost.cpu_share = 0.71);
    let ab = of(&journal, &[]);
    expect![[r#"
        + not saturated: B (busy 71 %); CPU per request includes wake-ups; consider --rate
    "#]]
    .assert_eq(&difference_in_words(&usual, &ab.page(None)));
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
    assert!(!of(&older(14, 1.0), &[]).details().contains("A/A"));
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
