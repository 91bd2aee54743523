//! Every figure of both sides, with B over A: ratios within blocks, noise, claims.

use std::collections::BTreeMap;
use wirebench_stats::{
    Estimate, Floor, Judgement, SIGNIFICANCE, Verdict, holm, judge, median, range,
};

use super::{has, noise, side::Side};
use crate::analysis::{Claim, Metric, Reads, Row, WorkloadRows};

/// A figure of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Which.
    pub metric: Metric,
    /// Of A and of B: the median over the runs.
    pub medians: [Option<f64>; 2],
    /// B over A; none without a block of both, and of a rate that was given.
    pub ratio: Option<Ratio>,
}

/// B over A.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// In each block.
    pub by_block: BTreeMap<u32, f64>,
    /// Their middle, with its interval of 95 % confidence if there are enough of them.
    pub estimate: Estimate,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// Differences up to this are not told from noise.
    pub floor: Floor,
    /// How it is to be read: a load generator at its limit makes it a bound.
    pub reads: Reads,
    /// The p value of "B is as A". That of the verdict's figure stands by itself, because it was
    /// chosen before; those of the others are adjusted for all of them (Holm).
    pub p_adjusted: Option<f64>,
    /// What is claimed of it.
    pub claim: Claim,
}

/// A ratio that is not judged yet.
struct Open {
    by_block: BTreeMap<u32, f64>,
    floor: Floor,
    reads: Reads,
    judgement: Judgement,
}

/// All figures of the phase, `main` first.
pub(super) fn figures(rows: &WorkloadRows<'_>, sides: [&Side<'_>; 2], main: Metric) -> Vec<Figure> {
    let phase = rows.workload.phase;
    let others = Metric::of_phase(phase).iter().copied().filter(|metric| *metric != main);
    let metrics: Vec<Metric> = std::iter::once(main).chain(others).collect();
    let both = sides.map(|side| rows.rows.iter().find(|it| it.variant == &side.described.variant));
    let open = |metric: Metric| -> Option<Open> {
        let given = metric == Metric::Throughput && has(phase, metric).is_none();
        let [a, b] = both;
        if given { None } else { Open::of(a?, b?, metric, first_block(rows)) }
    };
    let open: Vec<Option<Open>> = metrics.iter().map(|metric| open(*metric)).collect();
    let p_values = |it: &Open| it.judgement.p_adjusted;
    let tested: Vec<f64> = open.iter().skip(1).flatten().filter_map(p_values).collect();
    let mut adjusted = holm(&tested).into_iter();
    let figure = |(index, (metric, open)): (usize, (Metric, Option<Open>))| {
        let adjust = |open: Open| {
            let alone = index == 0 || open.judgement.p_adjusted.is_none();
            let p = if alone { open.judgement.p_adjusted } else { adjusted.next() };
            open.settle(p)
        };
        let median = |row: Option<&Row<'_>>| row.and_then(|row| row.median(metric));
        Figure { metric, medians: both.map(median), ratio: open.and_then(adjust) }
    };
    metrics.into_iter().zip(open).enumerate().map(figure).collect()
}

/// The first block that counts.
fn first_block(rows: &WorkloadRows<'_>) -> u32 {
    let warm_up = rows.rows.iter().flat_map(|row| &row.warm_up);
    warm_up.map(|run| run.block + 1).max().unwrap_or(0)
}

/// B over A in each block of both.
pub(super) fn ratios(a: &Row<'_>, b: &Row<'_>, metric: Metric) -> BTreeMap<u32, f64> {
    let base = a.values(metric);
    let of_block = |(block, value): (u32, f64)| {
        let base = base.get(&block).filter(|base| **base > 0.0 && value > 0.0)?;
        Some((block, value / base))
    };
    b.values(metric).into_iter().filter_map(of_block).collect()
}

impl Open {
    fn of(a: &Row<'_>, b: &Row<'_>, metric: Metric, first_block: u32) -> Option<Self> {
        let by_block = ratios(a, b, metric);
        let plain: Vec<f64> = by_block.values().copied().collect();
        let floor = noise::floor(&a.values(metric), &b.values(metric), first_block);
        let judgement = judge(&[plain], &floor).pop()?;
        let reads = Reads::of(metric, b.limited(), a.limited());
        Some(Self { by_block, floor, reads, judgement })
    }

    fn settle(self, p_adjusted: Option<f64>) -> Option<Ratio> {
        let Self { by_block, floor, reads, judgement } = self;
        let is_significant = p_adjusted.is_some_and(|p| p <= SIGNIFICANCE);
        let verdict = match judgement.verdict {
            Verdict::Higher | Verdict::Lower if !is_significant => Verdict::CannotTell,
            verdict => verdict,
        };
        let judgement = Judgement { p_adjusted, verdict, ..judgement };
        let plain: Vec<f64> = by_block.values().copied().collect();
        let (least, most) = range(&plain)?;
        Some(Ratio {
            estimate: judgement.estimate?,
            claim: Claim::of(&judgement, reads, &floor),
            by_block,
            least,
            most,
            floor,
            reads,
            p_adjusted,
        })
    }
}

/// The values of a row by themselves.
pub(super) fn spread(row: &Row<'_>, metric: Metric) -> Option<(f64, f64, f64)> {
    let values: Vec<f64> = row.values(metric).into_values().collect();
    let (least, most) = range(&values)?;
    Some((median(&values)?, least, most))
}
