//! Percentiles out of a recorded distribution, with findings about each: whether enough
//! samples lie beyond it, and whether it is only a lower bound.

use hdrhistogram::Histogram;
use wirebench_schema::load::{LatencyFigure, LatencySummary};

use crate::{document::Block, figure_text::or_absent};

/// Samples that must lie beyond a percentile; with fewer, a single sample decides its value.
pub const ENOUGH_BEYOND: u64 = 10;

/// Percentiles of a line.
const CURVE: [f64; 18] = [
    0.1, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.75, 99.9, 99.95, 99.975, 99.99,
    99.995, 99.999, 99.9995,
];

/// One percentile.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Percentile {
    pub nanoseconds: u64,
    /// Fewer than [`ENOUGH_BEYOND`] samples lie beyond it.
    pub is_uncertain: bool,
    /// It lies among samples that had not ended when they were given up: it is at least this.
    pub is_lower_bound: bool,
}

impl Percentile {
    /// Its value with the signs that a legend explains.
    fn show(self, unit: fn(f64) -> String) -> String {
        let sign = if self.is_lower_bound { ">" } else { "" };
        let value = format!("{sign}{}", unit(self.nanoseconds as f64));
        if self.is_uncertain { format!("[{value}]") } else { value }
    }
}

/// Cells with percentiles of several distributions, and what their signs are about.
#[derive(Debug)]
pub(crate) struct Percentiles<'p> {
    percents: &'p [f64],
    unit: fn(f64) -> String,
    found: Vec<Percentile>,
}

impl<'p> Percentiles<'p> {
    pub(crate) const fn of(percents: &'p [f64], unit: fn(f64) -> String) -> Self {
        Self { percents, unit, found: Vec::new() }
    }

    /// The cells of one distribution.
    pub(crate) fn cells(&mut self, summary: Option<&LatencySummary>) -> Vec<String> {
        let distribution = summary.map(Distribution::new);
        let found = self.percents.iter().map(|percent| distribution.as_ref()?.at(*percent));
        let found: Vec<Option<Percentile>> = found.collect();
        self.found.extend(found.iter().flatten());
        let show = |it: Option<Percentile>| or_absent(it.map(|it| it.show(self.unit)));
        found.into_iter().map(show).collect()
    }

    /// Explains the signs that were used.
    pub(crate) fn legend(self) -> Block {
        let few = self.found.iter().any(|it| it.is_uncertain);
        let bound = self.found.iter().any(|it| it.is_lower_bound);
        let few = few.then(|| format!("[ ] fewer than {ENOUGH_BEYOND} samples beyond it"));
        let bound = bound.then(|| ">   lower bound: no reply took as long".to_owned());
        Block::Lines(few.into_iter().chain(bound).collect())
    }
}

#[derive(Debug)]
pub struct Distribution<'a> {
    summary: &'a LatencySummary,
    histogram: Option<Histogram<u64>>,
}

impl<'a> Distribution<'a> {
    /// Of a summary. Without its histogram only the percentiles of its fields are known.
    #[must_use]
    pub fn new(summary: &'a LatencySummary) -> Self {
        Self { summary, histogram: summary.decoded() }
    }

    /// The value that `percent` of the samples do not exceed; 100 is the largest.
    #[must_use]
    pub fn at(&self, percent: f64) -> Option<Percentile> {
        let nanoseconds = self.value(percent)?;
        let beyond = self.summary.count - self.summary.rank(percent);
        Some(Percentile {
            nanoseconds,
            // The largest sample is no estimate: nothing lies beyond it.
            is_uncertain: percent < 100.0 && beyond < ENOUGH_BEYOND,
            is_lower_bound: self.summary.is_lower_bound(percent),
        })
    }

    /// Shares of the samples and the latency that they do not exceed, as far as enough samples lie beyond it and
    /// replies took as long: a line for a picture.
    pub(crate) fn curve(&self) -> impl Iterator<Item = (f64, f64)> {
        let known = |percent: f64| {
            let found = self.at(percent)?;
            let is_known = !found.is_uncertain && !found.is_lower_bound;
            is_known.then_some((percent / 100.0, found.nanoseconds as f64))
        };
        CURVE.into_iter().map_while(known)
    }

    fn value(&self, percent: f64) -> Option<u64> {
        // The fields first, so that all outputs agree to the last digit.
        let is_same = |it: &LatencyFigure| (it.percent() - percent).abs() < 1e-9;
        match LatencyFigure::ALL.into_iter().find(is_same) {
            Some(figure) => Some(figure.of(self.summary) as u64),
            None => Some(self.histogram.as_ref()?.value_at_quantile(percent / 100.0)),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
