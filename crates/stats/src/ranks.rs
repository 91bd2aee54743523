//! Ranks of rows among each other, as ranges where they cannot be told apart.
//!
//! "Cannot be told apart" is not transitive: the first may be equal to the second within the noise
//! and the second to the third, while the first is plainly better than the third. So a row has no
//! single rank but a range: its first rank is one more than the number of rows that are shown to be
//! better, and its last leaves room for those that are shown to be worse. Rows that cannot be told
//! apart always share a rank. Who wants to draw lines between rows takes the group: a new one
//! begins only where every row above is told from every row below, so that no line divides what
//! cannot be told apart; rows of one group may still differ.
//!
//! All pairs are one family, so it takes more to tell two rows from each other than one row from a
//! baseline: with fifty rows there are 1225 pairs. [`rank_levels`] uses the noise and the levels of
//! the [model](crate::two_way) and the studentized range; [`rank_rows`] judges ratios within blocks.
//!
//! Being better *is* transitive, so what follows from two comparisons counts as told too.
//!
//! Not here: how well rows do beside a baseline; that is in `verdict`.

use crate::MIN_BLOCKS;
use crate::estimate::CONFIDENCE;
use crate::floor::Floor;
use crate::judgement::{MIN_COHORTS, Outcome, Rule};
use crate::location::hodges_lehmann;
use crate::simultaneous::Family;
use crate::summary::{logarithms, ratios_by_block};
use crate::two_way::TwoWay;
use crate::verdict::{Verdict, judge};
use std::collections::BTreeMap;

/// Which direction is the better one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Better {
    /// As with requests per second.
    More,
    /// As with time per request.
    Less,
}

/// The ranks that a row may have. The best rank is 1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rank {
    /// The best rank that the row may have.
    pub first: usize,
    /// The worst rank that the row may have.
    pub last: usize,
    /// Which group of rows it belongs to, counted from 1.
    pub group: usize,
}

/// The ranks of all rows among each other, in the order given; each row has its values by block.
///
/// All pairs of rows are compared within the blocks that both have, and are judged as one family:
/// with equal rows, anything but a single group comes out in at most one of twenty experiments.
/// Rows with fewer than [`MIN_BLOCKS`] positive values have no rank.
#[must_use]
pub fn rank_rows(rows: &[BTreeMap<u32, f64>], better: Better, floor: &Floor) -> Vec<Option<Rank>> {
    let order = order_of(rows, better);
    let told = told_apart(rows, &order, better, floor);
    ranks(rows.len(), &order, told)
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
    let mut told = vec![vec![false; count]; count];
    for former in 0..count {
        for latter in former + 1..count {
            let contrast = contrast(order[former], order[latter]);
            let contrast = contrast.filter(|it| it.cohorts >= MIN_COHORTS);
            told[former][latter] = contrast.is_some_and(|it| rule.outcome(&it) == wanted);
        }
    }
    ranks(items.len(), &order, told)
}

/// The ranks that follow from an order, the best first, and from which places of it are shown to be
/// better than which.
fn ranks(rows: usize, order: &[usize], told: Vec<Vec<bool>>) -> Vec<Option<Rank>> {
    let told = close(told);
    let count = order.len();
    let mut ranks = vec![None; rows];
    let mut group = 0;
    for place in 0..count {
        if (0..place).all(|above| (place..count).all(|below| told[above][below])) {
            group += 1;
        }
        let ahead = (0..place).filter(|other| told[*other][place]).count();
        let behind = (place + 1..count).filter(|other| told[place][*other]).count();
        ranks[order[place]] = Some(Rank { first: ahead + 1, last: count - behind, group });
    }
    ranks
}

/// The rows that can be ranked, the best first.
fn order_of(rows: &[BTreeMap<u32, f64>], better: Better) -> Vec<usize> {
    let mut placed: Vec<(usize, f64)> = rows
        .iter()
        .enumerate()
        .filter_map(|(index, row)| {
            let logs = logarithms(&row.values().copied().collect::<Vec<f64>>());
            hodges_lehmann(&logs).filter(|_| logs.len() >= MIN_BLOCKS).map(|value| (index, value))
        })
        .collect();
    placed.sort_by(|first, second| match better {
        Better::More => second.1.total_cmp(&first.1),
        Better::Less => first.1.total_cmp(&second.1),
    });
    placed.into_iter().map(|(index, _)| index).collect()
}

/// For each two places of the order whether the former is told to be better. A comparison that
/// contradicts the order, which is possible where rows miss different blocks, tells nothing.
fn told_apart(
    rows: &[BTreeMap<u32, f64>],
    order: &[usize],
    better: Better,
    floor: &Floor,
) -> Vec<Vec<bool>> {
    let count = order.len();
    let pairs: Vec<(usize, usize)> = (0..count)
        .flat_map(|former| (former + 1..count).map(move |latter| (former, latter)))
        .collect();
    let ratios: Vec<Vec<f64>> = pairs
        .iter()
        .map(|(former, latter)| ratios_by_block(&rows[order[*former]], &rows[order[*latter]]))
        .collect();
    let wanted = match better {
        Better::More => Verdict::Higher,
        Better::Less => Verdict::Lower,
    };
    let mut told = vec![vec![false; count]; count];
    for ((former, latter), judgement) in pairs.into_iter().zip(judge(&ratios, floor)) {
        told[former][latter] = judgement.verdict == wanted;
    }
    told
}

