//! Suites: which entries are measured with which workloads, and how often.

mod phase;
mod published;
mod raw;
mod raw_workload;
mod scale;
mod shape;
mod workload;

pub use phase::Phase;
pub use published::{
    ClaimedPair, Column, Conclusion, Document, DocumentPlacement, Pair, PublishedFigures,
    PublishedRow, PublishedTable, Relation, RowState, Size,
};
pub use scale::Scale;
pub use shape::ShapePatch;
pub use workload::Workload;

use std::collections::BTreeMap;

use self::{raw::RawSuite, scale::MachineRule};
use crate::{id::VariantId, load::NamedFiles};

/// A set of workloads and how to measure them.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its name, which is its file's.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// Names of entries, of variants, or of languages with a slash; empty means all.
    pub entries: Vec<String>,
    /// The baselines: in each workload, ratios refer to the first of them that has figures. At least
    /// one.
    pub baselines: Vec<String>,
    /// Number of runs of each cell.
    pub blocks: u32,
    /// Blocks before those, which are kept and do not count.
    pub warmup_blocks: u32,
    /// Number of copies of each variant in a block.
    pub copies: u32,
    /// Number of baseline runs in a block; two allow its check (A/A).
    pub baseline_copies: u32,
    /// Workers of each server; absent means one for each of the server's CPUs.
    pub workers: Option<u32>,
    /// At least one.
    pub workloads: Vec<Workload>,
    /// The document that the suite repeats, if there is one.
    pub document: Option<Document>,
    /// Reductions of the published values for an ordinary machine.
    machine: MachineRule,
    /// The same for single workloads, by their names.
    workload_rules: BTreeMap<String, ShapePatch>,
}

/// Number of baseline runs in a block: the second run shows how far apart two equal instances may
/// appear (A/A).
pub const BASELINE_COPIES: u32 = 2;

/// The entry that ratios refer to when a suite names none.
pub const DEFAULT_BASELINE: &str = "c/epoll";

impl Suite {
    /// Reads the text of a suite that names no other file.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        Self::parse_with(name, text, &|_| Err("this suite has no folder".to_owned()))
    }

    /// Reads the text of a suite's file. An error is a sentence, to which the caller adds the file's name.
    pub fn parse_with(name: &str, text: &str, files: &NamedFiles<'_>) -> Result<Self, String> {
        crate::toml_error::parse::<RawSuite>(text)?.resolve(name, files)
    }

    /// Whether the suite measures this variant by default.
    #[must_use]
    pub fn names(&self, variant: &VariantId) -> bool {
        match self.entries.as_slice() {
            [] => !variant.is_published(),
            names => names.iter().any(|name| variant.is_among(name)),
        }
    }

    /// The first reason why it cannot be carried out at any scale.
    fn check(&self) -> Result<(), String> {
        for name in self.entries.iter().filter(|name| !name.ends_with('/')) {
            name.parse::<VariantId>()?;
        }
        for scale in Scale::ALL.into_iter().filter(|_| self.document.is_some()) {
            for workload in &self.at_scale(scale, 1)?.workloads {
                workload.check().map_err(|reason| {
                    format!("workload `{}` at {scale} scale: {reason}", workload.name)
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
