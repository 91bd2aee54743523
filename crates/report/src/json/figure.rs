//! One figure of a row in `report.json`.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use wirebench_stats::{Interval, Rank};

use crate::analysis::{Compared, Metric, RatioToBaseline};

/// One metric of one row.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Figure {
    /// The median over the blocks, in the unit of the metric's name.
    pub median: f64,
    /// The interval of the geometric mean with the report's confidence; absent with few blocks, and
    /// where a value is not above zero.
    pub interval: Option<Interval>,
    /// The value of each block; blocks count from 0, warm-up blocks first.
    pub by_block: BTreeMap<u32, f64>,
    /// Blocks whose value is far from the others', from eight blocks on. They are in all figures.
    pub outlier_blocks: Vec<u32>,
    /// Which ranks the row may have; absent with few blocks, and of the baseline's second run.
    pub rank: Option<Rank>,
    /// The ratio to the baseline; absent of the baseline itself, without pairs of runs, and where a
    /// value of a block is not above zero.
    pub ratio: Option<Ratio>,
}

/// The ratio of a row to the baseline, within blocks.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Ratio {
    /// The ratio to the geometric mean of the baseline's instances.
    pub value: f64,
    /// Its interval, which holds for all rows of the workload at once; absent with few blocks.
    pub interval: Option<Interval>,
    /// The interval of 90 % of this row by itself, which decides on `same`; absent with few blocks.
    pub plain_interval: Option<Interval>,
    /// How many blocks have both sides.
    pub samples: usize,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// The ratio of each block.
    pub by_block: BTreeMap<u32, f64>,
    /// `exactly`, or a bound because the generator was at its limit: `at-least`, `at-most` or
    /// `either`.
    pub reads: &'static str,
    /// The p value of "the ratio is 1", adjusted for all rows of the workload (Dunnett).
    pub p_adjusted: Option<f64>,
    /// What is claimed of the value: `higher`, `lower`, `same`, `not-higher`, `not-lower` or
    /// `inconclusive`; absent of the baseline's second run.
    pub claim: Option<&'static str>,
    /// Why the claim is `inconclusive`: `too-few-cohorts`, `baseline-check-failed`, `bound` (the load
    /// generator was the limit) or `wide-interval`.
    pub inconclusive: Option<&'static str>,
    /// The same in the words of the metric, such as `slower`.
    pub verdict: Option<String>,
}

/// What is known of a row by `metric`.
pub(super) fn figure(compared: &Compared, metric: Metric) -> Figure {
    Figure {
        median: compared.median,
        interval: compared.interval,
        by_block: compared.by_block.clone(),
        outlier_blocks: compared.outliers.clone(),
        rank: compared.rank,
        ratio: compared.ratio.as_ref().map(|it| ratio(it, metric)),
    }
}

fn ratio(ratio: &RatioToBaseline, metric: Metric) -> Ratio {
    Ratio {
        value: ratio.estimate.value,
        interval: ratio.estimate.interval,
        plain_interval: ratio.plain_interval,
        samples: ratio.estimate.samples,
        least: ratio.least,
        most: ratio.most,
        by_block: ratio.by_block.clone(),
        reads: ratio.reads.name(),
        p_adjusted: ratio.p_adjusted,
        claim: ratio.claim.map(crate::analysis::Claim::name),
        inconclusive: ratio.inconclusive.map(crate::analysis::Inconclusive::name),
        verdict: ratio.claim.map(|claim| claim.words(metric)),
    }
}
