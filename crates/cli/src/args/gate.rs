//! `--fail-if`: its options, its file and its exit code. The crate `report` decides which conditions are violated.

use std::{ops::Deref, path::PathBuf};
use wirebench_report::{
    gates::{Gate, GateVerdict, gate_lines},
    junit::{self as cases, CaseState},
};
use wirebench_schema::{
    gate::{Condition, GateScope},
    load::RequestSet,
    metric::Metric,
};

use crate::{
    exit::{Exit, usage},
    junit, out,
};

/// The help of a verb that compares nothing.
pub(crate) const VALUES: &str = "Exit with 4 if a figure is beyond this limit, such as 'p99 > 5ms' or 'errors of \
                                 NAME > 0.1%', or `inconclusive`; repeatable";

/// The help of a verb that judges rows or a verdict too.
pub(crate) const STRICT: &str =
    "Exit with 3 if a row or the verdict is not valid or a bound, or a condition is inconclusive";

/// The conditions, and the file with their results.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FailIf {
    /// Exit with 4 if a figure or change is beyond this limit, such as 'cpu > +3%' or 'errors of NAME > 0.1%',
    /// or `inconclusive`; repeatable
    #[arg(long = "fail-if", value_name = "CONDITION", value_parser = violation)]
    fail_if: Vec<Violation>,
    /// Write the result of every --fail-if to this file as JUnit XML
    #[arg(long, value_name = "FILE", requires = "fail_if", hide_short_help = true)]
    junit: Option<PathBuf>,
}

/// A reason to exit with 4: a condition, or without one, each condition that is inconclusive.
type Violation = Option<Condition>;

fn violation(text: &str) -> Result<Violation, String> {
    if text == "inconclusive" { Ok(None) } else { text.parse().map(Some) }
}

/// The conditions, and what follows from an inconclusive one.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Conditions")]
pub(crate) struct GateArgs {
    #[command(flatten)]
    conditions: FailIf,
    /// Exit with 3 if a condition of --fail-if is inconclusive
    #[arg(long, hide_short_help = true)]
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

impl Deref for GateArgs {
    type Target = FailIf;

    fn deref(&self) -> &FailIf {
        &self.conditions
    }
}

impl GateArgs {
    /// The exit code of inconclusive conditions.
    pub(crate) const fn inconclusive(&self) -> Exit {
        if self.strict { Exit::NotValid } else { Exit::Fine }
    }
}

impl FailIf {
    pub(crate) fn conditions(&self) -> Vec<Condition> {
        self.fail_if.iter().flatten().cloned().collect()
    }

    /// Refuses conditions that could never be violated, also of single requests of these sets. Creates the file, so
    /// that a wrong path is reported before anything is measured.
    pub(crate) fn check_all<'a>(
        &self,
        scope: &GateScope<'_>,
        sets: impl IntoIterator<Item = &'a RequestSet>,
    ) -> anyhow::Result<()> {
        let of_all = [Metric::Cpu, Metric::Memory, Metric::Achieved, Metric::Unsent];
        let sets: Vec<Vec<&str>> = sets.into_iter().map(RequestSet::names).collect();
        for it in self.conditions().iter().filter(|it| of_all.contains(&it.figure)) {
            let Some(name) = it.of.as_deref() else { continue };
            let is_server = scope.servers.iter().any(|server| server.is_called(name));
            let mut with = sets.iter().filter(|set| set.contains(&name)).peekable();
            if !is_server && with.peek().is_some() && with.all(|set| set.len() > 1) {
                let figure = it.figure.name();
                return Err(usage(format!(
                    "--fail-if '{it}': {figure} is measured for all requests together: omit `of`"
                )));
            }
        }
        self.check(scope)
    }

    /// Refuses conditions that could never be violated. Creates the file, so that a wrong path is reported before
    /// anything is measured.
    pub(crate) fn check(&self, scope: &GateScope<'_>) -> anyhow::Result<()> {
        let conditions = self.conditions();
        if conditions.is_empty() && !self.fail_if.is_empty() {
            return Err(usage("--fail-if inconclusive is about other conditions: add one"));
        }
        conditions.iter().try_for_each(|it| scope.check(it)).map_err(usage)?;
        junit::create(self.junit.as_deref())
    }

    /// Writes the result of the conditions, prints warnings to standard error, and returns the exit code of
    /// them or of the result. That of `inconclusive` conditions may be another one.
    pub(crate) fn conclude(
        &self,
        (verb, gate, shown): (&str, Option<&Gate>, Shown),
        inconclusive: Exit,
        of_result: impl FnOnce() -> Exit,
    ) -> anyhow::Result<Exit> {
        let Some(gate) = gate else { return Ok(of_result()) };
        let fails = self.fail_if.contains(&None);
        let inconclusive = if fails { Exit::Regression } else { inconclusive };
        let mut cases = cases::of_gate(gate);
        for case in cases.iter_mut().filter(|_| inconclusive == Exit::Regression) {
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
        junit::write(self.junit.as_deref(), verb, &cases)?;
        let unjudged = gate.unjudged();
        unjudged.iter().for_each(|it| out::error(it));
        let is_violated = gate.conditions.iter().any(|it| !it.failed.is_empty());
        let of_gate = match (gate.verdict, inconclusive) {
            _ if is_violated => Exit::Regression,
            (GateVerdict::Failed, _) => Exit::Failed,
            (GateVerdict::Inconclusive, Exit::Regression) => Exit::Regression,
            _ if !unjudged.is_empty() => Exit::NotValid,
            (GateVerdict::Inconclusive, exit) => exit,
            (GateVerdict::Passed, _) => Exit::Fine,
        };
        Ok(of_gate.max(of_result()))
    }
}
