//! `wirebench compare` of two loads, and of a load with something else.

use std::path::Path;
use wirebench_report::{
    compare::Differences,
    gates,
    load::{self, LoadSide, compare_loads},
};

use super::{Arguments, refusal};
use crate::{
    exit::{Exit, incomparable, usage},
    results::loads::{self, StoredLoad},
};

/// The comparison, if one of the two is a load.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Option<Exit>> {
    let (old, new) = match (loads::read(&arguments.old)?, loads::read(&arguments.new)?) {
        (Some(old), Some(new)) => (old, new),
        (Some(_), None) => return Err(mixed(&arguments.old, &arguments.new)),
        (None, Some(_)) => return Err(mixed(&arguments.new, &arguments.old)),
        (None, None) => return Ok(None),
    };
    if let Some(option) = arguments.for_runs() {
        return Err(usage(format!(
            "{option} applies to results of `wirebench run`, and these are loads: omit it"
        )));
    }
    let conditions = arguments.delivery.gate.conditions();
    if let Some(change) = conditions.iter().find(|it| it.change().is_some()) {
        return Err(usage(format!(
            "--fail-if '{change}': no interval of a change is known from one load each: write a limit of the newer one \
             such as 'p99 > 5ms', or use `wirebench ab`"
        )));
    }
    arguments.delivery.gate.check(&gates::scope_of_load("compare", &new.result.report.config))?;
    let [old_name, new_name] = [&arguments.old, &arguments.new].map(|it| it.display().to_string());
    let differences = if arguments.force { Differences::Force } else { Differences::Refuse };
    let mut comparison = compare_loads(&side(&old, &old_name), &side(&new, &new_name), differences)
        .map_err(|reason| incomparable(refusal(&reason, &old_name, &new_name)))?;
    comparison.gate = load::gate(&new.result.report, &conditions);
    let gate = comparison.gate.as_ref();
    arguments.delivery.show("compare", &comparison, gate, || comparison.text()).map(Some)
}

fn side<'a>(stored: &'a StoredLoad, name: &'a str) -> LoadSide<'a> {
    LoadSide { name, result: &stored.result, environment: stored.environment.as_ref() }
}

fn mixed(load: &Path, other: &Path) -> anyhow::Error {
    usage(format!(
        "{} is a load and {} is not: compare two loads, or two results of `wirebench run`",
        load.display(),
        other.display()
    ))
}
