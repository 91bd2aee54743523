//! A comparison of two servers for programs: one JSON object, described in `docs/ab.md`. No figure
//! is rounded.

use serde_json::{Value, json};

use super::{Ab, Figure, Ratio, Side, State};
use crate::{compare::json::gate, json};

/// The version of the object. It grows whenever a field changes its meaning or goes away.
const AB_FORMAT: u32 = 1;

impl Ab<'_> {
    /// Everything, as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let [a, b] = self.sides.each_ref().map(side);
        let figures: serde_json::Map<String, Value> = self
            .figures
            .iter()
            .map(|it| (it.metric.field().to_owned(), figure(it)))
            .collect();
        let object = json!({
            "sentence": self.sentence(),
            "format": AB_FORMAT,
            "verdict": self.verdict.name(),
            "metric": self.metric.field(),
            "pairs": self.pairs(),
            "a": a,
            "b": b,
            "same_program": Side::same_program(&self.sides),
            "figures": figures,
            "gate": self.gate.as_ref().map(gate),
            "report": json::report(self.journal),
        });
        format!("{object:#}\n")
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
