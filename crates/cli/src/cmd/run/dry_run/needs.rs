//! What a plan needs of its machine, and what of it the machine lacks.

use wirebench_catalogue::subject::Subject;
use wirebench_experiment::{
    cohort::MOST_INSTANCES,
    experiment::{Experiment, Needs},
};
use wirebench_report::table_units;
use wirebench_schema::suite::{DocumentPlacement, Scale, Suite};

use crate::{cmd::run::machine::Machine, plan::count};

/// Share of the memory that the load generator and its sockets may need; the rest is the servers'.
const MOST_MEMORY: f64 = 0.5;

/// Memory and open files, and a sentence for each of them that does not suffice.
pub(super) fn lines(
    experiment: &Experiment,
    subjects: &[Subject],
    machine: &Machine,
    memory_bytes: Option<u64>,
) -> Vec<String> {
    let needs = experiment.needs(subjects);
    let limit = machine.most_open_files();
    let mut lines = vec![
        format!(
            "at once: at most {}, {}",
            count(needs.servers, "server"),
            count(usize::try_from(needs.connections).unwrap_or(usize::MAX), "connection")
        ),
        memory(experiment, &needs),
        open_files(experiment, &needs, limit),
    ];
    lines.extend(memory_bytes.and_then(|bytes| short_memory(&needs, bytes)));
    lines.extend(small_groups(experiment, &needs, limit));
    lines.extend(few_workers(experiment));
    lines
}

fn memory(experiment: &Experiment, needs: &Needs) -> String {
    let generator = match experiment.settings.tool {
        None => format!("about {}", table_units::bytes(needs.generator_bytes)),
        Some(_) => "unknown".to_owned(),
    };
    format!(
        "memory: load generator {generator}, sockets about {} with empty buffers, servers unknown",
        table_units::bytes(needs.sockets_bytes)
    )
}

fn open_files(experiment: &Experiment, needs: &Needs, limit: u64) -> String {
    let most =
        if limit == u64::MAX { "no limit".to_owned() } else { format!("the limit is {limit}") };
    let whose = if experiment.settings.tool.is_some() { "at least" } else { "load generator" };
    format!("open files: {whose} {}, {most}", needs.open_files)
}

fn short_memory(needs: &Needs, memory_bytes: u64) -> Option<String> {
    let needed = needs.generator_bytes.saturating_add(needs.sockets_bytes);
    let is_short = needed as f64 > MOST_MEMORY * memory_bytes as f64;
    is_short.then(|| {
        format!(
            "memory may not suffice: load generator and sockets need {} of {}; give fewer connections (-c) or a \
             smaller --instances",
            table_units::bytes(needed),
            table_units::bytes(memory_bytes)
        )
    })
}

/// Cohorts that are smaller because of the limit of open files.
fn small_groups(experiment: &Experiment, needs: &Needs, limit: u64) -> Option<String> {
    let most = experiment.settings.most_instances;
    let is_smaller = most < MOST_INSTANCES && needs.servers == most;
    let each = needs.open_files.div_ceil(needs.servers.max(1) as u64);
    let is_cause = needs.open_files.saturating_add(each) > limit;
    (is_smaller && is_cause).then(|| {
        format!(
            "open files allow {most} servers at once instead of {MOST_INSTANCES}, so a cohort has more groups: raise \
             the hard limit (ulimit -Hn) to {}",
            each.saturating_mul(MOST_INSTANCES as u64)
        )
    })
}

/// Documents whose servers had more workers than the server has CPUs here.
fn few_workers(experiment: &Experiment) -> Option<String> {
    let Suite { workloads, document, .. } = &experiment.suite;
    let document = document.as_ref().filter(|_| experiment.scale == Scale::Machine)?;
    let published = experiment.published.iter().flat_map(|it| &it.workloads);
    let published: Vec<_> = published.filter_map(|it| Some((&it.name, it.workers?))).collect();
    let has_fewer = |name: &str, workers: Option<u32>| {
        published.iter().any(|(known, published)| *known == name && workers < Some(*published))
    };
    let fewer = workloads.iter().filter(|it| has_fewer(&it.name, it.workers)).count();
    let most = published.iter().map(|(_, workers)| *workers).max()?;
    if fewer == 0 {
        return None;
    }
    let shared = match document.placement {
        DocumentPlacement::Shared => {
            "; or give both sides all CPUs, as in the document (--server-cpus, --generator-cpus)"
        }
        DocumentPlacement::Apart => "",
    };
    let (loads, server_cpus) =
        (count(fewer, "load"), count(experiment.settings.placement.server_cpus.len(), "CPU"));
    Some(format!(
        "fewer workers than published in {loads}, because the server has {server_cpus}: {most} workers need a machine \
         with {} CPUs{shared}",
        2 * most
    ))
}
