//! Ranks of rows among each other, as ranges where the noise leaves them open.
//!
//! "Not different" is not transitive: the first may equal the second within the noise and the second
//! the third, while the first is plainly better than the third. So a row has no single rank but a
//! range: its first rank is one more than the number of rows that are shown to be better, and its
//! last leaves room for those that are shown to be worse. Rows that do not differ always share a rank.
//! Lines between rows are drawn by group: a new one begins only where every row above differs from
//! every row below; rows of one group may still differ.
//!
//! All pairs are one family, so it takes more to show that two rows differ from each other than that
//! one differs from a baseline: with fifty rows there are 1225 pairs. Noise and levels are those of
//! the [model](crate::two_way), and the intervals follow the studentized range.
//!
//! Being better *is* transitive, so what follows from two comparisons counts as shown too.
//!
//! Not in this file: how rows compare with a baseline; that is in `judgement`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::estimate::CONFIDENCE;
use crate::judgement::{MIN_COHORTS, Outcome, Rule};
use crate::simultaneous::Family;
use crate::two_way::TwoWay;

/// Which direction is the better one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Better {
    /// As with requests per second.
    More,
    Less,
}

/// Which ranks a row may have. Rows that share one need not differ.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Rank {
    /// The best, from 1.
    pub first: usize,
    /// The worst.
    pub last: usize,
    /// The group of rows, from 1: every row of a group differs significantly from every row of another.
    pub group: usize,
}

/// The ranks of all `items` among each other, in the order given. Each item has the rows of `model`
/// that are its instances, and is compared with every other one by the margin and the intervals of
/// [`judge_against`](crate::judge_against), adjusted for all pairs (Tukey & Kramer).
///
/// Items that the model does not connect with the first one, or that share fewer than
/// [`MIN_COHORTS`] cohorts with every other one, have no rank.
#[must_use]
pub fn rank_levels(
    model: &TwoWay,
    items: &[Vec<usize>],
    better: Better,
    margin: f64,
) -> Vec<Option<Rank>> {
    let wanted = match better {
        Better::More => Outcome::Higher,
        Better::Less => Outcome::Lower,
    };
    let contrast = |one: usize, other: usize| model.contrast(&items[one], &items[other]);
    let Some(first) = (0..items.len()).find(|item| contrast(*item, *item).is_some()) else {
        return vec![None; items.len()];
    };
    let meets = |item: usize| {
        (0..items.len())
            .filter(|other| *other != item)
            .any(|other| contrast(item, other).is_some_and(|it| it.cohorts >= MIN_COHORTS))
    };
    let mut placed: Vec<(usize, f64)> = (0..items.len())
        .filter(|item| meets(*item))
        .filter_map(|item| Some((item, contrast(item, first)?.difference)))
        .collect();
    placed.sort_by(|one, other| match better {
        Better::More => other.1.total_cmp(&one.1),
        Better::Less => one.1.total_cmp(&other.1),
    });
    let order: Vec<usize> = placed.into_iter().map(|(item, _)| item).collect();
    let family = Family::AllPairs { rows: order.len() };
    let mut rule = Rule::new(family, 1.0 - CONFIDENCE, margin);
    let count = order.len();
    let mut shown = vec![vec![false; count]; count];
    for former in 0..count {
        for latter in former + 1..count {
            let contrast = contrast(order[former], order[latter]);
            let contrast = contrast.filter(|it| it.cohorts >= MIN_COHORTS);
            shown[former][latter] = contrast.is_some_and(|it| rule.outcome(&it) == wanted);
        }
    }
    ranks(items.len(), &order, shown)
}

/// The ranks that follow from an order, the best first, and from which places of it are shown to be
/// better than which.
fn ranks(rows: usize, order: &[usize], shown: Vec<Vec<bool>>) -> Vec<Option<Rank>> {
    let shown = close(shown);
    let count = order.len();
    let mut ranks = vec![None; rows];
    let mut group = 0;
    for place in 0..count {
        if (0..place).all(|above| (place..count).all(|below| shown[above][below])) {
            group += 1;
        }
        let ahead = (0..place).filter(|other| shown[*other][place]).count();
        let behind = (place + 1..count).filter(|other| shown[place][*other]).count();
        ranks[order[place]] = Some(Rank { first: ahead + 1, last: count - behind, group });
    }
    ranks
}

