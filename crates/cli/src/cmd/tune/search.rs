//! The search of `wirebench tune --objective`: up to which constant rate the server keeps it.

use wirebench_catalogue::subject::Subject;
use wirebench_experiment::{
    experiment::{Observer, Progress},
    tune::{SearchGoal, Watcher, seek, workloads},
};
use wirebench_judge::objectives::{ObjectiveResult, Side};
use wirebench_report::table_units::{latency, thousands};
use wirebench_schema::{
    journal::{Measurement, SearchSpec},
    objective::Objective,
    suite::Workload,
};

use super::{Arguments, show, sweep::check_workers};
use crate::{
    context::Context,
    exit::{Exit, usage},
    files,
    live::progress::Reporter,
};

const PRECISION: f64 = 0.05;
pub(super) const RATES: (u64, u64) = (100, 10_000_000);
const CONNECTIONS: usize = 64;

pub(super) fn run(
    context: &Context,
    arguments: &Arguments,
    subject: Subject,
    model: &Workload,
    objectives: &[Objective],
) -> anyhow::Result<Exit> {
    let (workers, connections) = shape(arguments, &subject)?;
    let largest = objectives.iter().map(|it| it.below).max().unwrap_or_default();
    let model = Workload {
        workers,
        connections,
        // A reply that is given up too early would say nothing on the objective.
        timeout: model.timeout.max(largest * 2),
        ..model.clone()
    };
    let workloads = workloads(&model);
    let [_, rated] = &workloads;
    rated.check().map_err(usage)?;
    let (lowest, highest) = arguments.rates.unwrap_or(RATES);
    let sought = SearchSpec {
        variant: subject.variant.id.clone(),
        workload: rated.name.clone(),
        objectives: objectives.to_vec(),
        precision: arguments.precision.unwrap_or(PRECISION),
        most_runs: arguments.runs,
        confirmations: 0,
        lowest,
        highest,
    };
    let quest = SearchGoal { sought, budget: arguments.budget };
    let settings = arguments.settings(context)?;
    if let Some(shortage) = files::shortage(rated, &settings) {
        return Err(usage(shortage));
    }
    let mut reporter = arguments.results.reporter();
    let (experiment, prepared, _awake) =
        arguments.prepared((context, &mut reporter), subject, settings, (workloads.to_vec(), 1))?;
    let mut progress_shown = SearchProgress { reporter, objectives };
    let stop = context.interrupt.flag();
    let finished = seek(&experiment, &quest, &prepared, stop, &mut progress_shown);
    drop(progress_shown);
    let finished = finished?;
    // A search that found no rate has failed, and so has one whose server failed its checks.
    let found = finished.journal.found.and_then(|it| it.requests_per_second);
    let exit = if found.is_some() { Exit::Fine } else { Exit::Failed };
    show((&finished, &context.interrupt), &arguments.results.delivery, exit)
}

/// Workers and connections, which a search does not vary.
fn shape(arguments: &Arguments, subject: &Subject) -> anyhow::Result<(Option<u32>, usize)> {
    let workers = only_one(arguments.workers.as_deref(), "--workers")?;
    check_workers(subject, &workers.into_iter().collect::<Vec<_>>())?;
    let connections = only_one(arguments.shape.connections.as_deref(), "--connections")?;
    Ok((workers, connections.unwrap_or(CONNECTIONS)))
}

fn only_one<T: Copy>(list: Option<&[T]>, option: &str) -> anyhow::Result<Option<T>> {
    match list {
        None => Ok(None),
        Some([one]) => Ok(Some(*one)),
        Some(_) => Err(usage(format!(
            "with --objective only the rate varies: give one number to {option}"
        ))),
    }
}

/// Shows the result of each probe.
struct SearchProgress<'a> {
    reporter: Reporter,
    objectives: &'a [Objective],
}

impl Observer for SearchProgress<'_> {
    fn on(&mut self, progress: &Progress<'_>) {
        self.reporter.on(progress);
    }
}

impl Watcher for SearchProgress<'_> {
    fn begun(&mut self, closed_loop: Result<&Measurement, &str>) {
        let shown = match closed_loop {
            Ok(it) => format!("{} requests/s", thousands(it.load.requests_per_second)),
            Err(reason) => format!("failed: {reason}"),
        };
        self.reporter.note(&format!("closed loop, to choose the first rate: {shown}"));
    }

    fn probing(&mut self, requests_per_second: u64) {
        self.reporter.now(format!("trying {}", name(requests_per_second)));
    }

    fn probed(
        &mut self,
        requests_per_second: u64,
        outcome: Result<(&Measurement, &ObjectiveResult), &str>,
    ) {
        let shown = match outcome {
            Ok((measured, kept)) => probe(self.objectives, measured, kept),
            Err(reason) => format!("failed: {reason}"),
        };
        self.reporter.note(&format!("{}: {shown}", name(requests_per_second)));
    }

    fn as_observer(&mut self) -> &mut dyn Observer {
        self
    }
}

fn name(requests_per_second: u64) -> String {
    format!("{} requests/s", thousands(requests_per_second as f64))
}

/// `p99 1.30 ms, holds`.
fn probe(objectives: &[Objective], measured: &Measurement, kept: &ObjectiveResult) -> String {
    let mut parts = Vec::new();
    if let Some(it) = &measured.load.latency {
        let value = |objective: &Objective| {
            let figure = objective.figure;
            format!("{figure} {}", latency(figure.of(it)))
        };
        parts.extend(objectives.iter().map(value));
    }
    parts.dedup();
    parts.push(match kept {
        ObjectiveResult::Holds => "holds".to_owned(),
        ObjectiveResult::Misses { by: Side::Server, reasons } => {
            format!("misses: {}", reasons.join("; "))
        }
        ObjectiveResult::Misses { by: Side::Generator | Side::Others, reasons } => {
            format!("misses, but not because of the server: {}", reasons.join("; "))
        }
    });
    parts.join(", ")
}
