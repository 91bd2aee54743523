//! The variants of a run: their descriptions, the results of their checks, and why one cannot be measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::{
    entry::{Class, Mechanism, Model, Sharing},
    id::VariantId,
    load::SampleReply,
    scenario::Scenario,
};

/// The description of a variant for readers of its row.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Described {
    /// Its name.
    pub variant: VariantId,
    /// One line.
    pub title: String,
    /// Raw, library or framework; absent for a command line of the user's.
    pub class: Option<Class>,
    /// Its programming model.
    pub model: Option<Model>,
    /// Its event mechanism.
    pub mechanism: Option<Mechanism>,
    /// Its distribution of connections over workers.
    pub sharing: Option<Sharing>,
    /// Features that it skips.
    pub skips: Vec<String>,
    /// Versions by name.
    pub versions: BTreeMap<String, String>,
    /// A digest of what its command runs, 16 hexadecimal digits. The same program has the same.
    pub fingerprint: Option<String>,
    /// True if it may run files that the fingerprint lacks: its program is a script, an interpreter or one of the
    /// system.
    #[serde(default)]
    pub runs_others: bool,
}

/// A variant that cannot be measured here.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Unavailable {
    /// Its name.
    pub variant: VariantId,
    /// A sentence with the next step, if there is one.
    pub reason: String,
    /// Whether it should have worked.
    #[serde(default)]
    pub cause: Cause,
}

/// Whether what cannot be measured should have worked.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Something that it needs is not here. That is no fault.
    #[default]
    Missing,
    /// All dependencies are installed, but it could not be prepared.
    Broken,
}

/// The outcome of the conformance checks of one scenario.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Verified {
    /// The variant.
    pub variant: VariantId,
    /// The scenario.
    pub scenario: Scenario,
    /// Checks that passed.
    pub passed: u32,
    /// Name and finding of each check that failed.
    pub failed: Vec<(String, String)>,
    /// Checks that failed as the entry declares, each with the declared reason and what was seen.
    #[serde(default)]
    pub deviates: Vec<(String, String)>,
    /// Name and reason of each check that says nothing about this server.
    pub skipped: Vec<(String, String)>,
    /// In the scenario `requests`: what the first replies were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<SampleReply>,
}