/// Adds what follows: better than something that is better is better.
fn close(mut shown: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    for between in 0..shown.len() {
        let onwards = shown[between].clone();
        for row in shown.iter_mut().take(between) {
            if row[between] {
                row.iter_mut().zip(&onwards).for_each(|(known, follows)| *known |= *follows);
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: f64 = f64::NAN;
    const NOISE: [f64; 6] = [-0.003, 0.002, 0.004, -0.001, 0.003, -0.004];

    /// The logarithms of a row whose noise differs from that of others with another turn.
    fn row(value: f64, turn: usize) -> Vec<f64> {
        (0..6).map(|cohort| f64::ln(value) + NOISE[(cohort * turn + turn) % 6]).collect()
    }

    fn ranks_of(rows: &[Vec<f64>], better: Better, margin: f64) -> Vec<Option<Rank>> {
        let items: Vec<Vec<usize>> = (0..rows.len()).map(|row| vec![row]).collect();
        rank_levels(&TwoWay::fit(rows, &[]).unwrap(), &items, better, margin)
    }

    fn known(ranks: Vec<Option<Rank>>) -> Vec<(usize, usize, usize)> {
        ranks.into_iter().map(Option::unwrap).map(|it| (it.first, it.last, it.group)).collect()
    }

    #[test]
    fn rows_that_are_plainly_different_have_ranks_of_their_own() {
        let rows = [row(200.0, 1), row(400.0, 5), row(100.0, 1)];
        let ranks = |better| known(ranks_of(&rows, better, 0.01));
        assert_eq!(ranks(Better::More), [(2, 2, 2), (1, 1, 1), (3, 3, 3)]);
        assert_eq!(ranks(Better::Less), [(2, 2, 2), (3, 3, 3), (1, 1, 1)]);
    }

    #[test]
    fn rows_that_do_not_differ_share_their_ranks() {
        let rows = [row(100.0, 1), row(100.1, 5), row(300.0, 1), row(100.05, 5)];
        let ranks = known(ranks_of(&rows, Better::More, 0.01));
        assert_eq!(ranks, [(2, 4, 2), (2, 4, 2), (1, 1, 1), (2, 4, 2)]);
    }

    #[test]
    fn a_chain_of_neighbours_is_one_group_whose_ends_differ() {
        // Neighbours are within the margin of 3 %, the ends are 5 % apart.
        let rows = [row(100.0, 1), row(102.5, 1), row(105.0, 1)];
        let ranks = known(ranks_of(&rows, Better::Less, 0.03));
        assert_eq!(ranks, [(1, 2, 1), (1, 3, 1), (2, 3, 1)]);
    }

    #[test]
    fn rows_with_too_few_cohorts_have_no_rank_and_do_not_join_what_is_apart() {
        let mut few = row(150.0, 1);
        few[2..].fill(NONE);
        let ranks = ranks_of(&[row(100.0, 1), few, row(200.0, 5)], Better::Less, 0.01);
        assert_eq!(ranks[0], Some(Rank { first: 1, last: 1, group: 1 }));
        assert_eq!(ranks[1], None);
        assert_eq!(ranks[2], Some(Rank { first: 2, last: 2, group: 2 }));
    }

    #[test]
    fn rows_that_share_no_cohort_differ_by_one_between_them() {
        let first = |value, turn| [row(value, turn), vec![NONE; 6]].concat();
        let both = [row(150.0, 1), row(150.0, 1)].concat();
        let later = |value, turn| [vec![NONE; 6], row(value, turn)].concat();
        let rows = [first(200.0, 5), both, later(100.0, 5)];
        let ranks = known(ranks_of(&rows, Better::More, 0.01));
        assert_eq!(ranks, [(1, 1, 1), (2, 2, 2), (3, 3, 3)]);
    }

    #[test]
    fn an_item_of_several_rows_counts_as_their_mean() {
        let rows = [row(100.0, 1), row(101.0, 5), row(200.0, 1), row(200.2, 5), row(50.0, 1)];
        let items = [vec![0, 1], vec![2], vec![3], vec![4]];
        let ranked = |cohorts: usize, better| {
            let cells: Vec<Vec<f64>> = rows.iter().map(|row| row[..cohorts].to_vec()).collect();
            rank_levels(&TwoWay::fit(&cells, &[0, 1]).unwrap(), &items, better, 0.03)
        };
        let less = known(ranked(6, Better::Less));
        assert_eq!(less, [(2, 2, 2), (3, 4, 3), (3, 4, 3), (1, 1, 1)]);
        let more = known(ranked(6, Better::More));
        assert_eq!(more, [(3, 3, 2), (1, 2, 1), (1, 2, 1), (4, 4, 3)]);
        assert_eq!(ranked(2, Better::Less), [None; 4]);
    }

    #[test]
    fn what_follows_from_two_comparisons_counts_as_shown() {
        let shown = vec![vec![false, true, false], vec![false, false, true], vec![false; 3]];
        assert!(close(shown)[0][2]);
    }
}
