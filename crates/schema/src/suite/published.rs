//! A published document: its machine, every figure of its tables, how comparable each row is, and what it
//! concludes.
//!
//! Figures are kept as printed. This module does not judge them.

mod conclusion;
mod row;

pub use conclusion::{ClaimedPair, Conclusion, Pair, Relation, Size};
pub use row::{PublishedRow, RowState};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::{Suite, Workload};
use crate::{id::VariantId, refuse::refuse_if};

/// `[published]` of a suite: the document that it repeats.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Its title, and where it is from.
    #[serde(rename = "document")]
    pub title: String,
    /// The machine, in the document's words.
    pub machine: String,
    /// The CPUs that its servers could have.
    pub cpus: u32,
    /// The placement of its two sides.
    pub placement: DocumentPlacement,
    /// The load generator, with its arguments.
    pub generator: String,
}

/// The placement of the two sides in a document's measurements.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentPlacement {
    /// On the same CPUs, and nothing was bound.
    Shared,
    /// On different CPUs or machines.
    Apart,
}

/// A column of a published table. Its name says the unit; those of latencies are the last.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Replies per second.
    RequestsPerSecond,
    /// Replies per second relative to another row's, where only the ratio was published.
    RequestsPerSecondRatio,
    /// Replies per second relative to another row's, in percent.
    RequestsPerSecondPercent,
    /// Length of one response.
    ResponseBytes,
    /// Requests that the generator made.
    Requests,
    /// Replies other than 200.
    Errors,
    /// Bytes received per second.
    BytesPerSecond,
    /// Bytes received and sent per second, in millions.
    MegabytesPerSecond,
    /// Mean latency in nanoseconds.
    LatencyNsMean,
    /// Median latency in nanoseconds.
    LatencyNsP50,
    /// 90th percentile of latency in nanoseconds.
    LatencyNsP90,
    /// 99th percentile of latency in nanoseconds.
    LatencyNsP99,
    /// 99.9th percentile of latency in nanoseconds.
    LatencyNsP999,
    /// 99.99th percentile of latency in nanoseconds.
    LatencyNsP9999,
    /// Smallest latency in milliseconds.
    LatencyMsMin,
    /// Largest latency in milliseconds.
    LatencyMsMax,
    /// 25th percentile of latency in milliseconds.
    LatencyMsP25,
    /// Median latency in milliseconds.
    LatencyMsP50,
    /// 75th percentile of latency in milliseconds.
    LatencyMsP75,
    /// 99th percentile of latency in milliseconds.
    LatencyMsP99,
}

/// A table of the document.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTable {
    /// Its section in the document.
    pub section: String,
    /// The workloads of the suite that the figures belong to: each row has all columns of the first one, then
    /// those of the next one.
    pub workloads: Vec<String>,
    /// The headings of all figures of a row, as printed; absent where the names of the columns are enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heads: Vec<String>,
    /// The row that ratios and percentages refer to, where the document gives those.
    pub relative_to: Option<VariantId>,
    /// What is published of each workload.
    pub columns: Vec<Column>,
    /// The numbers of each variant, in the order of the document.
    #[schemars(with = "BTreeMap<VariantId, Vec<f64>>")]
    pub rows: IndexMap<VariantId, Vec<f64>>,
}

/// All tables of a document: `suites/published/NAME.toml`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedFigures {
    /// For each variant with figures, how its program compares with the published one. Journals of an
    /// older wirebench have none, and then no row counts as comparable.
    #[serde(default)]
    pub rows: BTreeMap<VariantId, PublishedRow>,
    /// One after the other.
    #[serde(rename = "table")]
    pub tables: Vec<PublishedTable>,
    /// What the document concludes from them.
    #[serde(rename = "conclusion", default)]
    pub conclusions: Vec<Conclusion>,
}

impl Column {
    /// Whether it is a time, whose figures scatter more than those of requests.
    #[must_use]
    pub fn is_latency(self) -> bool {
        self >= Self::LatencyNsMean
    }

    /// Whether a run here has a figure that can be compared between rows.
    const fn is_concluded(self) -> bool {
        matches!(
            self,
            Self::RequestsPerSecond
                | Self::MegabytesPerSecond
                | Self::LatencyNsP50
                | Self::LatencyNsP99
                | Self::LatencyNsP999
                | Self::LatencyMsP50
                | Self::LatencyMsP99
        )
    }
}

impl PublishedFigures {
    /// Reads the text of a file of figures that belongs to `suite`.
    pub fn parse(text: &str, suite: &Suite) -> Result<Self, String> {
        let figures: Self = crate::toml_error::parse(text)?;
        for table in &figures.tables {
            table.check(suite).map_err(|reason| format!("table `{}`: {reason}", table.section))?;
        }
        figures.check_rows().map_err(|reason| format!("[rows]: {reason}"))?;
        for conclusion in &figures.conclusions {
            conclusion
                .check(&figures, suite)
                .map_err(|reason| format!("conclusion `{}`: {reason}", conclusion.sentence()))?;
        }
        Ok(figures)
    }

