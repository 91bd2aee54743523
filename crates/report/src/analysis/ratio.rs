//! A ratio of two figures, with its intervals and what may be claimed of it.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use wirebench_stats::{Estimate, Interval, Judged, range};

use super::{
    BaselineCheck, Claim, Inconclusive, Reads,
    comparison::{Values, claim, estimate},
};

/// The ratio of a figure to a reference: of a row to the baseline, of B to A, or of a newer result to an older one.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct JudgedRatio {
    /// The ratio of the fitted levels. Its interval of 95 % confidence holds for all ratios that are
    /// compared together; absent with fewer than three cohorts.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The interval of 90 % confidence of this ratio by itself, which decides on "same".
    pub plain_interval: Option<Interval>,
    /// The ratio in each cohort that has both sides; absent where they have no cohorts in common.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_block: Values,
    /// The difference below which both count as the same: 0.03 is 3 %.
    pub margin: f64,
    /// How it is to be read: a ratio is a bound where the generator was at its limit.
    pub reads: Reads,
    /// The p value of "the ratio is 1", adjusted for all ratios that are compared together.
    pub p_adjusted: Option<f64>,
    /// The claim; absent for the second instance of a baseline.
    pub claim: Option<Claim>,
    /// Why the claim is inconclusive, where it is.
    pub inconclusive: Option<Inconclusive>,
    /// The smallest true difference, as a share, that 9 of 10 such runs would call different. Only where a run may
    /// end when its answer is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// A/A of `ab`: the two instances of the reference, and of the other side, compared with each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<BaselineCheck>,
}

impl JudgedRatio {
    /// What may be claimed unless it is withheld.
    pub(crate) fn of(
        judged: &Judged,
        by_block: Values,
        reads: Reads,
        withheld: Option<Inconclusive>,
        margin: f64,
    ) -> Self {
        let (claim, inconclusive) = claim(judged, reads, withheld, margin);
        Self {
            plain_interval: judged.plain,
            by_block,
            margin,
            p_adjusted: judged.p_adjusted,
            claim: Some(claim),
            inconclusive,
            ..Self::unjudged(estimate(judged), reads)
        }
    }

    /// Of two values of which nothing more is known, so that nothing is claimed.
    pub(crate) const fn unjudged(estimate: Estimate, reads: Reads) -> Self {
        Self {
            estimate,
            plain_interval: None,
            by_block: Values::new(),
            margin: 0.0,
            reads,
            p_adjusted: None,
            claim: None,
            inconclusive: None,
            detectable: None,
            checks: Vec::new(),
        }
    }

    /// The smallest and the largest of a cohort.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        range(&self.by_block.values().copied().collect::<Vec<_>>())
    }

    /// The reference over the figure.
    pub(super) fn inverse(self) -> Self {
        let inverse = |it: Interval| Interval { low: 1.0 / it.high, high: 1.0 / it.low };
        let Estimate { value, interval, samples } = self.estimate;
        let interval = interval.map(inverse);
        Self {
            estimate: Estimate { value: 1.0 / value, interval, samples },
            plain_interval: self.plain_interval.map(inverse),
            by_block: self.by_block.into_iter().map(|(block, it)| (block, 1.0 / it)).collect(),
            reads: self.reads.inverse(),
            claim: self.claim.map(Claim::inverse),
            ..self
        }
    }
}
