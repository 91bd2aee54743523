//! A search for the highest rate at which a server keeps objectives: what is sought, how one run is
//! judged, and what was found. How the search goes on is decided elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{id::VariantId, objective::Objective};

/// What a search is for. It is written before the first run.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SearchSpec {
    /// The server.
    pub variant: VariantId,
    /// The workload whose rate is varied. Its runs are pilots.
    pub workload: String,
    /// All of them must hold.
    pub objectives: Vec<Objective>,
    /// The search ends when half of the interval is at most this share of the rate, such as 0.03. In
    /// older journals: how far the lowest rate that misses may be above the rate that is found.
    pub precision: f64,
    /// No more runs are made. Absent in older journals.
    pub most_runs: Option<u32>,
    /// Of older journals: runs that must confirm what is found.
    #[serde(default)]
    pub confirmations: u32,
    /// No lower rate is tried, in requests per second.
    pub lowest: u64,
    /// No higher rate is tried, in requests per second.
    pub highest: u64,
}

/// What a search has found. It is written after the last run.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SearchResult {
    /// The highest rate that holds, in requests per second: at higher ones more than half of the
    /// runs miss. Absent when there is none.
    pub requests_per_second: Option<u64>,
    /// The lower end of the 95 % interval of that rate. Absent when it is not known.
    pub low: Option<u64>,
    /// The upper end.
    pub high: Option<u64>,
    /// Runs of which all this is made.
    #[serde(default)]
    pub runs: u32,
    /// In how many of the confirming runs the rate held. Of today's, the last one or none.
    #[serde(default)]
    pub held: u32,
    /// How many confirming runs were made: at a rate that was found, or a lower one after a miss, on a process that was
    /// saturated just before. Of older journals, all at the rate above.
    #[serde(default)]
    pub confirmations: u32,
    /// The last rate of which no confirming run was undisturbed, in requests per second: it is unknown whether it
    /// holds. Absent when each rate was confirmed or missed.
    pub disturbed: Option<u64>,
    /// The lowest rate above it that missed, in requests per second.
    pub missed: Option<u64>,
    /// Why it is not higher.
    pub limit: SearchLimit,
}

/// Why a search has found no higher rate.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchLimit {
    /// The server misses the objectives beyond it.
    Server,
    /// The load generator is at its limit beyond it: the server may do more.
    Generator,
    /// Beyond it others use so much of the CPUs that this alone makes it miss: the server may do
    /// more.
    Others,
    /// No higher one was to be tried.
    HighestRate,
    /// The time was up.
    Budget,
    /// A signal ended the search.
    Interrupted,
}