    /// Whether the program that has these figures and the variant measured here are the same, or of the
    /// same design. Only then a published difference can hold or fail here.
    #[must_use]
    pub fn is_comparable(&self, variant: &VariantId) -> bool {
        self.rows.get(variant).is_some_and(|row| row.state.is_comparable())
    }

    /// All variants that have figures or to which ratios refer.
    #[must_use]
    pub fn variants(&self) -> BTreeSet<&VariantId> {
        let of_tables = self.tables.iter().flat_map(PublishedTable::variants);
        let others = self.conclusions.iter().flat_map(Conclusion::rows_without_figures);
        of_tables.chain(others).collect()
    }

    /// Each row has one state, and each state a row.
    fn check_rows(&self) -> Result<(), String> {
        let published = self.variants();
        for variant in &published {
            refuse_if!(
                !self.rows.contains_key(*variant),
                "`{variant}` has figures and no state: {}",
                row::HOW_TO_WRITE
            );
        }
        for (variant, row) in &self.rows {
            refuse_if!(
                !published.contains(variant),
                "`{variant}` has a state, but no table has figures of it"
            );
            row.check().map_err(|reason| format!("`{variant}`: {reason}"))?;
        }
        Ok(())
    }

    /// The figure of `variant` in `workload`, if it was published.
    #[must_use]
    pub fn figure(&self, workload: &str, variant: &VariantId, column: Column) -> Option<f64> {
        self.tables.iter().find_map(|table| table.figure(workload, variant, column))
    }

    /// The published value of `variant` in `column` relative to that of `base`.
    #[must_use]
    pub fn ratio(
        &self,
        workload: &str,
        variant: &VariantId,
        base: &VariantId,
        column: Column,
    ) -> Option<f64> {
        let figure = |variant| self.figure(workload, variant, column);
        if let (Some(own), Some(base)) = (figure(variant), figure(base)) {
            return (base > 0.0).then_some(own / base);
        }
        // A document's ratio is used as published.
        let mut tables =
            self.tables.iter().filter(|table| table.relative_to.as_ref() == Some(base));
        let ratio = tables
            .find_map(|table| table.figure(workload, variant, Column::RequestsPerSecondRatio));
        (column == Column::RequestsPerSecond).then_some(ratio).flatten()
    }
}

impl PublishedTable {
    /// The numbers of a variant; none if it has no row.
    #[must_use]
    pub fn row(&self, variant: &VariantId) -> Option<&[f64]> {
        self.rows.get(variant).map(Vec::as_slice)
    }

    /// The workload and the column of each number of a row.
    pub fn cells(&self) -> impl Iterator<Item = (&str, Column)> {
        self.workloads
            .iter()
            .flat_map(|workload| self.columns.iter().map(|column| (workload.as_str(), *column)))
    }

    /// The variants with a row or with one that ratios refer to.
    fn variants(&self) -> impl Iterator<Item = &VariantId> {
        self.rows.keys().chain(&self.relative_to)
    }

    fn figure(&self, workload: &str, variant: &VariantId, column: Column) -> Option<f64> {
        let index = self.cells().position(|cell| cell == (workload, column))?;
        self.row(variant)?.get(index).copied()
    }

    fn check(&self, suite: &Suite) -> Result<(), String> {
        let names = suite.workloads.iter().map(|Workload { name, .. }| name.as_str());
        let known: BTreeSet<&str> = names.collect();
        refuse_if!(
            self.workloads.is_empty() || self.columns.is_empty() || self.rows.is_empty(),
            "write its workloads, its columns and its rows"
        );
        if let Some(unknown) = self.workloads.iter().find(|name| !known.contains(name.as_str())) {
            return Err(crate::suggest::unknown("workload", unknown, known));
        }
        let relates = |column: &Column| {
            matches!(column, Column::RequestsPerSecondRatio | Column::RequestsPerSecondPercent)
        };
        refuse_if!(
            self.relative_to.is_none() && self.columns.iter().any(relates),
            "a ratio or a percentage needs a `relative_to`"
        );
        for variant in self.variants() {
            refuse_if!(!suite.names(variant), "`{variant}` is not an entry of the suite");
        }
        let (heads, cells) = (self.heads.len(), self.cells().count());
        refuse_if!(
            heads > 0 && heads != cells,
            "it has {heads} `heads` for {cells} numbers per row"
        );
        for (variant, numbers) in &self.rows {
            refuse_if!(
                numbers.len() != cells,
                "`{variant}` needs one number per workload and column: it has {} instead of {cells}",
                numbers.len()
            );
            refuse_if!(
                numbers.iter().any(|number| !number.is_finite() || *number < 0.0),
                "`{variant}` has a number that is negative or not finite"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
