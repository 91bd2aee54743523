//! The machine that a run is planned for: this one, or with `--dry-run=FILE` a recorded one.

use anyhow::Context as _;
use std::{
    fs,
    path::{Path, PathBuf},
};
use wirebench_experiment::experiment::ENVIRONMENT_FILE;
use wirebench_host::{
    environment,
    place::{PlacementRequest, Topology, place},
};
use wirebench_schema::{
    environment::{Environment, Limits},
    journal::Placement,
};

use crate::{args::machine::placement, exit::usage, plan::count, results::stored};

#[derive(Debug)]
pub(super) enum Machine {
    Here,
    Recorded { file: PathBuf, environment: Box<Environment> },
}

impl Machine {
    /// The machine of a result's folder, or of its `environment.json`.
    pub(super) fn recorded(path: &Path) -> anyhow::Result<Self> {
        let file = if path.is_dir() { path.join(ENVIRONMENT_FILE) } else { path.to_owned() };
        let shown = file.display();
        let text = fs::read_to_string(&file)
            .with_context(|| {
                format!("{shown}: give the folder of a result, or its environment.json")
            })
            .map_err(|error| usage(format!("{error:#}")))?;
        let environment: Environment = serde_json::from_str(&text).map_err(|error| {
            usage(format!(
                "{shown} has no environment: {error}; give the environment.json of a result"
            ))
        })?;
        if environment.cpus.is_empty() {
            return Err(usage(format!(
                "{shown} names no CPU: give the environment.json of a result"
            )));
        }
        Ok(Self::Recorded { file, environment: Box::new(environment) })
    }

    pub(super) fn place(&self, wish: &PlacementRequest) -> anyhow::Result<Placement> {
        match self {
            Self::Here => placement(wish),
            Self::Recorded { environment, .. } => {
                place(&Topology::of(environment), wish).map_err(usage)
            }
        }
    }

    /// How many files a process may open there; a recorded machine without a limit has none.
    pub(super) fn most_open_files(&self) -> u64 {
        match self {
            Self::Here => wirebench_sys::limits::open_files().1,
            Self::Recorded { environment, .. } => {
                let Limits { open_files, .. } = environment.limits;
                open_files.and_then(|limit| limit.hard).unwrap_or(u64::MAX)
            }
        }
    }

    /// The machine, its CPUs and its memory.
    pub(super) fn read(&self) -> Environment {
        match self {
            Self::Here => {
                let cpus = wirebench_sys::affinity::current().unwrap_or_default();
                environment::read(Path::new("/"), &cpus)
            }
            Self::Recorded { environment, .. } => environment.as_ref().clone(),
        }
    }

    /// Where it was recorded, and what is assumed of it.
    pub(super) fn assumption(&self) -> Option<String> {
        let Self::Recorded { file, .. } = self else { return None };
        Some(format!(
            "planned for the machine of {}, as if it had everything that the entries need",
            file.display()
        ))
    }
}

/// The memory that processes may use; none if unknown.
pub(super) fn memory_bytes(environment: &Environment) -> Option<u64> {
    let of_group = environment.cgroup.as_ref().and_then(|group| group.memory_bytes);
    let of_machine = (environment.memory_bytes > 0).then_some(environment.memory_bytes);
    of_machine.into_iter().chain(of_group).min()
}

/// The machine in a line.
pub(super) fn line(environment: &Environment) -> String {
    let mut parts = Vec::new();
    let cores = environment.cores();
    if cores < environment.cpus.len() {
        parts.push(count(cores, "core"));
    }
    let mut packages: Vec<u32> = environment.cpus.iter().map(|cpu| cpu.package).collect();
    packages.sort_unstable();
    packages.dedup();
    let level = environment.caches.iter().map(|cache| cache.level).max();
    let last = environment.caches.iter().filter(|cache| Some(cache.level) == level);
    for (number, noun) in [
        (packages.len(), "package"),
        (environment.nodes.len(), "NUMA node"),
        (last.map(|cache| cache.count).sum(), "last-level cache"),
    ] {
        if number > 1 {
            parts.push(count(number, noun));
        }
    }
    let model = stored::cpu(environment).unwrap_or_else(|| "unknown CPU".to_owned());
    let inside = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    let memory = memory_bytes(environment).map_or_else(
        || "unknown memory".to_owned(),
        |bytes| format!("{} GiB of memory", (bytes as f64 / f64::from(1 << 30)).round()),
    );
    format!("machine: {model}, {}{inside}, {memory}", count(environment.cpus.len(), "CPU"))
}
