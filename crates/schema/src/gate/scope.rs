//! What a verb can compare with limits: conditions beyond it are refused before anything is measured.

use super::{Condition, Metric};
use crate::{id::VariantId, suggest::unknown};

/// What a verb measures and compares.
#[derive(Clone, Debug, Default)]
pub struct GateScope<'a> {
    /// The verb, as in `load`.
    pub verb: &'a str,
    /// The figures whose values it has.
    pub values: Vec<Metric>,
    /// The figures whose changes it has; none if there is nothing to compare with.
    pub changes: Vec<Metric>,
    /// Which option adds figures, as a sentence; empty if none does.
    pub hint: &'a str,
    /// The servers.
    pub servers: Vec<VariantId>,
    /// Named requests.
    pub names: Vec<String>,
}

impl GateScope<'_> {
    /// Why `condition` could never be violated; names what there is.
    pub fn check(&self, condition: &Condition) -> Result<(), String> {
        self.figure(condition)
            .and_then(|()| self.name(condition))
            .map_err(|reason| format!("--fail-if '{condition}': {reason}"))
    }

    fn figure(&self, condition: &Condition) -> Result<(), String> {
        let Self { verb, values, changes, hint, .. } = self;
        let is_change = condition.change().is_some();
        if is_change && changes.is_empty() {
            return Err(format!(
                "`{verb}` compares with nothing, so there is no change: write a limit with a unit, such as 'p99 > 5ms'"
            ));
        }
        let (what, figures) = if is_change { ("change of ", changes) } else { ("", values) };
        if figures.contains(&condition.figure) {
            return Ok(());
        }
        let known = figures.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
        let hint = if hint.is_empty() { String::new() } else { format!("; {hint}") };
        let figure = condition.figure.name();
        Err(format!("`{verb}` has no {what}{figure} here; known: {known}{hint}"))
    }

    fn name(&self, condition: &Condition) -> Result<(), String> {
        let Self { servers, names, .. } = self;
        let Some(name) = &condition.of else { return Ok(()) };
        match (servers.iter().any(|it| it.is_called(name)), names.contains(name)) {
            (false, true) if condition.change().is_some() => {
                return Err("only servers have changes: write a limit with a unit".to_owned());
            }
            (true, _) | (_, true) => return Ok(()),
            (false, false) => {}
        }
        if servers.is_empty() && names.is_empty() {
            return Err("requests have names with --requests only: omit `of`".to_owned());
        }
        let servers: Vec<String> = servers.iter().map(ToString::to_string).collect();
        Err(unknown("server or request", name, servers.iter().chain(names).map(String::as_str)))
    }
}
