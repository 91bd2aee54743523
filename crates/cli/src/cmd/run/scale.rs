//! What a suite's document has published, and how long its own scale takes.

use std::time::Duration;
use wirebench_catalogue::subject::Subject;
use wirebench_experiment::plan;
use wirebench_host::topology;
use wirebench_schema::{journal::Published, suite::Suite};

use crate::{context::Context, out, plan::show};

/// What the document of `written`, a suite as its file says it, has done and found.
pub(super) fn published(context: &Context, written: &Suite) -> anyhow::Result<Option<Published>> {
    let Some(document) = &written.document else { return Ok(None) };
    Ok(Some(Published {
        document: document.clone(),
        blocks: written.blocks,
        warmup_blocks: written.warmup_blocks,
        workloads: written.workloads.clone(),
        figures: crate::suites::figures(&context.project, written)?,
    }))
}

/// Says how long a suite takes at its document's own scale, and what this machine lacks for it.
pub(super) fn announce(suite: &Suite, subjects: &[Subject]) {
    let steps = plan::steps(subjects, suite, 1);
    let times = steps.iter().map(|step| plan::estimate(&suite.workloads[step.workload]));
    let time = show(times.fold(Duration::ZERO, Duration::saturating_add));
    let runs = steps.len();
    out::note(&format!("paper scale: {runs} runs, about {time} without builds and checks"));
    let here = topology::usable_cpus().map_or(0, |cpus| cpus.len());
    if let Some(document) = suite.document.as_ref().filter(|it| here < it.cpus as usize) {
        out::note(&format!(
            "the published machine had {} CPUs and this one has {here}: use --scale machine to reduce the \
             load to fit",
            document.cpus
        ));
    }
}
