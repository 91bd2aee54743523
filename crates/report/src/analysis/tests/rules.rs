//! Fixed margins, the check of the baseline, limits and saturation.

use wirebench_schema::journal::ReasonKind;

use super::*;

#[test]
fn three_cohorts_find_a_factor_and_two_claim_nothing() {
    let mut journal = pair(0.5);
    journal.runs.retain(|run| run.block < 3);
    assert_eq!(claim(&journal, "go/net"), Claim::Lower);
    assert!(rank(&journal, "go/net").is_some());
    journal.runs.retain(|run| run.block < 2);
    let (ratio, rank) = (judged(&journal, "go/net"), rank(&journal, "go/net"));
    let ratio = ratio.unwrap();
    assert_eq!((ratio.claim, ratio.estimate.samples), (Some(Claim::CannotTell), 2));
    assert_eq!(ratio.inconclusive, Some(Inconclusive::TooFewCohorts));
    assert_eq!((ratio.estimate.interval, ratio.p_adjusted, rank), (None, None, None));
    let (least, most) = ratio.range().unwrap();
    assert!(least <= ratio.estimate.value && ratio.estimate.value <= most);
    let check = rows(&journal)[0].compare(Metric::Throughput).baseline_check;
    assert_eq!(check.state, CheckState::Absent);
}

#[test]
fn a_ratio_refers_to_the_geometric_mean_of_both_instances_of_the_baseline() {
    let mut journal = pair(1.0);
    alter_runs(&mut journal, |run| run.copy == 1, |it| it.load.requests_per_second *= 1.01);
    let ratio = judged(&journal, "go/net").unwrap();
    assert!((ratio.estimate.value - 1.01_f64.powf(-0.5)).abs() < 1e-3, "{ratio:?}");
    let (least, most) = ratio.range().unwrap();
    let value = ratio.estimate.value;
    assert!(least > 0.98 * value && most < 1.02 * value, "{ratio:?}");
}

#[test]
fn a_baseline_whose_instances_differ_withholds_the_verdicts_of_its_load() {
    let mut journal = pair(0.8);
    assert_eq!(claim(&journal, "go/net"), Claim::Lower);
    let check = |journal: &Journal| rows(journal)[0].compare(Metric::Throughput).baseline_check;
    assert_eq!(check(&journal).state, CheckState::Passed);
    // The second instance is 10 % faster in every cohort.
    alter_runs(&mut journal, |run| run.copy == 1, |it| it.load.requests_per_second *= 1.10);
    let found = check(&journal);
    assert_eq!(found.state, CheckState::Suspicious);
    assert!((found.second_over_first.unwrap().value - 1.10).abs() < 0.01, "{found:?}");
    let ratio = judged(&journal, "go/net").unwrap();
    assert_eq!(ratio.claim, Some(Claim::CannotTell));
    assert_eq!(ratio.inconclusive, Some(Inconclusive::BaselineCheckFailed));
    assert_eq!(rank(&journal, "go/net"), None);
    assert_eq!(judged(&journal, "c/epoll (A/A)").unwrap().claim, None);
    // CPU time per request is the same in both, so its verdicts stand.
    let workload = rows(&journal).remove(0);
    assert_eq!(workload.compare(Metric::Cpu).baseline_check.state, CheckState::Passed);
}

#[test]
fn instances_that_may_differ_by_the_margin_either_way_are_too_noisy_to_tell() {
    let check = |reach: f64| {
        let mut journal = pair(1.0);
        for (parity, sign) in [(0, 1.0), (1, -1.0)] {
            let is_meant = |run: &Run| run.copy == 1 && run.block % 2 == parity;
            alter_runs(&mut journal, is_meant, |it| {
                it.load.requests_per_second *= 1.0 + sign * reach;
            });
        }
        let text = text(&journal, Metric::Throughput);
        let line = text.lines().find(|line| line.starts_with("A/A: ")).unwrap().to_owned();
        let found = rows(&journal)[0].compare(Metric::Throughput).baseline_check;
        (found.state, line)
    };
    let (state, line) = check(0.0);
    let text = "A/A: two instances of c/epoll differ by +0.0 % ±0.5 with 99 % confidence: passed";
    assert_eq!((state, line.as_str()), (CheckState::Passed, text));
    let (state, line) = check(0.3);
    assert_eq!(state, CheckState::TooNoisy);
    assert!(line.contains("..") && line.ends_with(": too noisy to tell"), "{line}");
}

#[test]
fn the_same_is_what_lies_within_the_margin_of_the_phase() {
    // 4 % is within the 5 % of a cost phase, and beyond the 3 % of a saturated one.
    let claims = [cost_pair(1.04), cost_pair(1.08), pair(1.02), pair(1.04)];
    let claims = claims.map(|journal| claim(&journal, "go/net"));
    assert_eq!(claims, [Claim::Same, Claim::Higher, Claim::Same, Claim::Higher]);
}

/// The runs of `go/net` in the first blocks, of which there are six.
fn first_of_go(count: usize) -> impl Fn(&Run) -> bool {
    move |run| run.variant.to_string() == "go/net" && (run.block as usize) < count
}

#[test]
fn half_of_the_runs_at_the_generators_limit_make_a_bound_and_one_does_not() {
    let with_limits = |count: usize| {
        let mut journal = pair(0.9);
        alter_runs(&mut journal, first_of_go(count), |it| {
            it.reasons.push(reason(Weight::Limit, "the generator was busy"));
        });
        let ratio = judged(&journal, "go/net").unwrap();
        (ratio.reads, ratio.claim, ratio.inconclusive)
    };
    assert_eq!(with_limits(1), (Reads::Exactly, Some(Claim::Lower), None));
    assert_eq!(with_limits(2), (Reads::Exactly, Some(Claim::Lower), None));
    let bound = (Reads::AtLeast, Some(Claim::CannotTell), Some(Inconclusive::Bound));
    assert_eq!(with_limits(3), bound, "a tie counts as limited");
    assert_eq!(with_limits(6), bound);
}

#[test]
fn a_row_is_saturated_when_its_server_was_busy_in_most_runs() {
    let with = |count: usize, kind: Option<ReasonKind>| {
        let mut journal = pair(0.9);
        alter_runs(&mut journal, first_of_go(count), |it| {
            it.cost.cpu_share = 0.94;
            it.reasons.extend(kind.map(|kind| kind.reason(Weight::Invalid, None, String::new())));
        });
        rows(&journal)[0].rows[2].saturated()
    };
    assert_eq!(with(0, None), Some(true));
    assert_eq!(with(2, None), Some(true));
    assert_eq!(with(3, None), Some(false));
    for kind in [ReasonKind::Throttled, ReasonKind::SharedCpu] {
        assert_eq!(with(3, Some(kind)), Some(true), "without its CPU a run shows nothing");
        assert_eq!(with(9, Some(kind)), None);
    }
    assert_eq!(with(3, Some(ReasonKind::Neighbour)), Some(false));
    assert_eq!(rows(&journal()).remove(0).rows.len(), 0);
}
