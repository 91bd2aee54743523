//! `wirebench run`: builds, verifies and measures, prints the table and names the folder with all
//! of it.

mod choice;
mod scale;

use anyhow::Context as _;
use std::{fs, path::PathBuf, time::Duration};
use wirebench_report::{
    commands, json,
    table::{Style, report},
};
use wirebench_runner::{
    experiment::{
        Experiment, Finished, Observer as _, Prepared, Progress, Verification, conduct, prepare,
    },
    measure::Bench,
    place::{Wish, place},
    plan::{self, Changes},
    subject::Subject,
    tool::Tool,
    topology,
};
use wirebench_schema::{
    journal::{Counts, Generator, Placement, Unavailable},
    scenario::Scenario,
    suite::{DocumentPlacement, Scale, Suite},
};

use crate::{
    context::Context,
    exit::{Exit, usage},
    out,
    progress::{Reporter, Verbosity, show},
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
    /// How much of a suite is carried out: paper (exactly what its document published), machine (made
    /// to fit by the rule in its file) or smoke (everything once, to see that it works)
    #[arg(long, value_name = "NAME", default_value_t)]
    scale: Scale,
    /// Who makes the load: wirebench, wrk, hey or h2load; the others do closed loops over HTTP only
    #[arg(long, value_name = "PROGRAM", default_value_t)]
    generator: Generator,
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
    let (written, names) = choice::suite_and_names(&context, arguments)?;
    if context.project.root.is_none() {
        out::note(
            "no folder here or above has entries/ and suites/: only built-in servers are known",
        );
    }
    context.require_files()?;
    choice::check_baselines(&context, &written)?;
    let placement = arguments.placement(&written)?;
    let server_cpus = u32::try_from(placement.server_cpus.len())?;
    let mut suite = written.at_scale(arguments.scale, server_cpus).map_err(usage)?;
    plan::change(&mut suite, &arguments.changes()).map_err(usage)?;
    let mut left_out = choice::leave_out(&mut suite, arguments.generator)?;
    let tool = match arguments.generator {
        Generator::Wirebench => None,
        other => {
            let found = Tool::find(other, context.interrupt.flag());
            if let Some(exit) = context.interrupt.exit() {
                return Ok(exit);
            }
            Some(found.map_err(usage)?)
        }
    };
    let chosen = choice::subjects(&context, arguments, &suite, &names)?;
    left_out.extend(chosen.left_out);
    let program = context.program.display().to_string();
    let bench = Bench {
        launcher: context.launcher(Some(&placement)),
        load_command: vec![program, "load".to_owned(), "--events".to_owned()],
        tool,
        workers: suite.workers.unwrap_or(server_cpus),
        // A seed that is easy to read aloud and to type again.
        seed: arguments.seed.unwrap_or_else(|| u64::from(std::process::id())),
        placement,
    };
    let subjects = chosen.subjects;
    if arguments.dry_run {
        for it in &chosen.missing {
            out::result(&format!("left out {}: {}", it.variant, it.reason));
        }
        for it in &left_out {
            out::result(&format!("left out {}: {}", it.what, it.reason));
        }
        print_plan(&suite, &those_that_are_there(&context, subjects), &bench);
        return Ok(context.interrupt.exit().unwrap_or(Exit::Fine));
    }
    if arguments.scale == Scale::Paper {
        scale::announce(&suite, &subjects);
    }
    let verification = if arguments.no_verify { Verification::LeftOut } else { Verification::Full };
    let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let project = context.project.clone();
    let experiment = Experiment {
        scale: arguments.scale,
        published: scale::published(&context, &written)?,
        left_out,
        suite,
        bench,
        project,
        command,
        verification,
    };
    let named = Named(names);
    carry_out(&context, &experiment, (subjects, chosen.missing), &named, arguments.quiet)
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
    (subjects, missing): (Vec<Subject>, Vec<Unavailable>),
    named: &Named,
    quiet: bool,
) -> anyhow::Result<Exit> {
    let verbosity = if quiet { Verbosity::Quiet } else { Verbosity::Normal };
    let mut reporter = Reporter::new(verbosity);
    // Waiting and sampling happen on the generator's CPUs, so that the server's are the server's
    // alone. Builds come first and may use all of them.
    let stop = context.interrupt.flag();
    for it in &experiment.left_out {
        reporter.left_out(&it.what, &it.reason);
    }
    for it in &missing {
        reporter.on(&Progress::Unavailable(it));
    }
    let mut prepared = prepare(subjects, &context.prober(), stop, &mut reporter);
    prepared.unavailable.splice(0..0, missing);
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
        ("report.json", json::text(&finished.journal)),
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

    fn placement(&self, suite: &Suite) -> anyhow::Result<Placement> {
        let cpus = topology::usable_cpus().context("the usable CPUs cannot be read")?;
        let wishes = self.server_cpus.is_some() || self.generator_cpus.is_some();
        // Where the document's sides shared their CPUs, so do those of its own scale.
        let shared =
            suite.document.as_ref().is_some_and(|it| it.placement == DocumentPlacement::Shared);
        let as_published = self.scale == Scale::Paper && shared && !wishes;
        let wish = Wish {
            no_pin: self.no_pin || as_published,
            server_cpus: self.server_cpus.clone().map(|list| list.0),
            generator_cpus: self.generator_cpus.clone().map(|list| list.0),
        };
        place(&cpus, &wish).map_err(usage)
    }
}

/// The subjects that can be measured here; of the others the reason is told, as in a run.
fn those_that_are_there(context: &Context, subjects: Vec<Subject>) -> Vec<Subject> {
    let survey = context.prober().survey(&subjects);
    let mut there = Vec::new();
    for (subject, availability) in subjects.into_iter().zip(survey) {
        match availability.reason() {
            None => there.push(subject),
            Some(reason) => {
                out::result(&format!("left out {}: {reason}", subject.variant.id));
            }
        }
    }
    there
}

fn print_plan(suite: &Suite, subjects: &[Subject], bench: &Bench) {
    let steps = plan::steps(subjects, suite, bench.seed);
    for step in &steps {
        let id = &subjects[step.subject].variant.id;
        let workload = &suite.workloads[step.workload].name;
        let kind = if step.counts == Counts::Yes { "block" } else { "warm-up block" };
        out::result(&format!("{kind} {}  {workload}  {id}", step.block + 1));
    }
    let placement = &bench.placement;
    out::result(&format!(
        "{} runs, about {} beyond builds and checks; seed {}; server on CPUs {:?}, generator on CPUs {:?}",
        steps.len(),
        show(scale::time(suite, &steps)),
        bench.seed,
        placement.server_cpus,
        placement.generator_cpus
    ));
}
