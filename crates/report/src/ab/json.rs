//! A comparison of two servers for programs: one JSON object, described in `docs/ab.md`. No figure
//! is rounded.

use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wirebench_schema::journal::Procedure;

use super::{Ab, Figure, Side, State, figure::Spread};
use crate::{
    analysis::{BaselineCheck, Inconclusive, SideRatio},
    compare::json::gate,
    json::{self, Report},
};

/// The version of the object. It grows whenever a field changes its meaning or goes away.
const AB_FORMAT: u32 = 3;

/// The whole, in the order in which it is written: what most want to know first.
#[derive(Serialize)]
struct Object<'a> {
    sentence: String,
    format: u32,
    verdict: &'static str,
    metric: &'static str,
    procedure: Procedure,
    cohorts: usize,
    a: Value,
    b: Value,
    same_program: Option<bool>,
    figures: BTreeMap<&'static str, Value>,
    gate: Option<Value>,
    report: &'a Report,
}

impl Ab<'_> {
    /// Everything, as JSON.
    ///
    /// # Panics
    ///
    /// Never: all keys are words or numbers, and a number that JSON does not have becomes null.
    #[must_use]
    pub fn json(&self) -> String {
        let [a, b] = self.sides.each_ref().map(side);
        let object = Object {
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
            gate: self.gate.as_ref().map(gate),
            report: &json::report(self.journal),
        };
        let text = serde_json::to_string_pretty(&object);
        text.expect("every part of a comparison can be written as JSON") + "\n"
    }
}

fn side(side: &Side<'_>) -> Value {
    let (state, trouble) = match &side.state {
        State::Valid => ("valid", None),
        State::NotValid(why) => ("not-valid", Some(why)),
        State::NotMeasured(why) => ("not-measured", Some(why)),
    };
    json!({
        "name": side.name,
        "title": side.described.title,
        "versions": side.described.versions,
        "fingerprint": side.described.fingerprint,
        "runs": side.runs,
        "failed": side.failed,
        "invalid": side.invalid,
        "state": state,
        "trouble": trouble,
    })
}

fn figure(figure: &Figure) -> Value {
    let [a, b] = figure.values.map(|it| it.map(|Spread { median, .. }| median));
    json!({ "a": a, "b": b, "ratio": figure.ratio.as_ref().map(ratio) })
}

fn ratio(ratio: &SideRatio) -> Value {
    json!({
        "value": ratio.estimate.value,
        "low": ratio.estimate.interval.map(|it| it.low),
        "high": ratio.estimate.interval.map(|it| it.high),
        "plain_low": ratio.plain_interval.map(|it| it.low),
        "plain_high": ratio.plain_interval.map(|it| it.high),
        "samples": ratio.estimate.samples,
        "by_block": ratio.by_block,
        "margin": ratio.margin,
        "checks": ratio.checks.each_ref().map(check),
        "reads": ratio.reads.name(),
        "p_adjusted": ratio.p_adjusted,
        "outcome": ratio.claim.name(),
        "inconclusive": ratio.inconclusive.map(Inconclusive::name),
    })
}

fn check(check: &BaselineCheck) -> Value {
    let found = check.second_over_first;
    json!({
        "state": check.state.name(),
        "value": found.map(|it| it.value),
        "low": found.and_then(|it| it.interval).map(|it| it.low),
        "high": found.and_then(|it| it.interval).map(|it| it.high),
    })
}
