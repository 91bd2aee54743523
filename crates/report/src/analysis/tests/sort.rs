//! The order of rows that a reader asks for.

use super::*;
use crate::{
    fixtures::{NOISE, changed, measured},
    order::in_order,
};

/// Names with their throughput and p99, of which the last has none. The usual order, by CPU time, is that of the list.
const ROWS: [(&str, u32, f64, u64); 5] = [
    ("c/epoll", 0, 100e3, 300),
    ("c/epoll", 1, 100e3, 300),
    ("go/net", 0, 300e3, 400),
    ("own/server", 0, 200e3, 100),
    ("a/last", 0, 50e3, 0),
];

fn journal_of_rows() -> Journal {
    let mut journal = journal();
    (journal.start.blocks, journal.start.baseline_copies) = (6, 2);
    let mut last = journal.start.variants[0].clone();
    last.variant = "a/last".parse().unwrap();
    journal.start.variants.push(last);
    for (place, (name, copy, rate, p99)) in ROWS.into_iter().enumerate() {
        for (block, noise) in (0..).zip(NOISE) {
            let outcome = changed(measured(rate * noise, 0, &[]), |it| {
                it.cost.cpu_ns_per_request = Some((place + 1) as f64 * 1000.0 * noise);
                it.load.latency = it.load.latency.take().filter(|_| p99 > 0);
                if let Some(latency) = &mut it.load.latency {
                    latency.latency_ns_p99 = p99 * 1000;
                }
            });
            journal.runs.push(Run { copy, ..run(block, name, outcome) });
        }
    }
    journal
}

fn order(journal: &Journal, sort: Option<&str>) -> Vec<String> {
    let analysis = Analysis::of(journal).sorted(sort.map(|it| it.parse().unwrap()));
    let rows = &analysis.workloads[0];
    let primary = Metric::primary(rows.workload.phase);
    in_order(rows, primary).into_iter().map(|index| rows.rows[index].name()).collect()
}

#[test]
fn the_best_row_of_a_metric_is_first_and_the_second_instance_stays_with_the_baseline() {
    let journal = journal_of_rows();
    let usual = ["c/epoll (baseline)", "c/epoll (A/A)", "go/net", "own/server", "a/last"];
    assert_eq!(order(&journal, None), usual);
    assert_eq!(order(&journal, Some("cpu")), usual);
    assert_eq!(
        order(&journal, Some("throughput")),
        ["go/net", "own/server", "c/epoll (baseline)", "c/epoll (A/A)", "a/last"]
    );
    assert_eq!(
        order(&journal, Some("p99")),
        ["own/server", "c/epoll (baseline)", "c/epoll (A/A)", "go/net", "a/last"]
    );
    assert_eq!(
        order(&journal, Some("name")),
        ["a/last", "c/epoll (baseline)", "c/epoll (A/A)", "go/net", "own/server"]
    );
}

#[test]
fn a_metric_that_a_phase_does_not_have_leaves_the_usual_order() {
    let journal = journal_of_rows();
    assert_eq!(order(&journal, Some("memory-at-rest")), order(&journal, None));
}
