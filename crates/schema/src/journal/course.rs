//! What happens in an experiment beside its runs: when it is over, at which rates it measures, that
//! it was cut off and goes on, how it ended. Nothing is decided here.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::id::VariantId;

/// When an experiment is over, beside its number of blocks.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Goal {
    /// Further blocks are made until every ratio's interval is this narrow: half of its width over
    /// the ratio, such as 0.01.
    pub precision: Option<f64>,
    /// No block is begun that would end later than this after the first run began.
    #[serde(default, with = "crate::units::optional_duration_text")]
    pub budget: Option<Duration>,
}

/// The one rate at which the cost of all variants is measured in a workload.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct FixedRate {
    /// The workload's name.
    pub workload: String,
    /// Requests per second, over all connections.
    pub requests_per_second: u64,
    /// Why this one, as a sentence.
    pub reason: String,
    /// What each variant reached in the pilot, in requests per second.
    pub reached: Vec<(VariantId, f64)>,
    /// Variants that cannot hold it, each with a sentence. They are not measured at it.
    pub too_slow: Vec<(VariantId, String)>,
}

/// A run that was cut off goes on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Resumed {
    /// When, as RFC 3339 in UTC.
    pub at: String,
    /// The arguments of the program that goes on.
    pub command: Vec<String>,
    /// What is not quite as it was, each as a sentence.
    pub differences: Vec<String>,
}

/// The tail of a journal.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct End {
    /// When, as RFC 3339 in UTC.
    pub ended: String,
    /// How it ended.
    pub reason: EndReason,
}

/// How a run of a suite ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// All runs were made.
    Complete,
    /// A signal ended it.
    Interrupted,
    /// Every interval is as narrow as was asked for.
    Precise,
    /// The time was up.
    Budget,
}
