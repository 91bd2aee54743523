//! The head of the journal: what is to be measured, how and where.

use wirebench_catalogue::fingerprint;
use wirebench_schema::journal::{Generator, GeneratorVersion, JOURNAL_FORMAT, Start};
use wirebench_server::launch::listens_elsewhere;

use super::{Experiment, Prepared};
use crate::{journal, plan::FALLBACK_BASELINE};

/// What the journal of `experiment` begins with.
pub(super) fn start(experiment: &Experiment, prepared: &Prepared) -> Start {
    let suite = &experiment.suite;
    let variants = prepared.ready.iter();
    let variants = variants.map(|(subject, versions)| {
        let mut described = subject.describe(versions.clone());
        described.fingerprint = fingerprint::fingerprint(subject);
        described.runs_others = fingerprint::runs_others(subject);
        let service = subject.variant.run.service.as_ref();
        let process = service.and_then(|it| {
            let mut instance = it.instance.clone()?;
            if let Some(address) = listens_elsewhere(it) {
                instance += &format!(", which does not listen on {address}");
            }
            Some(("process".to_owned(), instance))
        });
        described.versions.extend(process);
        described
    });
    let names: Vec<&str> = suite.baselines.iter().map(String::as_str).collect();
    let tool = experiment.settings.tool.as_ref().map(|tool| tool.version.clone());
    let own = || GeneratorVersion {
        name: Generator::Wirebench,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let folder = std::env::current_dir().unwrap_or_default();
    Start {
        format: JOURNAL_FORMAT,
        started: journal::now(),
        command: experiment.command.clone(),
        labels: experiment.labels.clone(),
        suite: suite.name.clone(),
        baselines: prepared.ready_among(&[&names[..], &[FALLBACK_BASELINE]].concat()),
        seed: experiment.settings.seed,
        folder: folder.display().to_string(),
        copies: suite.copies,
        procedure: experiment.procedure,
        margin: experiment.margin,
        metric: experiment.metric.clone(),
        baseline_copies: suite.baseline_copies,
        goal: experiment.goal,
        blocks: suite.blocks,
        block: experiment.part.as_ref().map(|it| it.block),
        warmup_blocks: suite.warmup_blocks,
        scale: experiment.scale,
        published: experiment.published.clone().map(Box::new),
        generator: tool.unwrap_or_else(own),
        left_out: experiment.left_out.clone(),
        variants: variants.collect(),
        workloads: suite.workloads.clone(),
        placement: experiment.settings.placement.clone(),
        idle: experiment.settings.idle,
        wake_up: experiment.settings.wake_up,
    }
}
