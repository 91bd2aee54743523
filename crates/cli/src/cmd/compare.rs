//! `wirebench compare`: compares two results, from their journals alone, or two loads. What counts as a change is
//! defined in the crate `report`.

use std::{path::Path, path::PathBuf};
use wirebench_report::{
    analysis::{Metric, MetricFacts},
    compare::{CompareOptions, Comparison, NotComparable, Rows, compare, compare_loads},
    gates,
    tune::SUITE,
};

use crate::{
    args::format::GROUP,
    deliver::DeliveryArgs,
    exit::{Exit, incomparable, usage},
    out,
    results::{latest, loads, loads::StoredLoad, stored::Stored},
};

const AFTER_HELP: &str = "\
A change is significant if its 95 % interval excludes \"no change\" and is not inside the margin: 3 % \
saturated, 5 % at a rate, 10 % of a latency. Intervals need 3 cohorts on each side: wirebench run \
--cohorts 3.

Each result is one session; intervals do not include differences between sessions of the same program.

Conditions: a change such as --fail-if 'throughput < -3%' --fail-if 'p99 > +10%' is violated if the whole \
interval is beyond it; its figure is throughput, cpu, p50, p99, p999 or memory. A limit with a unit, such \
as 'p99 > 5ms', applies to the newer result.

Exit codes: 0 no condition is violated; 1 figures are missing in the newer result; 2 usage; 3 not \
comparable, or with --strict a condition is inconclusive; 4 a condition is violated.

Manual, with an example for continuous integration: docs/compare.md";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, mut_arg("strict", |it| it.requires("fail_if")))]
pub(crate) struct Arguments {
    /// Older result: the result folder of `wirebench run`, or its runs.jsonl; or that of `wirebench load`, or
    /// the output of its --json; or `latest`, the newest result in the folder of results
    #[arg(value_parser = latest::result())]
    old: PathBuf,
    /// Newer result
    #[arg(value_parser = latest::result())]
    new: PathBuf,
    /// Compare this metric, such as cpu or p99; repeatable [default: the primary metric of each phase,
    /// and p99 in cost phases]
    #[arg(long, value_name = "METRIC", value_parser = Metric::read)]
    metric: Vec<Metric>,
    /// Compare absolute figures, including machine drift, instead of ratios to the baseline
    #[arg(long)]
    absolute: bool,
    /// Show insignificant changes too
    #[arg(long, conflicts_with = GROUP)]
    all: bool,
    /// Compare even if machine, workload, load generator, placement or replies differ
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    delivery: DeliveryArgs,
}

impl Arguments {
    /// The comparison of two loads, of which no interval is known.
    fn loads(&self, old: &StoredLoad, new: &StoredLoad, names: &Names) -> anyhow::Result<Compared> {
        let given = [
            (!self.metric.is_empty(), "--metric"),
            (self.absolute, "--absolute"),
            (self.all, "--all"),
        ];
        if let Some((_, option)) = given.into_iter().find(|(is_given, _)| *is_given) {
            return Err(usage(format!(
                "{option} applies to results of `wirebench run`, and these are loads: omit it"
            )));
        }
        let gate = &self.delivery.gate;
        if let Some(change) = gate.conditions().iter().find(|it| it.change().is_some()) {
            return Err(usage(format!(
                "--fail-if '{change}': no interval of a change is known from one load each: write a limit of the newer \
                 one such as 'p99 > 5ms', or use `wirebench ab`"
            )));
        }
        gate.check(&gates::scope_of_load("compare", &new.result.report.config))?;
        Ok(compare_loads(&old.side(&names[0]), &new.side(&names[1]), &self.options()))
    }

    fn runs(&self, names: &Names) -> anyhow::Result<Compared> {
        let (old, new) = (stored(&self.old)?, stored(&self.new)?);
        self.delivery.gate.check(&gates::scope("compare", &new.journal))?;
        Ok(compare(&old.side(&names[0]), &new.side(&names[1]), &self.options()))
    }

    fn options(&self) -> CompareOptions {
        CompareOptions {
            metrics: self.metric.clone(),
            absolute: self.absolute,
            force: self.force,
            conditions: self.delivery.gate.conditions(),
        }
    }
}

/// The older result and the newer one as the user wrote them.
type Names = [String; 2];
type Compared = Result<Comparison, NotComparable>;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let paths = [&arguments.old, &arguments.new];
    let [old, new] = paths.map(|it| it.canonicalize().ok());
    if old.is_some() && old == new {
        out::note("warning: both are the same result, so nothing differs");
    }
    let names = paths.map(|it| it.display().to_string());
    let mixed = |load: &str, other: &str| {
        Err(usage(format!(
            "{load} is a load and {other} is not: compare two loads, or two results of `wirebench run`"
        )))
    };
    let compared = match (loads::read(paths[0])?, loads::read(paths[1])?) {
        (Some(old), Some(new)) => arguments.loads(&old, &new, &names)?,
        (Some(_), None) => return mixed(&names[0], &names[1]),
        (None, Some(_)) => return mixed(&names[1], &names[0]),
        (None, None) => arguments.runs(&names)?,
    };
    let comparison = compared.map_err(|reason| incomparable(refusal(&reason, &names)))?;
    let rows = if arguments.all { Rows::All } else { Rows::ThatCount };
    let gate = comparison.gate.as_ref();
    arguments.delivery.show("compare", &comparison, gate, || comparison.text(rows))
}

/// A result of `wirebench run`.
fn stored(result: &Path) -> anyhow::Result<Stored> {
    let stored = Stored::read(result).map_err(usage)?;
    if stored.journal.start.suite == SUITE {
        return Err(usage(format!(
            "{} is a result of `wirebench tune`, and only results of `wirebench run` can be compared",
            result.display()
        )));
    }
    Ok(stored)
}

fn refusal(reason: &NotComparable, [old, new]: &Names) -> String {
    let (head, lines, next): (_, Vec<String>, _) = match reason {
        NotComparable::Differ(differences) => (
            format!("cannot compare {old} and {new}, because these differ:"),
            differences.iter().map(ToString::to_string).collect(),
            "Measure both alike, or use --force to compare anyway",
        ),
        NotComparable::NothingInCommon(reasons) => (
            format!("{old} and {new} have no result in common:"),
            reasons.clone(),
            "Measure the same entries with the same workloads in both",
        ),
    };
    let lines: String = lines.iter().map(|line| format!("\n  {line}")).collect();
    format!("{head}{lines}\n{next}")
}
