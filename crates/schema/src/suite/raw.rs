//! The raw form of a suite's file: its keys and their meaning. It makes no measuring decisions.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

use super::{
    BASELINE_COPIES, DEFAULT_BASELINE, Document, Suite, SuiteError, raw_workload::RawWorkload,
    scale::MachineRule,
};
use crate::load::NamedFiles;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSuite {
    description: String,
    #[serde(default)]
    entries: Vec<String>,
    #[serde(default = "default_baseline")]
    baseline: OneOrMany<String>,
    blocks: u32,
    #[serde(default)]
    warmup_blocks: u32,
    workers: Option<u32>,
    published: Option<Document>,
    #[serde(default)]
    scale: RawScale,
    workload: Vec<RawWorkload>,
}

fn default_baseline() -> OneOrMany<String> {
    OneOrMany::One(DEFAULT_BASELINE.to_owned())
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScale {
    machine: Option<MachineRule>,
}

/// One value, or a list of values to be swept.
#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected one value, or a list of values of the same kind")]
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T: Clone> OneOrMany<T> {
    pub(super) fn values(&self) -> Vec<T> {
        match self {
            Self::One(value) => vec![value.clone()],
            Self::Many(values) => values.clone(),
        }
    }
}

impl RawSuite {
    /// Converts the file to a suite, or explains why it is invalid.
    pub(super) fn resolve(self, name: &str, files: &NamedFiles<'_>) -> Result<Suite, SuiteError> {
        if self.blocks == 0 {
            return Err(SuiteError("`blocks = 0` measures nothing: write at least 1".to_owned()));
        }
        if self.workers == Some(0) {
            return Err(SuiteError("`workers = 0` serves nothing: write at least 1".to_owned()));
        }
        if self.workload.is_empty() {
            return Err(SuiteError("no [[workload]]: write at least one".to_owned()));
        }
        let mut workloads = Vec::new();
        let mut workload_rules = BTreeMap::new();
        for raw in self.workload {
            let rule = raw.rule()?;
            for workload in raw.resolve(files)? {
                workload_rules.extend(rule.clone().map(|rule| (workload.name.clone(), rule)));
                workloads.push(workload);
            }
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = workloads.iter().find(|workload| !names.insert(&workload.name)) {
            return Err(SuiteError(format!(
                "two workloads are named `{}`: a name may contain {{connections}} and {{payload}}",
                twice.name
            )));
        }
        let machine = self.scale.machine;
        if machine.as_ref().is_some_and(|it| it.blocks == Some(0)) {
            let reason = "[scale.machine]: `blocks = 0` measures nothing: write at least 1";
            return Err(SuiteError(reason.to_owned()));
        }
        if self.published.is_none() && (machine.is_some() || !workload_rules.is_empty()) {
            return Err(SuiteError(
                "a rule for this machine changes what was published: write [published] too"
                    .to_owned(),
            ));
        }
        let suite = Suite {
            name: name.to_owned(),
            description: self.description,
            entries: self.entries,
            baselines: self.baseline.values(),
            blocks: self.blocks,
            warmup_blocks: self.warmup_blocks,
            copies: 1,
            baseline_copies: BASELINE_COPIES,
            workers: self.workers,
            workloads,
            document: self.published,
            machine: machine.unwrap_or_default(),
            workload_rules,
        };
        suite.check()?;
        Ok(suite)
    }
}
