//! The facts of a search and of a sweep of `tune`.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The measurements of a search besides its result.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct SearchFacts {
    /// The rate that a closed loop with as many connections reached.
    pub closed_loop_requests_per_second: Option<f64>,
    /// The runs at each rate, the lowest first.
    pub rates: Vec<ProbedRate>,
}

/// What the runs at one rate say together.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
pub struct ProbedRate {
    /// The rate that was asked for.
    pub requests_per_second: u64,
    /// Runs at it.
    pub runs: usize,
    /// In how many of them all objectives held.
    pub held: usize,
    /// Runs that missed because of the load generator.
    pub generator_late: usize,
    /// Runs that missed because others used the CPUs.
    pub held_back_by_others: usize,
    /// Runs in which replies failed.
    pub failing: usize,
    /// Runs without figures.
    pub failed: usize,
    /// Figures of latency by name, in nanoseconds: the median over the runs.
    pub latency_ns: BTreeMap<&'static str, f64>,
    /// CPU time of the server's process tree per request: the median over the runs.
    pub server_cpu_ns_per_request: Option<f64>,
    /// Why runs missed, the first reason of each kind.
    pub reasons: Vec<String>,
}

/// How a cell compares with the best one.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellRank {
    /// It has the highest median.
    Best,
    /// It is not significantly slower than any other, and its own interval reaches the best one.
    Alike,
    /// It is slower.
    Slower,
    /// It has no valid figures, too few, too different ones, or a bound below the best one.
    Unknown,
}
