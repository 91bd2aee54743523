//! The result of conditions in sentences, and as a part of documents.

use crate::{
    document::Block,
    table_units::count,
    view::{Gate, GateVerdict, Hit},
};

/// What a gate says that neither fails nor passes.
const NOT_PASSED: &str = "NOT PASSED: a condition is violated only if the whole interval is beyond it; \
                          --fail-if inconclusive makes this a failure";

/// What became of the conditions, a line for each thing to say.
#[must_use]
pub fn gate_lines(gate: &Gate) -> Vec<String> {
    let mut lines = Vec::new();
    for it in &gate.conditions {
        let condition = &it.condition;
        let line = |word: &str, hit: &Hit| format!("{word} '{condition}': {}", hit.sentence());
        lines.extend(it.failed.iter().map(|hit| line("FAILED", hit)));
        lines.extend(it.inconclusive.iter().map(|hit| line("inconclusive", hit)));
        match it.kept.as_slice() {
            [] => {}
            [hit] => lines.push(line("passed", hit)),
            [nearest, ..] => lines.push(format!(
                "passed '{condition}' in {}; nearest: {}",
                count(it.kept.len(), "cell"),
                nearest.sentence()
            )),
        }
    }
    let lost = gate.lost.iter();
    lines.extend(lost.map(|it| format!("FAILED: {} has no figures: {}", it.cell, it.reason)));
    lines.extend(gate.warnings.iter().map(|warning| format!("WARNING: {warning}")));
    if gate.verdict == GateVerdict::Inconclusive {
        lines.push(NOT_PASSED.to_owned());
    }
    lines
}

/// The same as a part of a document; nothing without conditions. Conditions that concern nothing are in it too, because
/// a document has no standard error.
pub(crate) fn conditions_block(gate: Option<&Gate>) -> Block {
    let Some(gate) = gate else { return Block::Lines(Vec::new()) };
    let (state, heading) = match gate.verdict {
        GateVerdict::Failed => ("failed", "Conditions: FAILED"),
        GateVerdict::Inconclusive => ("inconclusive", "Conditions: inconclusive"),
        GateVerdict::Passed => ("passed", "Conditions: passed"),
    };
    Block::Conditions { state, heading, lines: [gate_lines(gate), gate.unjudged()].concat() }
}
