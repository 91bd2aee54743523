//! Synthetic journals in which the truth is known: the claims made for each row, and those not made.

use super::*;
use crate::fixtures::{
    COST, add, alter, alter_runs, cost, cost_pair, failed, fixed_rate, journal, journal_of, noisy,
    pair, rate, reason, run, silence, silent, trio,
};
use wirebench_schema::{
    journal::{Bound, Counts, Journal, Outcome, Run, Weight},
    suite::Phase,
};
use wirebench_stats::Rank;

mod groups;
mod rules;
mod sort;
mod states;

/// Asks for a fact of a row by what the fixtures of its phase differ in.
fn of_row<T>(
    journal: &Journal,
    name: &str,
    fact: impl Fn(&WorkloadRows<'_>, usize, Metric) -> T,
) -> T {
    let workload = rows(journal).remove(0);
    let index = workload.rows.iter().position(|row| row.name() == name);
    let index = index.unwrap_or_else(|| panic!("no row {name}"));
    let metric = match workload.workload.phase {
        Phase::Saturate => Metric::Throughput,
        phase => Metric::primary(phase),
    };
    fact(&workload, index, metric)
}

fn judged(journal: &Journal, name: &str) -> Option<JudgedRatio> {
    of_row(journal, name, |rows, index, metric| rows.compare(metric).ratios[index].clone())
}

fn rank(journal: &Journal, name: &str) -> Option<Rank> {
    of_row(journal, name, |rows, index, metric| rows.ranks(metric)[index])
}

/// How many cohorts are in its figures.
fn cohorts(journal: &Journal, name: &str) -> usize {
    of_row(journal, name, |rows, index, metric| rows.rows[index].values(metric).len())
}

fn widest_interval(journal: &Journal) -> Option<f64> {
    Analysis::of(journal).widest_interval()
}

fn text(journal: &Journal, metric: Metric) -> String {
    let document = crate::table::document(&Analysis::of(journal), None, Some(metric));
    document.text(crate::document::Paint::FILE)
}

fn claim(journal: &Journal, name: &str) -> Claim {
    judged(journal, name).unwrap().claim.unwrap()
}

#[test]
fn a_row_that_differs_in_all_of_six_blocks_differs_and_an_equal_one_is_the_same() {
    assert_eq!(claim(&pair(0.95), "go/net"), Claim::Lower);
    assert_eq!(claim(&pair(1.05), "go/net"), Claim::Higher);
    assert_eq!(claim(&pair(1.0), "go/net"), Claim::Same);
}

#[test]
fn a_row_that_scatters_is_inconclusive() {
    let mut journal = pair(1.0);
    let scattered = [0.8, 1.1, 0.9, 1.2, 0.7, 1.05].map(|ratio| ratio * 100e3);
    add(&mut journal, "hello", ("own/server", 0), scattered, rate);
    assert_eq!(claim(&journal, "own/server"), Claim::CannotTell);
}

#[test]
fn copies_are_rows_of_their_own_and_equal_ones_are_never_different() {
    let mut journal = pair(1.0);
    for copy in 1..5 {
        add(&mut journal, "hello", ("go/net", copy), noisy(100e3, 5), rate);
    }
    add(&mut journal, "hello", ("c/epoll", 2), noisy(100e3, 5), rate);
    for name in ["go/net", "go/net #2", "go/net #5", "c/epoll #3"] {
        assert_eq!(claim(&journal, name), Claim::Same, "{name}");
        let rank = rank(&journal, name).unwrap();
        assert_eq!((rank.first, rank.last), (1, 7), "{name}");
    }
}

#[test]
fn a_limit_of_the_generator_makes_a_ratio_a_bound_on_the_side_of_row_or_baseline() {
    for (limited, reads) in [("go/net", Reads::AtLeast), ("c/epoll", Reads::AtMost)] {
        let mut journal = pair(1.0);
        alter(&mut journal, limited, |it| it.bound = Bound::Generator);
        assert_eq!(judged(&journal, "go/net").unwrap().reads, reads, "{limited}");
    }
}

#[test]
fn a_row_at_the_generators_limit_may_be_the_first_and_others_may_be_behind_it() {
    let mut journal = pair(0.8);
    let ranks = |journal: &Journal, name| {
        let rank = rank(journal, name).unwrap();
        (rank.first, rank.last, rank.group)
    };
    assert_eq!(ranks(&journal, "c/epoll (baseline)"), (1, 1, 1));
    assert_eq!(ranks(&journal, "go/net"), (2, 2, 2));
    alter(&mut journal, "go/net", |it| it.bound = Bound::Generator);
    add(&mut journal, "hello", ("own/server", 0), noisy(50e3, 3), rate);
    assert_eq!(ranks(&journal, "c/epoll (baseline)"), (1, 2, 1));
    assert_eq!(ranks(&journal, "go/net"), (1, 2, 1));
    assert_eq!(ranks(&journal, "own/server"), (3, 3, 2));
}

#[test]
fn missing_and_failed_runs_leave_the_pairs_that_are_there() {
    let mut journal = pair(0.9);
    let go = |run: &Run| run.variant.to_string() == "go/net";
    journal.runs.retain(|run| !(go(run) && run.block == 2));
    let third = journal.runs.iter_mut().find(|run| go(run) && run.block == 3).unwrap();
    third.outcome = failed("the server ended");
    assert_eq!(cohorts(&journal, "go/net"), 4);
    let ratio = judged(&journal, "go/net").unwrap();
    assert_eq!(ratio.by_block.keys().copied().collect::<Vec<_>>(), [0, 1, 4, 5]);
    assert_eq!((ratio.estimate.samples, ratio.claim), (4, Some(Claim::Lower)));
    let workload = &rows(&journal)[0];
    assert_eq!((workload.rows[2].measured(), workload.rows[2].failed()), (4, 1));
    assert_eq!(workload.blocks, 6);
}

#[test]
fn a_strange_cohort_is_flagged_from_eight_on_and_kept() {
    let strange = |cohorts: u32| {
        let mut journal = pair(1.0);
        for block in 6..cohorts {
            let value = 100e3 * (1.0 + 0.001 * f64::from(block % 3));
            journal.runs.push(run(block, "go/net", rate(value)));
        }
        let go = |run: &&mut Run| run.variant.to_string() == "go/net" && run.block == 4;
        journal.runs.iter_mut().find(go).unwrap().outcome = rate(60e3);
        let cells = crate::build::cells(&Analysis::of(&journal));
        let cell = cells.iter().find(|it| it.id.server == "go/net").unwrap();
        let samples = &cell.figure(Metric::Throughput).unwrap().samples;
        let outliers = samples.iter().filter(|it| it.outlier).map(|it| it.cohort);
        (outliers.collect::<Vec<u32>>(), samples.len())
    };
    assert_eq!(strange(6), (vec![], 6));
    assert_eq!(strange(8), (vec![4], 8));
}

#[test]
fn warm_up_blocks_and_pilots_never_count() {
    let mut journal = pair(1.0);
    for counts in [Counts::WarmUp, Counts::Pilot] {
        journal.runs.push(Run { counts, ..run(9, "go/net", rate(1.0)) });
    }
    assert_eq!(cohorts(&journal, "go/net"), 6);
    assert_eq!(rows(&journal)[0].blocks, 6);
    journal.runs.retain(|run| run.counts == Counts::Pilot);
    assert!(rows(&journal)[0].rows.is_empty());
}

#[test]
fn cost_is_compared_by_cpu_time_at_the_rate_that_was_found() {
    let mut journal = cost_pair(1.1);
    journal.rates.push(fixed_rate("hello", 40_000, &[("own/server", "it reached 900 requests/s")]));
    let workload = rows(&journal).remove(0);
    assert_eq!(workload.workload, journal.start.workloads[0].at_rate(40_000_u64));
    assert_eq!(workload.rows.len(), 4, "who is too slow has a row");
    assert_eq!(claim(&journal, "go/net").words(Metric::Cpu), "more CPU");
    let rank = rank(&journal, "go/net").unwrap();
    assert_eq!((rank.first, rank.last), (2, 2));
}

#[test]
fn silence_is_compared_by_memory_per_connection() {
    let (mut journal, name) = silent();
    trio(&mut journal, &name, (100.0, 4000.0), silence);
    assert_eq!(claim(&journal, "go/net"), Claim::Higher);
    let workload = rows(&journal).remove(0);
    let share = workload.rows[2].median(Metric::IdleCpu).unwrap();
    assert!((share - 0.0025).abs() < 1e-12, "{share}");
}

#[test]
fn the_widest_interval_is_that_of_the_noisiest_row_and_none_before_three_cohorts() {
    let mut journal = self::journal();
    trio(&mut journal, "hello", (4000.0, 4000.0), cost);
    let quiet = widest_interval(&journal).unwrap();
    assert!(quiet > 0.002 && quiet < 0.02, "{quiet}");
    let loud = [3600.0, 4400.0, 3800.0, 3200.0, 4200.0, 3960.0];
    add(&mut journal, "hello", ("own/server", 0), loud, cost);
    assert!(widest_interval(&journal).unwrap() > 0.1);
    journal.runs.retain(|run| run.block < 2);
    assert_eq!(widest_interval(&journal), None);
}

#[test]
fn a_run_does_not_wait_for_rows_that_always_or_mostly_fail() {
    let mut journal = pair(1.0);
    add(&mut journal, "hello", ("own/server", 0), [1.0; 5], |_| failed("it ended"));
    assert!(widest_interval(&journal).is_some());
    journal.runs.push(run(5, "own/server", rate(100e3)));
    assert!(widest_interval(&journal).is_some());
    assert_eq!(widest_interval(&self::journal()), None);
}

#[test]
fn who_used_no_time_in_some_blocks_is_not_judged_by_the_others() {
    let idle = |cpu_ns: f64| {
        let Outcome::Idle(mut measurement) = silence(100.0) else { unreachable!() };
        measurement.cpu_ns = cpu_ns as u64;
        Outcome::Idle(measurement)
    };
    let of = |baseline: [f64; 6], row: [f64; 6]| {
        let (mut journal, name) = silent();
        add(&mut journal, &name, ("c/epoll", 0), baseline, idle);
        add(&mut journal, &name, ("c/epoll", 1), [1e6, 0.0, 1.3e6, 1e6, 1e6, 1e6], idle);
        add(&mut journal, &name, ("go/net", 0), row, idle);
        let workload = rows(&journal).remove(0);
        let comparison = workload.compare(Metric::IdleCpu);
        (
            comparison.ratios[2].clone(),
            workload.ranks(Metric::IdleCpu)[2],
            comparison.baseline_check.state,
        )
    };
    let (one, two) = (noisy(1e6, 1), noisy(2e6, 5));
    let (ratio, rank, _) = of(one, two);
    assert!(ratio.unwrap().claim == Some(Claim::Higher) && rank.is_some());
    let mut holes = noisy(2e6, 5);
    holes[3] = 0.0;
    // The second instance of the baseline has a hole too, so that the baseline is not checked.
    assert_eq!(of(one, holes), (None, None, CheckState::Absent));
    assert_eq!(of(holes, two).0, None);
    let (mut journal, name) = silent();
    add(&mut journal, &name, ("c/epoll", 0), one, idle);
    add(&mut journal, &name, ("go/net", 0), holes, idle);
    let text = text(&journal, Metric::IdleCpu);
    assert!(text.contains("no ratio: its idle CPU is 0"), "{text}");
}
