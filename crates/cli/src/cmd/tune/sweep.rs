//! The sweep of `wirebench tune`: every number of workers with every number of connections.

use std::time::Duration;
use wirebench_catalogue::subject::Subject;
use wirebench_experiment::tune::{grid, sweep};
use wirebench_schema::suite::Workload;

use super::{Arguments, show};
use crate::{
    context::Context,
    exit::{Exit, usage},
    files, out,
    value::lists,
};

/// What the document swept that this repeats.
const WORKERS: &str = "1-4";
const CONNECTIONS: &str = "10-1000";
/// Default number of runs of each cell.
const BLOCKS: u32 = 3;
/// Many short windows show more than few long ones: what differs between runs of a cell is larger than
/// what differs within one.
pub(super) const WINDOW: Duration = Duration::from_millis(200);
pub(super) const WARM_UP: Duration = Duration::from_millis(100);
const MOST_RUNS: usize = 100_000;

pub(super) fn run(
    context: &Context,
    arguments: &Arguments,
    subject: Subject,
    model: &Workload,
) -> anyhow::Result<Exit> {
    let blocks = arguments.blocks.unwrap_or(BLOCKS);
    let settings = arguments.settings(context)?;
    let shortage =
        |connections| files::shortage(&Workload { connections, ..model.clone() }, &settings);
    let workers = workers(arguments, &subject, settings.workers)?;
    let connections = connections(arguments, shortage)?;
    let count = workers.len() * connections.len() * blocks as usize;
    if count > MOST_RUNS {
        return Err(usage(format!(
            "{count} runs are too many, at most {MOST_RUNS}: use fewer values or --blocks"
        )));
    }
    let workloads = grid(model, &workers, &connections).map_err(usage)?;
    let mut reporter = arguments.results.reporter();
    let (experiment, prepared, _awake) =
        arguments.prepared((context, &mut reporter), subject, settings, (workloads, blocks))?;
    let finished = sweep(&experiment, &prepared, context.interrupt.flag(), &mut reporter);
    drop(reporter);
    let finished = finished?;
    let exit = if finished.all_well() { Exit::Fine } else { Exit::Failed };
    show((&finished, &context.interrupt), &arguments.results.delivery, exit)
}

/// The workers that are swept; `usual` if the server takes no number. More than the server can have are
/// refused when they were asked for, and left out when they were not.
fn workers(arguments: &Arguments, subject: &Subject, usual: u32) -> anyhow::Result<Vec<u32>> {
    if let Some(list) = &arguments.workers {
        check_workers(subject, list)?;
        return Ok(list.clone());
    }
    if subject.variant.run.service.is_some() {
        return Ok(vec![usual]);
    }
    if !subject.takes_workers() {
        out::note("only connections vary: write {workers} in the command to vary workers as well");
        return Ok(vec![usual]);
    }
    let mut all = lists::workers(WORKERS).map_err(usage)?;
    let before = all.len();
    all.retain(|workers| subject.workers(*workers) == *workers);
    if all.len() < before {
        let most = all.last().copied().unwrap_or(0);
        out::note(&format!("{} supports at most {most} workers", subject.variant.id));
    }
    Ok(all)
}

/// The connections that are swept, in their order. More than this process can have, as `shortage`
/// says, are refused and left out likewise.
fn connections(
    arguments: &Arguments,
    shortage: impl Fn(usize) -> Option<String>,
) -> anyhow::Result<Vec<usize>> {
    let mut all = match &arguments.shape.connections {
        Some(list) => list.clone(),
        None => lists::connections(CONNECTIONS).map_err(usage)?,
    };
    let Some(reason) = all.last().and_then(|most| shortage(*most)) else { return Ok(all) };
    if arguments.shape.connections.is_some() {
        return Err(usage(reason));
    }
    all.retain(|connections| shortage(*connections).is_none());
    out::note(&format!("skipped the largest numbers of connections: {reason}"));
    Ok(all)
}

/// Refuses a number of workers that the server cannot have, or that its command does not take.
pub(super) fn check_workers(subject: &Subject, workers: &[u32]) -> anyhow::Result<()> {
    if !workers.is_empty() && !subject.takes_workers() {
        return Err(usage(format!(
            "--workers has no effect on {}: write {{workers}} in its command, or omit --workers",
            subject.variant.id
        )));
    }
    let Some(asked) = workers.iter().find(|it| subject.workers(**it) != **it) else {
        return Ok(());
    };
    let most = subject.workers(*asked);
    let id = &subject.variant.id;
    Err(usage(format!("{id} supports at most {most} workers, not {asked}: use --workers {most}")))
}
