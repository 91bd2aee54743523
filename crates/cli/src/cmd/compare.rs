//! `wirebench compare`: compares two results, from their journals alone, or two loads. What counts as a change is
//! defined in the crate `report`.

mod loads;

use std::{path::Path, path::PathBuf};
use wirebench_report::{
    analysis::{Metric, MetricFacts},
    compare::{Basis, CompareOptions, Differences, NotComparable, Rows, compare},
    gates,
    tune::SUITE,
};

use crate::{
    args::format::GROUP,
    deliver::DeliveryArgs,
    exit::{Exit, incomparable, usage},
    out,
    results::{latest, stored::Stored},
};

const AFTER_HELP: &str = "\
A change is significant if its 95 % interval excludes \"no change\" and is not inside the margin: 3 % \
saturated, 5 % at a rate, 10 % of a latency. Intervals need 3 cohorts on each side: wirebench run \
--cohorts 4.

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
    /// An option that needs intervals or baselines, if one is given.
    fn for_runs(&self) -> Option<&'static str> {
        let given = [
            (!self.metric.is_empty(), "--metric"),
            (self.absolute, "--absolute"),
            (self.all, "--all"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let [old, new] = [&arguments.old, &arguments.new].map(|it| it.canonicalize().ok());
    if old.is_some() && old == new {
        out::note("warning: both are the same result, so nothing differs");
    }
    if let Some(exit) = loads::run(arguments)? {
        return Ok(exit);
    }
    let [old_name, new_name] = [&arguments.old, &arguments.new].map(|it| it.display().to_string());
    let (old, new) = (stored(&arguments.old)?, stored(&arguments.new)?);
    arguments.delivery.gate.check(&gates::scope("compare", &new.journal))?;
    let wishes = CompareOptions {
        metrics: arguments.metric.clone(),
        basis: if arguments.absolute { Basis::Absolute } else { Basis::Relative },
        differences: if arguments.force { Differences::Force } else { Differences::Refuse },
        conditions: arguments.delivery.gate.conditions(),
    };
    let comparison = compare(&old.side(&old_name), &new.side(&new_name), &wishes)
        .map_err(|reason| incomparable(refusal(&reason, &old_name, &new_name)))?;
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

fn refusal(reason: &NotComparable, old: &str, new: &str) -> String {
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
