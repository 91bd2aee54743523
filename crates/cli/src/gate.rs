//! `--fail-if` of `ab`, `compare` and `report`: its options, its file and its exit code. The crate
//! `report` decides which conditions are violated.

use std::path::PathBuf;
use wirebench_report::{
    compare::{Condition, Gate, GateVerdict},
    junit::{self as cases, CaseState},
};

use crate::{exit::Exit, junit, out};

/// The conditions, and what follows from their result.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct GateOptions {
    /// Exit with 4 if the whole interval of a change is beyond this, such as 'cpu > +3%' or
    /// 'throughput < -3%'; repeatable
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,
    /// Exit with 4 also if a condition of --fail-if is inconclusive
    #[arg(long, requires = "fail_if")]
    fail_if_inconclusive: bool,
    /// Exit with 3 if a condition of --fail-if is inconclusive
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write the result of every --fail-if to this file as JUnit XML
    #[arg(long, value_name = "FILE", requires = "fail_if")]
    junit: Option<PathBuf>,
}

impl GateOptions {
    /// Creates the file, so that a wrong path is reported before anything is measured.
    pub(crate) fn create_file(&self) -> anyhow::Result<()> {
        junit::create(self.junit.as_deref())
    }

    /// Writes the result of the conditions, prints warnings to standard error, and decides the exit code.
    pub(crate) fn conclude(&self, verb: &str, gate: Option<&Gate>) -> anyhow::Result<Exit> {
        let Some(gate) = gate else { return Ok(Exit::Fine) };
        let mut cases = cases::of_gate(gate);
        for case in cases.iter_mut().filter(|_| self.fail_if_inconclusive) {
            if let CaseState::Skipped(why) = &case.state {
                case.state = CaseState::Failed(why.clone());
            }
        }
        junit::write(self.junit.as_deref(), verb, &cases)?;
        for warning in &gate.warnings {
            out::note(&format!("warning: {warning}"));
        }
        let is_violated = gate.conditions.iter().any(|it| !it.failed.is_empty());
        Ok(match gate.verdict() {
            _ if is_violated => Exit::Regression,
            GateVerdict::Failed => Exit::Failed,
            GateVerdict::Inconclusive if self.fail_if_inconclusive => Exit::Regression,
            GateVerdict::Inconclusive if self.strict => Exit::NotValid,
            GateVerdict::Inconclusive | GateVerdict::Passed => Exit::Fine,
        })
    }
}
