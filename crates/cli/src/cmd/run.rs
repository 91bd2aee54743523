//! `wirebench run`: builds, verifies and measures, prints the table and names the folder with all
//! of it.

use anyhow::Context as _;
use std::{fs, path::PathBuf, time::Duration};
use wirebench_report::{
    commands,
    table::{Style, report},
};
use wirebench_runner::{
    experiment::{
        Experiment, FALLBACK_BASELINE, Finished, Prepared, Verification, conduct, prepare,
    },
    measure::Bench,
    place::{Wish, place},
    plan::{self, Changes},
    requirement::Availability,
    subject::Subject,
    topology,
};
use wirebench_schema::{journal::Placement, scenario::Scenario, suite::Suite};

use crate::{
    context::Context,
    exit::{Exit, usage},
    out,
    progress::{Reporter, Verbosity},
    value::{self, CpuList},
};

/// The suite without which nothing is asked.
const DEFAULT_SUITE: &str = "quick";

/// Arguments of `wirebench run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A suite, or entries, variants or languages to measure with the workloads of `quick`
    #[arg(value_name = "SUITE | ENTRY")]
    names: Vec<String>,
    /// Measure a command line of your own, such as './my-server {port}', beside the baseline; may
    /// be given more than once
    #[arg(long = "server", value_name = "COMMAND")]
    servers: Vec<String>,
    /// Only this scenario; may be given more than once [default: all of the suite, hello for
    /// --server]
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<Scenario>,
    /// How often each cell is run
    #[arg(long, value_name = "N", value_parser = value::small_count)]
    blocks: Option<u32>,
    /// Length of the measured window of each run
    #[arg(short, long, value_name = "DURATION", value_parser = value::duration)]
    duration: Option<Duration>,
    /// Load before the window, which is not counted
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    warmup: Option<Duration>,
    /// Connections in total
    #[arg(short, long, value_name = "N", value_parser = value::connections)]
    connections: Option<usize>,
    /// Threads, processes or loops of each server [default: one for each of the server's CPUs]
    #[arg(long, value_name = "N", value_parser = value::small_count)]
    workers: Option<u32>,
    /// Seed of the order of runs and of payloads [default: a new one]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
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
    /// Where the folder of the results is made [default: target/wirebench]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Print the plan and measure nothing
    #[arg(long)]
    dry_run: bool,
    /// No progress
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut context = Context::new()?;
    if let Some(output) = &arguments.output {
        context.project.results = std::path::absolute(output)?;
    }
    let (mut suite, names) = suite_and_names(&context, arguments)?;
    if context.project.root.is_none() {
        out::note(
            "no folder here or above has entries/ and suites/: only built-in servers are known",
        );
    }
    context.require_files()?;
    check_baseline(&context, &suite)?;
    plan::change(&mut suite, &arguments.changes()).map_err(usage)?;
    let placement = arguments.placement()?;
    let subjects = subjects(&context, arguments, &suite, &names)?;
    let workers = suite.workers.unwrap_or(u32::try_from(placement.server_cpus.len())?);
    let program = context.program.display().to_string();
    let bench = Bench {
        launcher: context.launcher(Some(&placement)),
        load_command: vec![program, "load".to_owned(), "--events".to_owned()],
        workers,
        // A seed that is easy to read aloud and to type again.
        seed: arguments.seed.unwrap_or_else(|| u64::from(std::process::id())),
        placement,
    };
    if arguments.dry_run {
        print_plan(&suite, &subjects, &bench);
        return Ok(Exit::Fine);
    }
    let verification = if arguments.no_verify { Verification::LeftOut } else { Verification::Full };
    let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let project = context.project.clone();
    let experiment = Experiment { suite, bench, project, command, verification };
    let named = Named(names);
    carry_out(&context, &experiment, subjects, &named, arguments.quiet)
}

/// The names that the user gave. What was asked for by name must be measured; what merely happens
/// to be there need not.
struct Named(Vec<String>);

impl Named {
    fn is_missing(&self, prepared: &Prepared) -> bool {
        let names = &self.0;
        prepared.unavailable.iter().any(|it| names.iter().any(|name| it.variant.matches(name)))
    }
}

fn carry_out(
    context: &Context,
    experiment: &Experiment,
    subjects: Vec<Subject>,
    named: &Named,
    quiet: bool,
) -> anyhow::Result<Exit> {
    let verbosity = if quiet { Verbosity::Quiet } else { Verbosity::Normal };
    let mut reporter = Reporter::new(verbosity);
    // Waiting and sampling happen on the generator's CPUs, so that the server's are the server's
    // alone. Builds come first and may use all of them.
    let stop = context.interrupt.flag();
    let prepared = prepare(subjects, &context.prober(), stop, &mut reporter);
    if let Some(exit) = context.interrupt.exit() {
        reporter.finish();
        return Ok(exit);
    }
    if experiment.bench.placement.pinned {
        wirebench_sys::affinity::bind(&experiment.bench.placement.generator_cpus)
            .context("the kernel does not let wirebench bind itself; try --no-pin")?;
    }
    let finished = conduct(experiment, &prepared, stop, &mut reporter);
    reporter.finish();
    let finished = finished?;
    let text = report(&finished.journal, Style::Text);
    out::result(&text);
    write_reports(&finished)?;
    out::result(&format!("results: {}", finished.folder.display()));
    let well = all_well(&finished, &prepared) && !named.is_missing(&prepared);
    let exit = if well { Exit::Fine } else { Exit::Failed };
    Ok(context.interrupt.exit().unwrap_or(exit))
}

