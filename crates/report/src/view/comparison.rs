//! The grounds for and against a comparison of two results.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use wirebench_schema::id::VariantId;
use wirebench_stats::Estimate;

use super::cell::CellId;
use crate::analysis::{Metric, metric};

/// The grounds for and against the comparison of two results.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
pub struct ComparisonFacts {
    /// Differences that `--force` overruled.
    pub forced: Vec<Difference>,
    /// What may be the cause of changes, or keep them from being seen, each as a sentence.
    pub warnings: Vec<String>,
    /// Versions of entries that differ, each as a sentence. Often they are what is compared.
    pub versions: Vec<String>,
    /// True if every row is the same program, and versions, machine and settings are the same too, so that no figure
    /// is compared.
    pub nothing_differs: bool,
    /// How much the baselines themselves changed that are the same program in both results.
    pub baseline_drift: Vec<Yardstick>,
    /// Cells that were not compared.
    pub left_out: Vec<LeftOut>,
}

/// Something that must be equal and is not.
#[derive(Clone, Debug, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Difference {
    /// What it is.
    pub what: String,
    /// In the older result.
    pub old: String,
    /// In the newer one.
    pub new: String,
}

/// A baseline that is the same program in both results. What it did is the machine's doing.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Yardstick {
    pub workload: String,
    pub variant: VariantId,
    #[schemars(with = "String")]
    #[serde(serialize_with = "metric::field")]
    pub metric: Metric,
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// A cell with a reason.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "LeftOutReport")]
pub struct LeftOut {
    /// The cell.
    #[serde(flatten)]
    pub cell: CellId,
    /// `lost`, `old-only`, `new-only` or `both`.
    #[schemars(with = "String")]
    pub presence: Presence,
    /// Why it was not compared.
    pub reason: String,
}

/// Where a cell that was not compared has figures.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// In the older result alone, although the newer one was to have them: it broke.
    Lost,
    /// In the older result alone; the newer one did not look.
    OldOnly,
    NewOnly,
    /// In both, which are not alike.
    Both,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} was `{}` and is `{}`", self.what, self.old, self.new)
    }
}

impl Difference {
    pub(crate) fn between(what: impl Into<String>, old: String, new: String) -> Option<Self> {
        (old != new).then(|| Self { what: what.into(), old, new })
    }

    /// Of two that may be described alike.
    pub(crate) fn alike(what: &str, [old, new]: [String; 2]) -> Option<Self> {
        let new = if old == new { format!("{new}, with other content") } else { new };
        Self::between(what, old, new)
    }
}
