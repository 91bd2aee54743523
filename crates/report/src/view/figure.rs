//! One metric of a cell, and its ratios to others.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_stats::{Interval, Rank};

use crate::analysis::{self, JudgedRatio, Metric, MetricFacts, Reads};

/// One metric of a cell.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Figure {
    /// The name with its unit, such as `latency_ns_p99`.
    #[schemars(with = "String")]
    #[serde(serialize_with = "analysis::metric::field")]
    pub metric: Metric,
    pub unit: &'static str,
    /// The median over the cohorts.
    pub value: f64,
    /// The interval of 95 % confidence of their geometric mean (Student); null with fewer than three, and where one is
    /// not above zero.
    pub interval: Option<Interval>,
    /// True if it is what it claims to be.
    pub valid: bool,
    /// How the value is to be read: a bound where the generator was at its limit, or where no reply took as long.
    pub reads: Reads,
    /// The value of each cohort and instance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
    /// Which ranks the cell may have; null with few cohorts.
    pub rank: Option<Rank>,
    /// To what it is compared with; none of the reference itself.
    pub ratios: Vec<Ratio>,
}

/// The value of a cohort.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Sample {
    /// It counts from 0, warm-up cohorts first; those of further groups of servers are 10 000 apart.
    pub cohort: u32,
    /// Which instance of the server in the cohort.
    pub instance: u32,
    pub value: f64,
    /// True if it is far from the others', from eight cohorts on. It is in all figures.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outlier: bool,
}

/// The other side of a ratio.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// The baseline of the load, or side A.
    Baseline,
    /// The older result.
    Older,
    /// The ratio to the baseline in the older result.
    OlderRatio,
}

/// The figure over that of a reference.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Ratio {
    pub to: Reference,
    /// The state of the machine whose cohorts alone it is about, where it is not the one that is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<usize>,
    /// The value of the reference; absent where it is that of another cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
    #[serde(flatten)]
    pub judged: JudgedRatio,
    /// True if both sides are what they claim to be.
    pub valid: bool,
}

impl Figure {
    /// A figure without samples and ratios.
    pub(crate) fn of(metric: Metric, value: f64, valid: bool) -> Self {
        Self {
            metric,
            unit: metric.unit(),
            value,
            interval: None,
            valid,
            reads: Reads::Exactly,
            samples: Vec::new(),
            rank: None,
            ratios: Vec::new(),
        }
    }

    /// True if no reply took as long as this latency, so that the true one is longer.
    pub(crate) fn is_beyond_replies(&self) -> bool {
        let is_latency = matches!(self.metric, Metric::Latency(_));
        is_latency && matches!(self.reads, Reads::AtLeast | Reads::Either)
    }

    /// True if forms without marks may have it.
    pub(crate) fn is_known(&self) -> bool {
        self.valid && !self.is_beyond_replies()
    }

    /// Its ratio to what it is mainly compared with.
    pub(crate) fn ratio(&self) -> Option<&Ratio> {
        self.ratios.iter().find(|it| it.state.is_none())
    }
}

impl Ratio {
    pub(crate) fn of(to: Reference, judged: JudgedRatio, valid: bool) -> Self {
        Self { to, state: None, reference: None, judged, valid }
    }
}
