//! The options that verbs have in common word for word, each group with what all
//! of them make of it. What means something else to one of them, if only by its default, stands
//! with that verb.

use anyhow::Context as _;
use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};
use wirebench_catalogue::project::{Project, ProjectError};
use wirebench_experiment::{cohort::MOST_INSTANCES, cut::Cut, measure::Bench};
use wirebench_host::{
    place::{Wish, place},
    topology,
};
use wirebench_schema::{
    journal::{Placement, Procedure},
    suite::Workload,
    verification::Verification,
};

use crate::{
    context::Context,
    exit::usage,
    progress::{Reporter, Verbosity},
    value::{self, CpuList},
};

/// The variable that names a project, like `--project`.
const PROJECT_VARIABLE: &str = "WIREBENCH_PROJECT";

/// Which project is used.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ProjectOption {
    /// Use the project in this folder, even if another user owns it [default: $WIREBENCH_PROJECT, or
    /// the nearest folder at or above this one with entries/ and suites/]
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
}

impl ProjectOption {
    /// The project that was named, or the one around the current folder.
    pub(crate) fn project(&self) -> anyhow::Result<Project> {
        let variable = || std::env::var_os(PROJECT_VARIABLE).filter(|value| !value.is_empty());
        let named = self.project.clone().or_else(|| variable().map(PathBuf::from));
        let project = match named {
            Some(root) => Project::named(&root),
            None => Project::find(Path::new(".")),
        };
        project.map_err(|error| match error {
            ProjectError::Io(_) => error.into(),
            ProjectError::Foreign { .. } | ProjectError::Absent(_) => usage(error),
        })
    }
}

/// Where servers and load are put, in which order, and whether servers are checked first.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Conditions {
    /// Seed of the order of runs and of payloads [default: a new one]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// CPUs of the server, such as 0-3 [default: half of the cores]
    #[arg(long, value_name = "LIST", value_parser = value::cpu_list)]
    server_cpus: Option<CpuList>,
    /// CPUs of the load generator [default: the rest]
    #[arg(long, value_name = "LIST", value_parser = value::cpu_list)]
    generator_cpus: Option<CpuList>,
    /// Bind nothing to CPUs; every run is flagged
    #[arg(long)]
    no_pin: bool,
    /// Leave the conformance checks out; every run is flagged
    #[arg(long)]
    no_verify: bool,
}

impl Conditions {
    /// Where servers and load are to be put.
    pub(crate) fn wish(&self) -> Wish {
        Wish {
            no_pin: self.no_pin,
            server_cpus: self.server_cpus.clone().map(|list| list.0),
            generator_cpus: self.generator_cpus.clone().map(|list| list.0),
        }
    }

    /// How runs are made by wirebench's own generator, with one worker for each of the server's
    /// CPUs. Without a seed there is a new one.
    pub(crate) fn bench(&self, context: &Context, placement: Placement) -> anyhow::Result<Bench> {
        let program = context.program.display().to_string();
        Ok(Bench {
            launcher: context.launcher(Some(&placement)),
            agent_command: vec![program.clone(), "agent".into()],
            cut: Cut::default(),
            most_instances: MOST_INSTANCES,
            load_command: vec![program, "load".to_owned(), "--events".to_owned()],
            tool: None,
            workers: u32::try_from(placement.server_cpus.len())?,
            // A seed that is easy to read aloud and to type again.
            seed: self.seed.unwrap_or_else(|| u64::from(std::process::id())),
            placement,
        })
    }

    /// Whether conformance is checked first; `usual` is how, unless it is to be left out.
    pub(crate) const fn verification(&self, usual: Verification) -> Verification {
        if self.no_verify { Verification::LeftOut } else { usual }
    }
}

/// The CPUs that fulfil `wish` here.
pub(crate) fn placement(wish: &Wish) -> anyhow::Result<Placement> {
    let cpus = topology::usable_cpus().context("the usable CPUs cannot be read")?;
    place(&cpus, wish).map_err(usage)
}

/// Gives the messages of an echo their length.
pub(crate) fn set_payload(workload: &mut Workload, payload: Option<usize>) -> anyhow::Result<()> {
    let Some(payload) = payload else { return Ok(()) };
    if !workload.scenario.protocol().traits().has_payload {
        return Err(usage(format!(
            "--payload is for messages that come back, and {} has none: give --scenario echo, or \
             leave --payload away",
            workload.scenario
        )));
    }
    workload.payload_bytes = payload;
    Ok(())
}

/// How one run of a server goes. `tune` asks for lists of this instead.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EachRun {
    /// Length of the measured window of each run
    #[arg(short, long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) duration: Option<Duration>,
    /// Load before the window, which is not counted
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) warmup: Option<Duration>,
    /// Threads, processes or loops of each server [default: one for each of the server's CPUs]
    #[arg(long, value_name = "N", value_parser = value::small_count)]
    pub(crate) workers: Option<u32>,
}

/// How many cohorts there are, how each is measured, and what counts as the same.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Cohorts {
    /// Cohorts of fresh servers that are measured, or blocks of runs
    #[arg(long = "cohorts", visible_alias = "blocks", value_name = "N", value_parser = value::small_count)]
    pub(crate) count: Option<u32>,
    /// Slices of each load on each server of a cohort [default: as many as fill the window]
    #[arg(long, value_name = "N", value_parser = value::small_count)]
    pub(crate) rounds: Option<u32>,
    /// Length of the part of each slice that counts [default: 100ms in a closed loop, 200ms at a rate]
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) slice: Option<Duration>,
    /// Measure cohorts of servers that live at the same time, or start a process for each
    /// measurement: cohorts or process
    #[arg(long, value_name = "NAME")]
    pub(crate) procedure: Option<Procedure>,
    /// Difference below which two servers count as the same, such as 2%
    #[arg(long, value_name = "PERCENT", value_parser = value::precision)]
    pub(crate) margin: Option<f64>,
}

impl Cohorts {
    /// How slices are cut.
    pub(crate) const fn cut(&self) -> Cut {
        Cut { slice: self.slice, rounds: self.rounds }
    }
}

/// Where results go, and how much is told meanwhile.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Telling {
    /// Where the folder of the results is made [default: target/wirebench]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl Telling {
    /// The project, with its results where they were asked for.
    pub(crate) fn project(&self, context: &Context) -> io::Result<Project> {
        let mut project = context.project.clone();
        if let Some(output) = &self.output {
            project.results = std::path::absolute(output)?;
        }
        Ok(project)
    }

    /// Shows as much as was asked for.
    pub(crate) fn reporter(&self) -> Reporter {
        Reporter::new(if self.quiet { Verbosity::Quiet } else { Verbosity::Normal })
    }
}
