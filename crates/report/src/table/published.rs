//! What the document of a suite has published, next to what was measured here: how the two loads
//! differ, and the document's own tables with both figures.

mod document;

pub(super) use self::document::{rows, sections};

use wirebench_schema::{
    journal::{Journal, Published},
    load::{ClosedPolicy, Stop},
    suite::{DocumentPlacement, Workload},
    units::write_duration,
};

use crate::{
    load_words::describe_stop,
    order::grouped,
    published_rows::{self, few},
    table_units::{bytes, count},
};

/// Workloads that a difference names; more are counted.
const NAMED: usize = 3;
/// Bytes of a date in a time.
const DATE: usize = 10;

/// The meaning of the tables of a document, and how this run differs from it; none for a suite without them.
pub(super) fn introduction(journal: &Journal, machine: Option<&str>) -> Option<[String; 2]> {
    let title = &published_rows::document(journal)?.document.title;
    let tables =
        format!("Document: {title}. Each row is as published, and below it as measured here.");
    Some([tables, differences_line(journal, machine)?])
}

/// How this run differs from the document; none for a suite without one.
pub(super) fn differences_line(journal: &Journal, machine: Option<&str>) -> Option<String> {
    let published = journal.start.published.as_ref()?;
    let document = &published.document;
    let mut list = differences(journal, published);
    let here = machine.into_iter().chain(journal.start.started.get(..DATE));
    let here = here.collect::<Vec<_>>().join(", ");
    list.push(format!("this machine ({here}) instead of {}", document.machine));
    list.push(format!("load by {} instead of {}", journal.start.generator, document.generator));
    Some(format!("Differences from {}: {}.", document.title, list.join("; ")))
}

/// Everything that is not as published, each as `this instead of that`.
fn differences(journal: &Journal, published: &Published) -> Vec<String> {
    let start = &journal.start;
    let mut list = Vec::new();
    let mut blocks = |here: u32, there: u32, noun: &str| {
        if here != there {
            list.push(format!("{} instead of {there}", count(here, noun)));
        }
    };
    blocks(start.blocks, published.blocks, "block");
    blocks(start.warmup_blocks, published.warmup_blocks, "warm-up block");
    let is_apart = start.placement.pinned && start.placement.disjoint;
    let sides = match (published.document.placement, is_apart) {
        (DocumentPlacement::Shared, true) => {
            Some("server and generator on separate CPUs instead of shared ones")
        }
        (DocumentPlacement::Apart, false) => {
            Some("server and generator on shared CPUs instead of separate ones")
        }
        (DocumentPlacement::Shared, false) | (DocumentPlacement::Apart, true) => None,
    };
    list.extend(sides.map(str::to_owned));
    let is_here = |there: &&Workload| start.workloads.iter().any(|here| here.name == there.name);
    let absent: Vec<&Workload> = published.workloads.iter().filter(|it| !is_here(it)).collect();
    if !absent.is_empty() {
        let names: Vec<&str> = absent.iter().map(|it| it.name.as_str()).collect();
        list.push(format!("without {}", few(&names, NAMED, "workloads")));
    }
    // Each difference once, with the workloads that have it, in their order.
    let generator_cpus = start.placement.generator_cpus.len();
    let found = grouped(start.workloads.iter().flat_map(|here| {
        let there = published.workloads.iter().find(|there| there.name == here.name);
        let differences = there.map(|there| workload(here, there, generator_cpus));
        differences.into_iter().flatten().map(|difference| (difference, here.name.as_str()))
    }));
    let all = start.workloads.len();
    list.extend(found.into_iter().map(|(difference, names)| {
        if names.len() == all {
            difference
        } else {
            format!("{difference} in {}", few(&names, NAMED, "workloads"))
        }
    }));
    list
}

/// The header lines that a workload adds to each request, by their names.
fn header_names(workload: &Workload) -> String {
    let names: Vec<&str> = workload.headers.iter().map(|(name, _)| name.as_str()).collect();
    match names.as_slice() {
        [] => "no further headers".to_owned(),
        names => format!("headers {}", names.join(", ")),
    }
}

fn workload(here: &Workload, there: &Workload, generator_cpus: usize) -> Vec<String> {
    let mut list = Vec::new();
    // What is here stands with its unit, what was there without.
    let mut differ = |is_same: bool, here: String, there: String| {
        if !is_same {
            list.push(format!("{here} instead of {there}"));
        }
    };
    if let (Some(here), Some(there)) = (here.workers, there.workers) {
        differ(here == there, count(here, "worker"), there.to_string());
    }
    let (own, its) = (here.connections, there.connections);
    differ(own == its, count(own, "connection"), its.to_string());
    if let Some(its) = there.threads {
        let own = here.threads.unwrap_or(generator_cpus).min(here.connections);
        let its = its.min(there.connections);
        differ(own == its, count(own, "generator thread"), its.to_string());
    }
    let bare = match (here.stop, there.stop) {
        (Stop::After(_), Stop::After(its)) => write_duration(its),
        (Stop::Requests(_), Stop::Requests(its))
        | (Stop::RequestsPerConnection(_), Stop::RequestsPerConnection(its)) => its.to_string(),
        (_, its) => describe_stop(its),
    };
    differ(here.stop == there.stop, describe_stop(here.stop), bare);
    if here.scenario.protocol().traits().has_payload {
        let size = |it: &Workload| bytes(it.payload_bytes as u64);
        let is_same = here.payload_bytes == there.payload_bytes;
        differ(is_same, format!("messages of {}", size(here)), size(there));
    }
    let (own, its) = (header_names(here), header_names(there));
    let is_same = here.headers == there.headers;
    let (own, its) = match own == its {
        true => (format!("{own} with other values"), "the published ones".to_owned()),
        false => (own, its),
    };
    differ(is_same, own, its);
    let repeats = |it: &Workload| match it.on_closed {
        ClosedPolicy::Fail => "not repeated",
        ClosedPolicy::Retry => "repeated",
    };
    let (own, its) =
        (format!("requests on closed connections {}", repeats(here)), repeats(there).to_owned());
    differ(here.on_closed == there.on_closed, own, its);
    let limit = |it: &Workload| write_duration(it.timeout);
    differ(here.timeout == there.timeout, format!("timeout of {}", limit(here)), limit(there));
    let time = |it: &Workload| write_duration(it.warmup);
    differ(here.warmup == there.warmup, format!("{} of warm-up", time(here)), time(there));
    let before = |it: &Workload| it.warmup_requests.unwrap_or(0);
    let (own, its) = (before(here), before(there));
    differ(own == its, format!("{own} requests before"), its.to_string());
    list
}

#[cfg(test)]
mod tests;
