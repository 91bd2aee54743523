//! The rows of a workload in relation to its baseline, by one metric: ratios within blocks, the
//! noise floor, claims and ranks. It renders nothing.

use std::collections::BTreeMap;
use wirebench_stats::{
    Better, Estimate, Floor, Interval, Judgement, Rank, judge, location_estimate, median, outliers,
    rank_rows, ratio_estimate,
};

use super::{Claim, Direction, Limited, Metric, Reads, Role, Row, WorkloadRows};

/// Values or ratios by block.
type Values = BTreeMap<u32, f64>;

/// All rows of a workload by one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub metric: Metric,
    /// How far apart two equal things appear.
    pub noise: Noise,
    /// One for each row, in the order of [`WorkloadRows::rows`]; none for a row without values.
    pub rows: Vec<Option<Compared>>,
}

/// How far apart two equal things appear here.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// The baseline's second run over its first, within blocks; absent without second runs.
    pub second_over_first: Option<Estimate>,
    /// Differences up to this are never called differences.
    pub floor: Floor,
}

/// One row by one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The value in each block.
    pub by_block: BTreeMap<u32, f64>,
    /// The median over the blocks.
    pub median: f64,
    /// The interval of 95 % confidence of Hodges and Lehmann's middle, of which the median is the
    /// plainer estimate; absent with few blocks.
    pub interval: Option<Interval>,
    /// Blocks whose value is far from the others'. They are kept.
    pub outliers: Vec<u32>,
    /// The ratio to the baseline; none of the baseline itself, and where a value of a block is not
    /// above zero.
    pub ratio: Option<RatioToBaseline>,
    /// Which ranks the row may have; absent with few blocks, and of the baseline's second run.
    pub rank: Option<Rank>,
}

/// The ratio of a row to its baseline, within blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct RatioToBaseline {
    /// The ratio in each block that has both sides.
    pub by_block: BTreeMap<u32, f64>,
    /// Their middle (Hodges and Lehmann's), with its interval of 95 % confidence if there are
    /// enough of them.
    pub estimate: Estimate,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// How it is to be read.
    pub reads: Reads,
    /// The p value of "the ratio is 1", adjusted for all rows of the workload (Holm).
    pub p_adjusted: Option<f64>,
    /// What is claimed of it; nothing of the baseline's second run, which makes the floor.
    pub claim: Option<Claim>,
}

impl WorkloadRows<'_> {
    /// Compares all rows by `metric`.
    #[must_use]
    pub fn compare(&self, metric: Metric) -> Comparison {
        let mut comparison = self.compare_to_baseline(metric);
        let ranks = self.ranks(&comparison);
        for (row, rank) in comparison.rows.iter_mut().zip(ranks) {
            if let Some(row) = row {
                row.rank = rank;
            }
        }
        comparison
    }

    /// The same without ranks, for which every row is compared with every other one: with many rows
    /// they take nearly all of the time.
    #[must_use]
    pub fn compare_to_baseline(&self, metric: Metric) -> Comparison {
        let values: Vec<Values> = self.rows.iter().map(|row| row.values(metric)).collect();
        let pairs: Vec<Values> = match self.baseline {
            Some(baseline) => {
                let sides = self.rows.iter().zip(&values);
                sides.map(|(row, of_row)| pairs(row.role, of_row, &values[baseline])).collect()
            }
            None => vec![Values::new(); values.len()],
        };
        let plain: Vec<Vec<f64>> =
            pairs.iter().map(|pairs| pairs.values().copied().collect()).collect();
        let noise = self.noise(&plain);
        let judged = self.judge(&plain, &noise.floor);
        let rows = self.rows.iter().enumerate().map(|(index, row)| {
            let by_block = values[index].clone();
            let plain: Vec<f64> = by_block.values().copied().collect();
            let blocks: Vec<u32> = by_block.keys().copied().collect();
            let ratio = judged[index].as_ref().and_then(|judgement| {
                let reads = self.reads(row, metric);
                ratio(row, &pairs[index], reads, judgement, &noise.floor)
            });
            Some(Compared {
                median: median(&plain)?,
                interval: location_estimate(&plain).and_then(|estimate| estimate.interval),
                outliers: outliers(&plain).into_iter().map(|place| blocks[place]).collect(),
                ratio,
                rank: None,
                by_block,
            })
        });
        Comparison { metric, rows: rows.collect(), noise }
    }

    /// How the ratio of a row is to be read. What equal things make of the same limit is exact.
    fn reads(&self, row: &Row<'_>, metric: Metric) -> Reads {
        let Some(baseline) = self.baseline.map(|index| &self.rows[index]) else {
            return Reads::Exactly;
        };
        match row.role {
            Role::Baseline | Role::SecondOfBaseline => Reads::Exactly,
            Role::Entrant | Role::SecondWithoutFirst => {
                Reads::of(metric, row.limited(), baseline.limited())
            }
        }
    }

    /// What the baseline's second run tells.
    fn noise(&self, ratios: &[Vec<f64>]) -> Noise {
        let second = self.rows.iter().position(|row| row.role == Role::SecondOfBaseline);
        let pairs = second.map_or(&[][..], |index| &ratios[index]);
        Noise { second_over_first: ratio_estimate(pairs), floor: Floor::from_pairs(pairs) }
    }

    /// The judgements of all rows that are one family; the baseline is not in it, and its second run
    /// is by itself, because the floor is made of it.
    fn judge(&self, ratios: &[Vec<f64>], floor: &Floor) -> Vec<Option<Judgement>> {
        let mut judged = vec![None; ratios.len()];
        for is_in_family in [Role::is_compared, |role| role == Role::SecondOfBaseline] {
            let family: Vec<usize> =
                (0..ratios.len()).filter(|index| is_in_family(self.rows[*index].role)).collect();
            let rows: Vec<&Vec<f64>> = family.iter().map(|index| &ratios[*index]).collect();
            for (index, judgement) in family.into_iter().zip(judge(&rows, floor)) {
                judged[index] = Some(judgement);
            }
        }
        judged
    }

    /// The ranks among each other of all rows but the baseline's second run.
    fn ranks(&self, comparison: &Comparison) -> Vec<Option<Rank>> {
        let metric = comparison.metric;
        let better = match metric.direction() {
            Direction::MoreIsBetter => Better::More,
            Direction::LessIsBetter => Better::Less,
        };
        let ranked: Vec<usize> = (0..self.rows.len())
            .filter(|index| self.rows[*index].role != Role::SecondOfBaseline)
            .collect();
        // Ranks are made of ratios too, which need values above zero in all blocks.
        let values = |index: &usize| {
            let by_block = comparison.rows[*index].as_ref().map(|row| row.by_block.clone());
            by_block.filter(|it| it.values().all(|value| *value > 0.0)).unwrap_or_default()
        };
        let rows: Vec<Values> = ranked.iter().map(values).collect();
        let mut found = rank_rows(&rows, better, &comparison.noise.floor);
        if metric.is_bounded_by_generator() {
            let limited: Vec<Limited> =
                ranked.iter().map(|index| self.rows[*index].limited()).collect();
            loosen(&mut found, &limited);
        }
        let mut ranks = vec![None; self.rows.len()];
        for (index, rank) in ranked.into_iter().zip(found) {
            ranks[index] = rank;
        }
        ranks
    }
}

