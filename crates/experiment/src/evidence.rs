//! Records the facts by which runs are judged, for tests that judge them again.
//!
//! Only a debug build does so. A journal has what readers need; these clocks would only lengthen it.

use serde::Serialize;
use std::{fs::OpenOptions, io::Write};
use wirebench_judge::validity::Evidence;
use wirebench_schema::{
    id::VariantId,
    journal::{Distances, Measurement},
};

/// The variable that names the file to which each fact is appended, one JSON object per line.
pub const FILE: &str = "WIREBENCH_EVIDENCE";

/// The figures and the findings that follow from the evidence of a run, which is recorded.
pub(crate) fn judged(variant: &VariantId, copy: u32, evidence: Evidence) -> Measurement {
    record(variant, copy, "evidence", &evidence);
    Measurement {
        bound: evidence.bound(),
        reasons: evidence.reasons(),
        load: evidence.load,
        tool: evidence.tool.map(Box::new),
        cost: evidence.cost,
        visits: Vec::new(),
        natural_visits: Vec::new(),
        distances: Distances::default(),
        instance: None,
    }
}

/// Appends a fact about an instance, by its name.
pub(crate) fn record(variant: &VariantId, copy: u32, name: &str, fact: &impl Serialize) {
    let Some(path) = std::env::var_os(FILE).filter(|_| cfg!(debug_assertions)) else { return };
    let line = serde_json::json!({ "variant": variant, "copy": copy, (name): fact });
    let file = OpenOptions::new().create(true).append(true).open(path);
    // The test that reads the file misses the line.
    let _ = file.and_then(|mut file| writeln!(file, "{line}"));
}
