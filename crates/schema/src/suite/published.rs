//! A published document: its machine, and every figure of its tables.
//!
//! Figures are kept as printed. This module does not judge them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::{Suite, SuiteError};
use crate::id::VariantId;

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

/// A column of a published table. Its name says the unit.
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
    /// The workloads of the suite that the figures belong to; several if a sentence covers them
    /// together.
    pub workloads: Vec<String>,
    /// The row that ratios and percentages refer to, where the document gives those.
    pub relative_to: Option<VariantId>,
    /// The columns of each row.
    pub columns: Vec<Column>,
    /// The numbers of each variant.
    pub rows: BTreeMap<VariantId, Vec<f64>>,
}

/// All tables of a document: `suites/published/NAME.toml`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedFigures {
    /// One after the other.
    #[serde(rename = "table")]
    pub tables: Vec<PublishedTable>,
}

impl PublishedFigures {
    /// Reads the text of a file of figures that belongs to `suite`.
    pub fn parse(text: &str, suite: &Suite) -> Result<Self, SuiteError> {
        let figures: Self = toml::from_str(text)
            .map_err(|error| SuiteError(crate::toml_error::sentence(text, &error)))?;
        for table in &figures.tables {
            table
                .check(suite)
                .map_err(|reason| SuiteError(format!("table `{}`: {reason}", table.section)))?;
        }
        Ok(figures)
    }

    /// The figure of `variant` in `workload`, if it was published.
    #[must_use]
    pub fn figure(&self, workload: &str, variant: &VariantId, column: Column) -> Option<f64> {
        let tables = self.tables.iter().filter(|table| table.is_about(workload));
        tables.into_iter().find_map(|table| table.cell(variant, column))
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
        let mut tables = self.tables.iter().filter(|table| table.is_about(workload));
        let table = tables.find(|table| table.relative_to.as_ref() == Some(base))?;
        let ratio = table.cell(variant, Column::RequestsPerSecondRatio);
        (column == Column::RequestsPerSecond).then_some(ratio).flatten()
    }
}

impl PublishedTable {
    fn is_about(&self, workload: &str) -> bool {
        self.workloads.iter().any(|name| name == workload)
    }

    fn cell(&self, variant: &VariantId, column: Column) -> Option<f64> {
        let index = self.columns.iter().position(|known| *known == column)?;
        self.rows.get(variant)?.get(index).copied()
    }

    fn check(&self, suite: &Suite) -> Result<(), String> {
        let known: BTreeSet<&str> = suite.workloads.iter().map(|w| w.name.as_str()).collect();
        if self.workloads.is_empty() || self.columns.is_empty() || self.rows.is_empty() {
            return Err("write its workloads, its columns and its rows".to_owned());
        }
        if let Some(unknown) = self.workloads.iter().find(|name| !known.contains(name.as_str())) {
            return Err(crate::suggest::unknown("workload", unknown, known));
        }
        let relates = |column: &Column| {
            matches!(column, Column::RequestsPerSecondRatio | Column::RequestsPerSecondPercent)
        };
        if self.relative_to.is_none() && self.columns.iter().any(relates) {
            return Err("a ratio or a percentage needs a `relative_to`".to_owned());
        }
        if let Some(unknown) =
            self.rows.keys().chain(&self.relative_to).find(|variant| !suite.names(variant))
        {
            return Err(format!("`{unknown}` is not an entry of the suite"));
        }
        for (variant, numbers) in &self.rows {
            if numbers.len() != self.columns.len() {
                return Err(format!(
                    "`{variant}` needs one number per column: it has {} for {} columns",
                    numbers.len(),
                    self.columns.len()
                ));
            }
            if numbers.iter().any(|number| !number.is_finite() || *number < 0.0) {
                return Err(format!("`{variant}` has a number that is negative or not finite"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = "description = \"\"\nblocks = 1\nentries = [\"c/a\", \"c/b\"]\n\
                         [[workload]]\nname = \"hello\"\nscenario = \"hello\"\nconnections = 1\n\
                         duration = \"1s\"\n";
    const TABLE: &str = "[[table]]\nsection = \"Results\"\nworkloads = [\"hello\"]\n\
                         columns = [\"requests_per_second\", \"latency_ns_p50\"]\n\
                         [table.rows]\n\"c/a\" = [200, 5]\n\"c/b\" = [100.5, 6]\n";

    fn parse(table: &str) -> Result<PublishedFigures, SuiteError> {
        PublishedFigures::parse(table, &Suite::parse("example", SUITE).unwrap())
    }

    fn id(text: &str) -> VariantId {
        text.parse().unwrap()
    }

    #[test]
    fn a_figure_is_found_by_workload_variant_and_column() {
        let figures = parse(TABLE).unwrap();
        let rate =
            |workload, variant| figures.figure(workload, &id(variant), Column::RequestsPerSecond);
        assert_eq!(rate("hello", "c/b"), Some(100.5));
        assert_eq!((rate("echo", "c/b"), rate("hello", "c/c")), (None, None));
        let column = Column::LatencyNsP50;
        assert_eq!(figures.ratio("hello", &id("c/b"), &id("c/a"), column), Some(1.2));
    }

    #[test]
    fn a_ratio_that_was_published_alone_holds_for_its_own_pair_only() {
        let table = "[[table]]\nsection = \"Text\"\nworkloads = [\"hello\"]\n\
                     relative_to = \"c/b\"\ncolumns = [\"requests_per_second_ratio\"]\n\
                     [table.rows]\n\"c/a\" = [1.6]\n";
        let figures = parse(table).unwrap();
        let ratio = |own, base, column| figures.ratio("hello", &id(own), &id(base), column);
        assert_eq!(ratio("c/a", "c/b", Column::RequestsPerSecond), Some(1.6));
        assert_eq!(ratio("c/a", "c/a", Column::RequestsPerSecond), None);
        assert_eq!(ratio("c/a", "c/b", Column::LatencyNsP50), None);
    }

    #[test]
    fn each_mistake_is_answered_with_its_table() {
        let changes = [
            ("[\"hello\"]", "[\"helo\"]"),
            ("c/b", "c/c"),
            ("[200, 5]", "[200]"),
            ("200", "-200"),
            ("ns_p50", "ns_p51"),
            ("[\"hello\"]", "[]"),
            ("columns", "relative_to = \"c/c\"\ncolumns"),
            ("per_second", "per_second_ratio"),
        ];
        let text = crate::mistakes::messages(TABLE, &changes, parse);
        expect_test::expect_file!["golden/published.txt"].assert_eq(&text);
    }
}
