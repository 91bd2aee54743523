//! Journals of a machine with two states, in which the far one adds to each request a time that differs by server.

use super::*;
use crate::table::states::sentences;
use wirebench_schema::journal::{Distances, Visit};

const ROUNDS: u32 = 6;

/// Six cohorts of the baseline twice and `go/net`, which takes twice as long when near and 1.8 times as long when far.
/// `distance` is that of the CPUs around each visit, by cohort and round.
fn journal_with(distance: impl Fn(u32, u32) -> (u32, u32)) -> Journal {
    let mut journal = pair(1.0);
    for run in &mut journal.runs {
        let is_go = run.variant.to_string() == "go/net";
        let block = run.block;
        let visit = |round: u32| {
            let (before, after) = distance(block, round);
            let cpu_ns = match (before > 200, is_go) {
                (false, false) => 4000.0,
                (false, true) => 8000.0,
                (true, false) => 5000.0,
                (true, true) => 9000.0,
            };
            let noise = 1.0 + 0.002 * f64::from((7 * block + 3 * round + u32::from(is_go)) % 5);
            Visit {
                round,
                start_ns: u64::from(block * ROUNDS + round),
                length_ns: 100_000_000,
                requests: 1000,
                cpu_ns: Some((1000.0 * cpu_ns * noise) as u64),
                latency_ns_p50: Some((cpu_ns * noise) as u64),
                distances: match before {
                    0 => Distances::default(),
                    _ => Distances {
                        distance_ns_before: vec![before],
                        distance_ns_after: vec![after],
                    },
                },
                ..Visit::default()
            }
        };
        if let Outcome::Measured(measured) = &mut run.outcome {
            measured.visits = (0..ROUNDS).map(visit).collect();
        }
    }
    journal
}

fn ratio(journal: &Journal, metric: Metric) -> f64 {
    let workload = rows(journal).remove(0);
    let index = workload.rows.iter().position(|row| row.name() == "go/net").unwrap();
    workload.compare(metric).ratios[index].as_ref().unwrap().estimate.value
}

fn far_in(is_far: impl Fn(u32, u32) -> bool) -> Journal {
    journal_with(|block, round| if is_far(block, round) { (390, 400) } else { (80, 84) })
}

#[test]
fn only_visits_of_the_state_that_most_share_are_compared() {
    let near = far_in(|block, round| (block + round) % 3 == 0);
    assert!((ratio(&near, Metric::Cpu) - 2.0).abs() < 0.01);
    assert!((ratio(&near, Metric::P50) - 2.0).abs() < 0.01);
    let far = far_in(|block, round| (block + round) % 3 != 0);
    assert!((ratio(&far, Metric::Cpu) - 1.8).abs() < 0.01);
    let states = &rows(&far)[0].states;
    let shares: Vec<_> = states.compared.iter().chain(&states.others).map(|it| it.visits).collect();
    assert_eq!((shares, states.mixed, states.cohorts_complete), (vec![72, 36], 0, 6));
    assert_eq!(complete_cohorts(&far), Some(6));
    let analysis = Analysis::of(&far);
    let view = crate::build::run(&analysis, None);
    let cell = view.cells.iter().find(|it| it.id.server == "go/net").unwrap();
    let states = cell.figure(Metric::Cpu).unwrap().ratios.iter().map(|it| it.state);
    assert_eq!(states.collect::<Vec<_>>(), [None, Some(0)]);
}

#[test]
fn a_state_of_few_cohorts_is_no_ground_for_a_ratio_and_the_mix_is_named() {
    let changing = journal_with(|block, _| match block {
        0 | 1 => (80, 84),
        2 | 3 => (390, 400),
        _ => (80, 400),
    });
    let workloads = rows(&changing);
    assert!(workloads[0].states.is_mixed);
    assert_eq!((workloads[0].states.mixed, complete_cohorts(&changing)), (36, Some(2)));
    let caution = "hello: the CPUs of server and generator changed their distance, and fewer than three cohorts have \
                   visits of all servers at one distance; ratios hold for this mix only: measure with more --cohorts";
    assert_eq!(sentences(&workloads), [caution]);
}

#[test]
fn the_page_says_in_which_state_ratios_hold() {
    let near = journal_with(|block, round| match (block + round) % 6 {
        0 | 1 => (390, 400),
        2 => (80, 400),
        _ => (80, 84),
    });
    let expected = "ratios hold while a round trip between the CPUs of both sides takes 80 ns, as in 54 of 108 \
                    visits; 36 at 400 ns, 18 with a change are excluded";
    assert_eq!(sentences(&rows(&near)), [expected]);
}

#[test]
fn on_a_machine_with_one_state_nothing_differs_from_a_run_without_a_probe() {
    let (one, none) = (journal_with(|_, _| (80, 84)), journal_with(|_, _| (0, 0)));
    for metric in [Metric::Cpu, Metric::Throughput, Metric::P50] {
        let [one, none] = [&one, &none].map(|it| rows(it).remove(0).compare(metric).ratios.clone());
        assert_eq!(one, none);
    }
    assert_eq!(sentences(&rows(&one)), [""; 0]);
    assert_eq!((complete_cohorts(&one), complete_cohorts(&none)), (None, None));
}
