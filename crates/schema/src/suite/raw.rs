//! The raw form of a suite's file: its keys and their meaning. It makes no measuring decisions.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

use super::{
    BASELINE_COPIES, DEFAULT_BASELINE, Document, Suite, Workload, raw_workload::RawWorkload,
    scale::MachineRule,
};
use crate::{load::NamedFiles, one_or_many::list, refuse::refuse_if};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSuite {
    description: String,
    #[serde(default)]
    entries: Vec<String>,
    #[serde(default = "default_baseline", deserialize_with = "list")]
    baseline: Vec<String>,
    blocks: u32,
    #[serde(default)]
    warmup_blocks: u32,
    workers: Option<u32>,
    published: Option<Document>,
    #[serde(default)]
    scale: RawScale,
    workload: Vec<RawWorkload>,
}

fn default_baseline() -> Vec<String> {
    vec![DEFAULT_BASELINE.to_owned()]
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScale {
    machine: Option<MachineRule>,
}

impl RawSuite {
    /// Converts the file to a suite, or explains why it is invalid.
    pub(super) fn resolve(self, name: &str, files: &NamedFiles<'_>) -> Result<Suite, String> {
        refuse_if!(self.blocks == 0, "`blocks = 0` measures nothing: write at least 1");
        refuse_if!(self.workers == Some(0), "`workers = 0` serves nothing: write at least 1");
        refuse_if!(self.workload.is_empty(), "no [[workload]]: write at least one");
        let mut workloads = Vec::new();
        let mut workload_rules = BTreeMap::new();
        for raw in self.workload {
            let rule = raw.machine.clone();
            for workload in raw.resolve(files)? {
                workload_rules.extend(rule.clone().map(|rule| (workload.name.clone(), rule)));
                workloads.push(workload);
            }
        }
        let mut names = BTreeSet::new();
        for Workload { name, .. } in &workloads {
            refuse_if!(
                !names.insert(name),
                "two workloads are named `{name}`: a name may contain {{connections}} and {{payload}}"
            );
        }
        let machine = self.scale.machine;
        refuse_if!(
            machine.as_ref().is_some_and(|it| it.blocks == Some(0)),
            "[scale.machine]: `blocks = 0` measures nothing: write at least 1"
        );
        refuse_if!(
            self.published.is_none() && (machine.is_some() || !workload_rules.is_empty()),
            "a rule for this machine changes what was published: write [published] too"
        );
        let suite = Suite {
            name: name.to_owned(),
            description: self.description,
            entries: self.entries,
            baselines: self.baseline,
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
