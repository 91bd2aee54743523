//! A comparison of two servers for programs: one JSON object, described in `docs/ab.md`. No figure
//! is rounded.

use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::{Ab, Figure, Ratio, Side, State};
use crate::{
    compare::json::gate,
    json::{self, Report},
};

/// The version of the object. It grows whenever a field changes its meaning or goes away.
const AB_FORMAT: u32 = 2;

/// The whole, in the order in which it is written: what most want to know first.
#[derive(Serialize)]
struct Object<'a> {
    sentence: String,
    format: u32,
    verdict: &'static str,
    metric: &'static str,
    pairs: usize,
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
            pairs: self.pairs(),
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
    let ratio = figure.ratio.as_ref().map(|it| ratio(figure, it));
    json!({ "a": figure.medians[0], "b": figure.medians[1], "ratio": ratio })
}

fn ratio(figure: &Figure, ratio: &Ratio) -> Value {
    json!({
        "value": ratio.estimate.value,
        "low": ratio.estimate.interval.map(|it| it.low),
        "high": ratio.estimate.interval.map(|it| it.high),
        "samples": ratio.estimate.samples,
        "least": ratio.least,
        "most": ratio.most,
        "by_block": ratio.by_block,
        "floor": ratio.floor.relative,
        "floor_basis": json::floor_basis(ratio.floor.basis),
        "reads": ratio.reads.name(),
        "p_adjusted": ratio.p_adjusted,
        "claim": ratio.claim.name(),
        "words": ratio.claim.words(figure.metric),
    })
}
