//! `wirebench compare`: compares two results, from their journals alone. What counts as a change is
//! defined in the crate `report`.

use std::{fs, path::Path, path::PathBuf};
use wirebench_experiment::journal;
use wirebench_report::{
    analysis::Metric,
    compare::{
        Basis, Comparison, Condition, Differences, NotComparable, Rows, Side, Wishes, compare,
        json, markdown, text,
    },
    tune::SUITE,
};
use wirebench_schema::{environment::Environment, journal::Journal};

use crate::{
    exit::{Exit, incomparable, usage},
    out,
};

/// The file beside a journal that tells of the machine.
const ENVIRONMENT_FILE: &str = "environment.json";

const AFTER_HELP: &str = "\
A change counts when its 95 % interval excludes \"no change\" and is not inside the margin (3 % saturated, \
5 % at a rate, 10 % of a latency). That takes 3 cohorts on each side: wirebench run --cohorts 4.

Each result is one session; differences between sessions of the same program are not in the intervals.

Conditions: METRIC < -PERCENT or METRIC > +PERCENT, such as --fail-if 'throughput < -3%' --fail-if \
'p99 > +10%'; METRIC is one of throughput, cpu, p50, p99, p999 and memory. A condition is violated when \
the whole interval lies beyond it.

Exit codes: 0 no condition is violated, 1 one is, or a cell lacks figures that it had, 2 usage, 3 the two \
cannot be compared.

More, with an example for continuous integration: docs/compare.md.";

/// Arguments of `wirebench compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The older result: the folder that `wirebench run` named, or its `runs.jsonl`
    old: PathBuf,
    /// The newer one
    new: PathBuf,
    /// Compare this figure, such as cpu or p99; repeatable [default: of each phase the primary
    /// one, and p99 beside the cost]
    #[arg(long, value_name = "METRIC")]
    metric: Vec<Metric>,
    /// Compare figures as they are, with the machine's drift in them, even where ratios to the
    /// same baseline could be compared
    #[arg(long)]
    absolute: bool,
    /// Show changes that are not significant too
    #[arg(long)]
    all: bool,
    /// Fail when a figure changed by more than this, such as 'cpu > +3%'; repeatable
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Condition>,
    /// Compare anyway when machine, workload, load generator or placement differ
    #[arg(long)]
    force: bool,
    /// Write Markdown, for a comment below a change
    #[arg(long, conflicts_with_all = ["json", "all"])]
    markdown: bool,
    /// Write JSON
    #[arg(long, conflicts_with = "all")]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let (old, new) = (Stored::read(&arguments.old)?, Stored::read(&arguments.new)?);
    let wishes = Wishes {
        metrics: arguments.metric.clone(),
        basis: if arguments.absolute { Basis::Absolute } else { Basis::Relative },
        differences: if arguments.force { Differences::Force } else { Differences::Refuse },
        conditions: arguments.fail_if.clone(),
    };
    let comparison = compare(&old.side(), &new.side(), &wishes)
        .map_err(|reason| incomparable(refusal(&reason, &old.name, &new.name)))?;
    out::result(&match (arguments.markdown, arguments.json) {
        (true, _) => markdown(&comparison),
        (_, true) => json(&comparison),
        (false, false) => {
            text(&comparison, if arguments.all { Rows::All } else { Rows::ThatCount })
        }
    });
    Ok(judge(&comparison))
}

/// Whether the conditions hold. Warnings go to standard error as well, wherever the result goes.
fn judge(comparison: &Comparison) -> Exit {
    let Some(gate) = &comparison.gate else { return Exit::Fine };
    for warning in &gate.warnings {
        out::note(&format!("warning: {warning}"));
    }
    if gate.fails() { Exit::Failed } else { Exit::Fine }
}

/// A result on disk.
struct Stored {
    name: String,
    journal: Journal,
    environment: Option<Environment>,
}

impl Stored {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let journal = journal::read(path).map_err(usage)?;
        if journal.start.suite == SUITE {
            return Err(usage(format!(
                "{}: `wirebench tune` made this folder, and only results of `wirebench run` can be \
                 compared; `wirebench report` shows it",
                path.display()
            )));
        }
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new(".")) };
        let environment = environment(&folder.join(ENVIRONMENT_FILE))?;
        Ok(Self { name: path.display().to_string(), journal, environment })
    }

    fn side(&self) -> Side<'_> {
        let environment = self.environment.as_ref();
        Side { name: &self.name, journal: &self.journal, environment }
    }
}

/// What the file tells of the machine; none without the file.
fn environment(path: &Path) -> anyhow::Result<Option<Environment>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(usage(format!("{}: {error}", path.display()))),
    };
    let read = serde_json::from_str(&text).map_err(|error| {
        usage(format!(
            "{}: {error}; without the file the results can be compared, and which machine they are \
             of is not known",
            path.display()
        ))
    })?;
    Ok(Some(read))
}

fn refusal(reason: &NotComparable, old: &str, new: &str) -> String {
    let (head, lines, next): (_, Vec<String>, _) = match reason {
        NotComparable::Differ(differences) => (
            format!("{old} and {new} cannot be compared, because these differ:"),
            differences.iter().map(ToString::to_string).collect(),
            "measure both alike, or give --force to compare them anyway",
        ),
        NotComparable::NothingInCommon(reasons) => (
            format!("{old} and {new} have no cell that can be compared:"),
            reasons.clone(),
            "measure the same entries with the same workloads in both",
        ),
    };
    let lines: String = lines.iter().map(|line| format!("\n  {line}")).collect();
    format!("{head}{lines}\n{next}")
}
