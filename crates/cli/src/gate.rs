//! `--fail-if`: its options, its file and its exit code. The crate `report` decides which conditions are violated.

use std::path::PathBuf;
use wirebench_report::{
    gates::{Gate, GateVerdict, gate_lines},
    junit::{self as cases, CaseState},
};
use wirebench_schema::gate::{Condition, GateScope};

use crate::{
    exit::{Exit, usage},
    junit, out,
};

/// The help of a verb that compares nothing.
pub(crate) const VALUES: &str = "Exit with 4 if a figure is beyond this limit, such as 'p99 > 5ms', 'req/s < 10k' or \
                                 'errors of NAME > 0.1%'; repeatable";

/// The conditions, and the file with their results.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FailIf {
    /// Exit with 4 if a figure or its change is beyond this limit, such as 'cpu > +3%', 'p99 > 5ms' or
    /// 'errors of NAME > 0.1%'; repeatable
    #[arg(long = "fail-if", value_name = "CONDITION")]
    fail_if: Vec<Condition>,
    /// Write the result of every --fail-if to this file as JUnit XML
    #[arg(long, value_name = "FILE", requires = "fail_if")]
    junit: Option<PathBuf>,
}

/// The conditions, and what follows from an inconclusive one.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct GateOptions {
    #[command(flatten)]
    conditions: FailIf,
    /// Exit with 4 also if a condition of --fail-if is inconclusive
    #[arg(long, requires = "fail_if")]
    fail_if_inconclusive: bool,
    /// Exit with 3 if a condition of --fail-if is inconclusive
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Where the results of conditions are printed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shown {
    /// With the result, which has them.
    There,
    /// After the result, which is text.
    After,
    /// On standard error, because the result is for other programs.
    Aside,
}

impl FailIf {
    pub(crate) fn conditions(&self) -> &[Condition] {
        &self.fail_if
    }

    /// Refuses conditions that could never be violated.
    pub(crate) fn check(&self, scope: &GateScope<'_>) -> anyhow::Result<()> {
        self.fail_if.iter().try_for_each(|it| scope.check(it)).map_err(usage)
    }

    /// Creates the file, so that a wrong path is reported before anything is measured.
    pub(crate) fn create_file(&self) -> anyhow::Result<()> {
        junit::create(self.junit.as_deref())
    }

    /// Writes the result of the conditions and decides the exit code.
    pub(crate) fn conclude(
        &self,
        verb: &str,
        gate: Option<&Gate>,
        shown: Shown,
    ) -> anyhow::Result<Exit> {
        let options =
            GateOptions { conditions: self.clone(), fail_if_inconclusive: false, strict: false };
        options.conclude(verb, gate, shown)
    }
}

impl GateOptions {
    pub(crate) fn conditions(&self) -> &[Condition] {
        self.conditions.conditions()
    }

    pub(crate) fn check(&self, scope: &GateScope<'_>) -> anyhow::Result<()> {
        self.conditions.check(scope)
    }

    pub(crate) fn create_file(&self) -> anyhow::Result<()> {
        self.conditions.create_file()
    }

    /// Writes the result of the conditions, prints warnings to standard error, and decides the exit code.
    pub(crate) fn conclude(
        &self,
        verb: &str,
        gate: Option<&Gate>,
        shown: Shown,
    ) -> anyhow::Result<Exit> {
        let Some(gate) = gate else { return Ok(Exit::Fine) };
        let mut cases = cases::of_gate(gate);
        for case in cases.iter_mut().filter(|_| self.fail_if_inconclusive) {
            if let CaseState::Skipped(why) = &case.state {
                case.state = CaseState::Failed(why.clone());
            }
        }
        match shown {
            Shown::There => {
                for warning in &gate.warnings {
                    out::note(&format!("warning: {warning}"));
                }
            }
            Shown::After => out::result(&gate_lines(gate).join("\n")),
            Shown::Aside => out::note(&gate_lines(gate).join("\n")),
        }
        junit::write(self.conditions.junit.as_deref(), verb, &cases)?;
        let unjudged = gate.unjudged();
        unjudged.iter().for_each(|it| out::error(it));
        let is_violated = gate.conditions.iter().any(|it| !it.failed.is_empty());
        Ok(match gate.verdict {
            _ if is_violated => Exit::Regression,
            GateVerdict::Failed => Exit::Failed,
            GateVerdict::Inconclusive if self.fail_if_inconclusive => Exit::Regression,
            _ if !unjudged.is_empty() => Exit::NotValid,
            GateVerdict::Inconclusive if self.strict => Exit::NotValid,
            GateVerdict::Inconclusive | GateVerdict::Passed => Exit::Fine,
        })
    }
}