/// The ratios of a row to the baseline within blocks, with their blocks.
///
/// A ratio needs two values above zero. Idle CPU time may be zero in some blocks, and memory may
/// shrink in some. To go on with the others would be to choose blocks by what came out of them, so
/// such a row has no ratio at all. Only the noise floor takes what there is: it grows by it.
fn pairs(role: Role, row: &Values, baseline: &Values) -> Values {
    let both =
        row.iter().filter_map(|(block, value)| Some((*block, *value, *baseline.get(block)?)));
    let both: Vec<(u32, f64, f64)> = both.collect();
    let usable: Values = both
        .iter()
        .filter(|(_, value, base)| *value > 0.0 && *base > 0.0)
        .map(|(block, value, base)| (*block, value / base))
        .collect();
    let is_whole = usable.len() == both.len() || role == Role::SecondOfBaseline;
    if is_whole { usable } else { Values::new() }
}

fn ratio(
    row: &Row<'_>,
    by_block: &BTreeMap<u32, f64>,
    reads: Reads,
    judgement: &Judgement,
    floor: &Floor,
) -> Option<RatioToBaseline> {
    let plain: Vec<f64> = by_block.values().copied().collect();
    let (least, most) = wirebench_stats::range(&plain)?;
    Some(RatioToBaseline {
        by_block: by_block.clone(),
        estimate: judgement.estimate?,
        least,
        most,
        reads,
        p_adjusted: judgement.p_adjusted,
        claim: row.role.is_compared().then(|| Claim::of(judgement, reads, floor)),
    })
}

/// Widens ranks by what the limit of the generator hides. A limited row may be better than its
/// figure, so nothing is told to be better than it: it may be the first of all, and whoever is ahead
/// of it by its figures may be behind it.
fn loosen(ranks: &mut [Option<Rank>], limited: &[Limited]) {
    let before: Vec<(Rank, Limited)> = ranks
        .iter()
        .zip(limited)
        .filter_map(|(rank, limited)| Some(((*rank)?, *limited)))
        .collect();
    let of_limited =
        || before.iter().filter(|(_, limited)| *limited == Limited::Yes).map(|(rank, _)| rank);
    // No line between groups can be drawn above a limited row.
    let lowest = of_limited().map(|rank| rank.group).max().unwrap_or(1);
    for (rank, limited) in ranks.iter_mut().zip(limited) {
        let Some(rank) = rank else { continue };
        // Whatever is told to be behind has both ends of its ranks behind.
        let behind = of_limited().filter(|it| it.first > rank.first && it.last > rank.last).count();
        rank.last = (rank.last + behind).min(before.len());
        if *limited == Limited::Yes {
            rank.first = 1;
        }
        rank.group = rank.group.saturating_sub(lowest - 1).max(1);
    }
}
