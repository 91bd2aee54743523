//! The programs that ran on the CPUs of a side while it was measured, and what to do about them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ReasonKind;

/// Share of a CPU from which on it is worth stopping a program. Those of every machine use less.
const STOPPED_SHARE: f64 = 0.01;

/// CPU time of a program.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ProgramShare {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub owner: Owner,
    /// Share of one CPU, 0 to 1 for each of its threads.
    pub share: f64,
}

/// Whose CPU time it is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// A program that has no part in the measurement.
    Other,
    /// Threads of the kernel.
    Kernel,
    /// wirebench, besides the threads that load.
    Wirebench,
    /// wirebench, which reads what the server writes to its log.
    Log,
}

/// What to do where a side had to wait for its CPUs and these programs were seen.
#[must_use]
pub fn next_step<'a>(programs: impl IntoIterator<Item = &'a ProgramShare>) -> &'static str {
    let is_much = |it: &&ProgramShare| it.owner != Owner::Other || it.share >= STOPPED_SHARE;
    let owners: Vec<Owner> = programs.into_iter().filter(is_much).map(|it| it.owner).collect();
    if owners.contains(&Owner::Other) {
        "stop these programs and measure again"
    } else if owners.contains(&Owner::Log) {
        ReasonKind::Stderr.guide().next_step
    } else {
        "measure for longer, or on another machine"
    }
}

/// Them with their shares: `chromium 3.1 %, kernel threads 0.4 %`.
pub(super) fn listed(programs: &[ProgramShare]) -> String {
    let one = |it: &ProgramShare| format!("{} {:.1} %", it.name, it.share * 100.0);
    match programs {
        [] => "no program was seen: the hypervisor or interrupts took the time".to_owned(),
        programs => programs.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}
