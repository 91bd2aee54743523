//! The order in which the rows of a workload are shown: the best first. What makes a row good is
//! not decided here.

use std::cmp::Ordering;

use crate::analysis::{Metric, MetricFacts, Role, WorkloadRows};

/// The items of each key together, in the order of the first of each.
pub(crate) fn grouped<K: PartialEq, T>(items: impl Iterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, item) in items {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

/// The indices of all rows: as it was asked for, or by rank, where all rows have one, and by value, the
/// best first; rows without values last. The baseline's second run stands below the baseline.
pub(crate) fn in_order(rows: &WorkloadRows<'_>, metric: Metric) -> Vec<usize> {
    let ranks = rows.ranks(metric);
    let medians: Vec<Option<f64>> = rows.rows.iter().map(|row| row.median(metric)).collect();
    let known = |index: &usize| medians[*index];
    let second = rows.second();
    let mut order: Vec<usize> = (0..rows.rows.len()).filter(|it| Some(*it) != second).collect();
    let all_ranked = order.iter().all(|index| known(index).is_none() || ranks[*index].is_some());
    let better = |a: f64, b: f64| match metric.more_is_better() {
        true => b.total_cmp(&a),
        false => a.total_cmp(&b),
    };
    let rank =
        |index: usize| ranks[index].filter(|_| all_ranked).map(|rank| (rank.first, rank.last));
    let asked = |index: &usize| rows.sort_key(&rows.rows[*index]);
    let by_key = |(a, name): &(f64, String), (b, other): &(f64, String)| {
        a.total_cmp(b).then(name.cmp(other))
    };
    order.sort_by(|a, b| match (known(a), known(b)) {
        _ if let (Some(one), Some(other)) = (asked(a), asked(b)) => by_key(&one, &other),
        (Some(one), Some(other)) => rank(*a).cmp(&rank(*b)).then(better(one, other)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
    let below = order.iter().position(|index| rows.rows[*index].role == Role::Baseline);
    let place = below.map_or(order.len(), |place| place + 1);
    order.splice(place..place, second);
    order
}
