//! A comparison of two servers for programs: one JSON object, described in `docs/ab.md`. No figure
//! is rounded.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use wirebench_schema::journal::Procedure;

use super::{Ab, Figure, Side};
use crate::{
    analysis::{Analysis, MetricFacts, SideRatio},
    compare::Gate,
    json::{self, Report},
};

/// The version of the object. It grows whenever a field changes its meaning or goes away.
const AB_FORMAT: u32 = 4;

/// The whole, in the order in which it is written: what most want to know first.
#[derive(JsonSchema, Serialize)]
pub(crate) struct AbReport<'a> {
    /// The verdict in words.
    sentence: String,
    /// The version of this object.
    format: u32,
    /// `higher`, `lower`, `same`, `not-higher`, `not-lower`, `inconclusive`, `not-valid` or
    /// `not-measured` or `not-comparable`.
    verdict: &'static str,
    /// The figure of the verdict, a name in `figures`.
    metric: &'static str,
    /// How the runs were made.
    procedure: Procedure,
    /// Cohorts with a figure of either side.
    cohorts: usize,
    /// The reference.
    a: &'a Side<'a>,
    /// What is compared with it.
    b: &'a Side<'a>,
    /// Whether both are the same program; null if unknown.
    same_program: Option<bool>,
    /// Figures by metric.
    figures: BTreeMap<&'static str, FigureReport<'a>>,
    /// The result of the conditions; null without conditions.
    gate: &'a Option<Gate>,
    /// The report of the run.
    report: &'a Report<'a>,
}

/// A figure of both sides.
#[derive(JsonSchema, Serialize)]
struct FigureReport<'a> {
    /// The median of A's runs.
    a: Option<f64>,
    /// The median of B's runs.
    b: Option<f64>,
    /// B over A; null where there is nothing to compare.
    ratio: Option<&'a SideRatio>,
}

impl Ab<'_> {
    /// Everything, as JSON.
    ///
    /// # Panics
    ///
    /// Never: all keys are words or numbers, and a number that JSON does not have becomes null.
    #[must_use]
    pub fn json(&self) -> String {
        let [a, b] = &self.sides;
        let analysis = Analysis::of(self.journal);
        let object = AbReport {
            sentence: self.sentence(),
            format: AB_FORMAT,
            verdict: self.verdict.name(),
            metric: self.metric.field(),
            procedure: self.journal.start.procedure,
            cohorts: self.cohorts(),
            a,
            b,
            same_program: Side::same_program(&self.sides),
            figures: self.figures.iter().map(|it| (it.metric.field(), figure(it))).collect(),
            gate: &self.gate,
            report: &json::report(&analysis),
        };
        json::pretty(&object)
    }
}

fn figure(figure: &Figure) -> FigureReport<'_> {
    let [a, b] = figure.medians();
    FigureReport { a, b, ratio: figure.ratio.as_ref() }
}
