//! Cohorts that were measured in groups of instances, each with the baseline.

use super::*;
use crate::filter::JournalFilter;

/// Six blocks of two groups: `go/net` in the first, and `own/server` in the second, which a machine
/// that was `speed` times as fast measured. Both servers are `ratio` times the baseline.
fn in_groups(ratio: f64, speed: f64) -> Journal {
    let mut journal = pair(ratio);
    let mut second = journal_of(COST);
    second.start = journal.start.clone();
    add(&mut second, "hello", ("c/epoll", 0), noisy(speed * 100e3, 2), rate);
    add(&mut second, "hello", ("c/epoll", 1), noisy(speed * 100e3, 3), rate);
    add(&mut second, "hello", ("own/server", 0), noisy(speed * ratio * 100e3, 4), rate);
    journal.runs.extend(second.runs.into_iter().map(|run| Run { group: 1, ..run }));
    journal
}

#[test]
fn rows_are_compared_with_the_baseline_of_their_own_group() {
    for speed in [0.8, 1.0, 1.25] {
        let journal = in_groups(1.0, speed);
        for name in ["go/net", "own/server"] {
            let ratio = judged(&journal, name).unwrap();
            assert!((ratio.estimate.value - 1.0).abs() < 0.01, "{speed} {name}: {ratio:?}");
            assert_eq!((ratio.claim, ratio.estimate.samples), (Some(Claim::Same), 6), "{name}");
            assert!(ratio.range().is_some_and(|it| it.0 > 0.97 && it.1 < 1.03), "{speed} {name}");
        }
        let slower = in_groups(0.9, speed);
        assert_eq!(claim(&slower, "go/net"), Claim::Lower, "{speed}");
        assert_eq!(claim(&slower, "own/server"), Claim::Lower, "{speed}");
    }
}

#[test]
fn the_baseline_has_a_value_in_every_group_and_counts_blocks_once() {
    let journal = in_groups(1.0, 0.8);
    let workload = rows(&journal).remove(0);
    let [baseline, row] = ["c/epoll (baseline)", "own/server"].map(|name| {
        let row = workload.rows.iter().find(|row| row.name() == name).unwrap();
        (row.values(Metric::Throughput).len(), row.blocks_measured())
    });
    assert_eq!((workload.blocks, baseline, row), (6, (12, 6), (6, 6)));
    assert!(widest_interval(&journal).is_some_and(|width| width < 0.02));
}

#[test]
fn another_baseline_is_compared_with_the_rows_of_its_own_group_only() {
    for speed in [0.8, 1.0, 1.25] {
        let view = JournalFilter { baseline: Some("go/net"), exclude: &[] };
        let journal = view.of(in_groups(0.9, speed)).unwrap();
        let ratio = judged(&journal, "c/epoll").unwrap();
        assert!((ratio.estimate.value * 0.9 - 1.0).abs() < 0.01, "{speed}: {ratio:?}");
        assert_eq!((ratio.claim, ratio.estimate.samples), (Some(Claim::Higher), 6), "{speed}");
        let other = judged(&journal, "own/server");
        assert!(other.is_none(), "{speed}: {other:?}");
    }
}