/// Adds what follows: better than something that is better is better.
fn close(mut told: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    for between in 0..told.len() {
        let onwards = told[between].clone();
        for row in told.iter_mut().take(between) {
            if row[between] {
                row.iter_mut().zip(&onwards).for_each(|(known, follows)| *known |= *follows);
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floor::FloorBasis;

    const FLOOR: Floor = Floor { relative: 0.01, basis: FloorBasis::Least };
    const NOISE: [f64; 6] = [0.997, 1.002, 1.004, 0.999, 1.003, 0.996];

    /// A row whose noise differs from that of others with another turn.
    fn row(value: f64, turn: usize) -> BTreeMap<u32, f64> {
        (0..6).map(|block| (block as u32, value * NOISE[(block * turn + turn) % 6])).collect()
    }

    fn ranks_of(rows: &[BTreeMap<u32, f64>], better: Better) -> Vec<(usize, usize, usize)> {
        let all = rank_rows(rows, better, &FLOOR);
        all.into_iter().map(Option::unwrap).map(|it| (it.first, it.last, it.group)).collect()
    }

    #[test]
    fn rows_that_are_plainly_different_have_ranks_of_their_own() {
        let rows = [row(200.0, 1), row(400.0, 5), row(100.0, 1)];
        assert_eq!(ranks_of(&rows, Better::More), [(2, 2, 2), (1, 1, 1), (3, 3, 3)]);
        assert_eq!(ranks_of(&rows, Better::Less), [(2, 2, 2), (3, 3, 3), (1, 1, 1)]);
    }

    #[test]
    fn rows_that_cannot_be_told_apart_share_their_ranks() {
        let rows = [row(100.0, 1), row(100.1, 5), row(300.0, 1), row(100.05, 5)];
        assert_eq!(ranks_of(&rows, Better::More), [(2, 4, 2), (2, 4, 2), (1, 1, 1), (2, 4, 2)]);
    }

    #[test]
    fn a_chain_of_neighbours_is_one_group_whose_ends_differ() {
        // 1 % of floor: neighbours are 0.8 % apart, the ends 1.6 %.
        let rows = [row(100.0, 1), row(100.8, 1), row(101.6, 1)];
        let floor = Floor { relative: 0.01, basis: FloorBasis::Least };
        let ranked: Vec<Rank> =
            rank_rows(&rows, Better::Less, &floor).into_iter().map(Option::unwrap).collect();
        assert_eq!((ranked[0].first, ranked[0].last), (1, 2));
        assert_eq!((ranked[1].first, ranked[1].last), (1, 3));
        assert_eq!((ranked[2].first, ranked[2].last), (2, 3));
        assert!(ranked.iter().all(|rank| rank.group == 1));
    }

    #[test]
    fn rows_with_too_few_blocks_have_no_rank_and_do_not_join_what_is_apart() {
        let mut few = row(150.0, 1);
        few.remove(&0);
        let all = rank_rows(&[row(100.0, 1), few, row(200.0, 5)], Better::Less, &FLOOR);
        assert_eq!(all[0], Some(Rank { first: 1, last: 1, group: 1 }));
        assert_eq!(all[1], None);
        assert_eq!(all[2], Some(Rank { first: 2, last: 2, group: 2 }));
        assert!(rank_rows(&[], Better::More, &FLOOR).is_empty());
    }

    #[test]
    fn rows_that_share_no_block_are_told_apart_by_one_between_them() {
        let later = |row: BTreeMap<u32, f64>| row.into_iter().map(|(block, it)| (block + 6, it));
        let both: BTreeMap<u32, f64> =
            row(150.0, 1).into_iter().chain(later(row(150.0, 1))).collect();
        let rows = [row(200.0, 5), both, later(row(100.0, 5)).collect()];
        assert_eq!(ranks_of(&rows, Better::More), [(1, 1, 1), (2, 2, 2), (3, 3, 3)]);
        let without = [rows[0].clone(), rows[2].clone()];
        assert_eq!(ranks_of(&without, Better::More), [(1, 2, 1), (1, 2, 1)]);
    }

    #[test]
    fn levels_of_a_model_are_ranked_and_items_of_several_rows_stand_as_their_mean() {
        let cells: Vec<Vec<f64>> = [(100.0, 1), (101.0, 5), (200.0, 1), (200.2, 5), (50.0, 1)]
            .map(|(value, turn)| row(value, turn).values().map(|it| it.ln()).collect())
            .to_vec();
        let model = TwoWay::fit(&cells, &[0, 1]).unwrap();
        let items = [vec![0, 1], vec![2], vec![3], vec![4]];
        let ranked = |better| -> Vec<(usize, usize, usize)> {
            let all = rank_levels(&model, &items, better, 0.03);
            all.into_iter().map(Option::unwrap).map(|it| (it.first, it.last, it.group)).collect()
        };
        assert_eq!(ranked(Better::Less), [(2, 2, 2), (3, 4, 3), (3, 4, 3), (1, 1, 1)]);
        assert_eq!(ranked(Better::More), [(3, 3, 2), (1, 2, 1), (1, 2, 1), (4, 4, 3)]);
        let two: Vec<Vec<f64>> = cells.iter().map(|row| row[..2].to_vec()).collect();
        let model = TwoWay::fit(&two, &[0, 1]).unwrap();
        assert_eq!(rank_levels(&model, &items, Better::Less, 0.03), [None; 4]);
    }

    #[test]
    fn what_follows_from_two_comparisons_counts_as_told() {
        let told = vec![vec![false, true, false], vec![false, false, true], vec![false; 3]];
        assert!(close(told)[0][2]);
    }
}
