//! The order of rows that a reader has asked for.

use std::str::FromStr;

use super::{Metric, MetricFacts, Row, WorkloadRows};

const NAME: &str = "name";

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sort {
    Name,
    /// The best first; in a phase without this metric the usual order.
    Metric(Metric),
}

impl FromStr for Sort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == NAME {
            return Ok(Self::Name);
        }
        Metric::read(text).map(Self::Metric).map_err(|reason| format!("{reason}, {NAME}"))
    }
}

impl WorkloadRows<'_> {
    /// What a row is sorted by, the least first; none if the order is the usual one.
    pub(crate) fn sort_key(&self, row: &Row<'_>) -> Option<(f64, String)> {
        let metric = match self.sort? {
            Sort::Name => return Some((0.0, row.name())),
            Sort::Metric(metric) => metric.in_phase(self.workload.phase)?,
        };
        let least_first = |value: f64| match metric.more_is_better() {
            true => -value,
            false => value,
        };
        let key = row.median(metric).map_or(f64::INFINITY, least_first);
        Some((key, String::new()))
    }
}
