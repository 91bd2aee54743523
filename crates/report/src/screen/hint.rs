//! The one next step that helps most, if there is one.

use wirebench_schema::suite::Scale;

use super::model::{Model, Outcome, Value};

/// With fewer repetitions than this an interval is rarely narrow.
const USUAL: u32 = 6;

pub(super) fn hint(model: &Model<'_>) -> Option<String> {
    if model.start.scale == Scale::Smoke {
        return None;
    }
    let inconclusive = model.count(|it| *it == Value::Compared(Outcome::Inconclusive));
    if let Some(step) = model.disturbed {
        return Some(format!("Next: {step}."));
    }
    if inconclusive == 0 {
        return None;
    }
    let (is, s) = if inconclusive == 1 { ("is", "") } else { ("are", "s") };
    let more = model.start.blocks.max(model.made).saturating_mul(2).max(USUAL);
    Some(format!(
        "Next: {inconclusive} comparison{s} {is} inconclusive; `--{}s {more}` narrows the intervals.",
        model.start.repetition()
    ))
}