/// Failed builds fail the run; what cannot be built here for want of a toolchain does not.
fn all_well(finished: &Finished, prepared: &Prepared) -> bool {
    finished.all_well() && !prepared.something_broke
}

fn write_reports(finished: &Finished) -> anyhow::Result<()> {
    let files = [
        ("report.txt", report(&finished.journal, Style::Text)),
        ("report.md", report(&finished.journal, Style::Markdown)),
        ("commands.txt", commands::text(&finished.journal)),
    ];
    for (name, text) in files {
        let path = finished.folder.join(name);
        fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

impl Arguments {
    fn changes(&self) -> Changes {
        let own_default = self.scenarios.is_empty() && !self.servers.is_empty();
        Changes {
            blocks: self.blocks,
            workers: self.workers,
            connections: self.connections,
            duration: self.duration,
            warmup: self.warmup,
            scenarios: if own_default { vec![Scenario::Hello] } else { self.scenarios.clone() },
        }
    }

    fn placement(&self) -> anyhow::Result<Placement> {
        let cpus = topology::usable_cpus().context("the usable CPUs cannot be read")?;
        let wish = Wish {
            no_pin: self.no_pin,
            server_cpus: self.server_cpus.clone().map(|list| list.0),
            generator_cpus: self.generator_cpus.clone().map(|list| list.0),
        };
        place(&cpus, &wish).map_err(usage)
    }
}

/// The suite, and the names of entries that are left when the suite's own name is taken away.
fn suite_and_names(
    context: &Context,
    arguments: &Arguments,
) -> anyhow::Result<(Suite, Vec<String>)> {
    let (suites, names): (Vec<String>, Vec<String>) = arguments
        .names
        .iter()
        .cloned()
        .partition(|name| crate::suites::exists(&context.project, name));
    match suites.as_slice() {
        [] => {
            if let Some(name) = names.iter().find(|name| !name.contains('/')) {
                return Err(crate::suites::unknown(context, name)?);
            }
            Ok((crate::suites::load(&context.project, DEFAULT_SUITE)?, names))
        }
        [one] => Ok((crate::suites::load(&context.project, one)?, names)),
        more => {
            Err(usage(format!("one suite at a time: {} are {}", more.join(" and "), more.len())))
        }
    }
}

/// A suite's baseline must exist. The usual one need not: without it the built-in server stands in.
fn check_baseline(context: &Context, suite: &Suite) -> anyhow::Result<()> {
    if suite.baseline != wirebench_schema::suite::DEFAULT_BASELINE {
        context
            .select(std::slice::from_ref(&suite.baseline))
            .with_context(|| format!("the baseline of the suite `{}`", suite.name))?;
    }
    Ok(())
}

/// What is to be measured: what was named, or what the suite names, and the baseline.
fn subjects(
    context: &Context,
    arguments: &Arguments,
    suite: &Suite,
    names: &[String],
) -> anyhow::Result<Vec<Subject>> {
    let scenarios: Vec<Scenario> = suite.workloads.iter().map(|w| w.scenario).collect();
    let own = context.own(&arguments.servers, &scenarios)?;
    let nothing_named = names.is_empty() && own.is_empty();
    let mut names: Vec<String> = if nothing_named { suite.entries.clone() } else { names.to_vec() };
    // Who asks for a scenario of an entry that lacks it should hear so; a suite asks everyone.
    if !nothing_named && !names.is_empty() {
        for subject in context.select(&names)? {
            for &scenario in &arguments.scenarios {
                subject.variant.check_scenario(scenario).map_err(usage)?;
            }
        }
    }
    if !names.is_empty() || !own.is_empty() {
        // The baseline comes along, or what stands in for it when it cannot be built.
        let known = context.subjects()?;
        let prober = context.prober();
        let usable = |name: &&str| {
            let mut named = known.iter().filter(|subject| subject.variant.id.matches(name));
            named.any(|it| prober.availability(it) == Availability::Ready)
        };
        let baseline = [suite.baseline.as_str(), FALLBACK_BASELINE].into_iter().find(usable);
        names.extend(baseline.map(str::to_owned));
    }
    let mut subjects = own;
    subjects.extend(context.select(&names)?);
    Ok(subjects)
}

fn print_plan(suite: &Suite, subjects: &[Subject], bench: &Bench) {
    let steps = plan::steps(subjects, &suite.workloads, suite.blocks, bench.seed);
    let time: Duration =
        steps.iter().map(|step| plan::estimate(&suite.workloads[step.workload])).sum();
    for step in &steps {
        let id = &subjects[step.subject].variant.id;
        let workload = &suite.workloads[step.workload].name;
        out::result(&format!("block {}  {workload}  {id}", step.block + 1));
    }
    let placement = &bench.placement;
    out::result(&format!(
        "{} runs, about {:.0} s beyond builds and checks; seed {}; server on CPUs {:?}, generator on CPUs {:?}",
        steps.len(),
        time.as_secs_f64(),
        bench.seed,
        placement.server_cpus,
        placement.generator_cpus
    ));
}
