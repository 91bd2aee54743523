//! `run --dry-run`: the plan, what it needs of the machine, and every run in its order.

mod needs;

use jiff::Zoned;
use std::collections::BTreeSet;
use wirebench_catalogue::subject::Subject;
use wirebench_experiment::{
    experiment::{Experiment, Unit, generator_threads},
    plan::{self, Step},
};
use wirebench_schema::{
    journal::{Counts, Placement, Procedure},
    load::{Arrivals, LoadModel, RateCurve},
    suite::{Phase, Workload},
    units::write_duration,
};

use super::{
    machine::{self, Machine},
    options::Arguments,
};
use crate::{
    context::Context,
    out,
    plan::{count, outlook_lines, parts},
    session::Setting,
};

/// The longest list of runs that is printed without `=runs`.
const SHORT_LIST: usize = 20;

/// Prints the plan: skipped entries, the machine, the loads, time and needs, and the runs.
pub(super) fn print(context: &Context, setting: Setting, machine: &Machine, arguments: &Arguments) {
    let Setting { experiment, subjects, missing } = setting;
    for it in &missing {
        out::result(&format!("skipped {}: {}", it.variant, it.reason));
    }
    for it in &experiment.left_out {
        out::result(&format!("skipped {}: {}", it.what, it.reason));
    }
    let subjects = context.available(subjects, |subject, _, reason| {
        out::result(&format!("skipped {}: {reason}", subject.variant.id));
    });
    let environment = machine.read();
    let forecast = experiment.forecast(&subjects);
    // Another machine does not begin now.
    let now = matches!(machine, Machine::Here).then(Zoned::now);
    let lines = [
        summary(&experiment, &subjects),
        machine.assumption().into_iter().collect(),
        vec![machine::line(&environment), sides(&experiment)],
        loads(&experiment, &subjects),
        outlook_lines(&forecast, now.as_ref()),
        parts(&forecast),
        needs::lines(&experiment, &subjects, machine, machine::memory_bytes(&environment)),
        vec![format!("seed {}", experiment.settings.seed)],
        runs(&experiment, &subjects, arguments.dry_run.iter().any(|it| it == "runs")),
    ];
    for line in lines.concat() {
        out::result(&line);
    }
}

fn summary(experiment: &Experiment, subjects: &[Subject]) -> Vec<String> {
    let suite = &experiment.suite;
    let names: Vec<String> = subjects.iter().map(|it| it.variant.id.to_string()).collect();
    vec![format!("suite {}: {}", suite.name, suite.description), names.join(", ")]
}

/// The CPUs of both sides.
fn sides(experiment: &Experiment) -> String {
    let Placement { server_cpus, generator_cpus, pinned, disjoint, within, .. } =
        &experiment.settings.placement;
    if !pinned {
        return "not pinned".to_owned();
    }
    let place = match within {
        _ if !disjoint => ", which share CPUs".to_owned(),
        Some(part) => format!(", {part}"),
        None => String::new(),
    };
    format!("server on {}, generator on {}{place}", list(server_cpus), list(generator_cpus))
}

/// CPUs in the form that the options take, such as `CPUs 0-3,8`.
fn list(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let show = |(first, last): (u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let noun = if cpus.len() == 1 { "CPU" } else { "CPUs" };
    format!("{noun} {}", ranges.into_iter().map(show).collect::<Vec<_>>().join(","))
}

/// What is measured with what, before the order of the runs.
fn loads(experiment: &Experiment, subjects: &[Subject]) -> Vec<String> {
    let suite = &experiment.suite;
    let line = |workload: &Workload| {
        let baseline = plan::baseline(subjects, suite, workload);
        let baseline = baseline.map_or("no baseline".to_owned(), |index| {
            format!("baseline {}", subjects[index].variant.id)
        });
        let Workload { name, scenario, phase, .. } = workload;
        let shape = shape(experiment, workload);
        format!("workload {name}: {scenario}, {phase}, {shape}; {baseline}")
    };
    suite.workloads.iter().map(line).collect()
}

/// Connections, workers and threads of the load, and the published ones if one of them differs.
fn shape(experiment: &Experiment, workload: &Workload) -> String {
    let settings = &experiment.settings;
    let connections = count(workload.connections, "connection");
    let workers = workload.workers.unwrap_or(settings.workers) as usize;
    let workers_text = count(workers, "worker");
    let threads = generator_threads(workload, settings.placement.generator_cpus.len());
    let threads_text = count(threads, "generator thread");
    if workload.phase == Phase::Idle {
        let idle = count(workload.connections, "idle connection");
        return format!("{idle}, {workers_text}");
    }
    let how = how(workload);
    let published = experiment.published.iter().flat_map(|it| &it.workloads);
    let differs = |it: &&Workload| {
        let published = (it.connections, it.workers.map(|it| it as usize), it.threads);
        it.name == workload.name
            && published != (workload.connections, Some(workers), Some(threads))
    };
    let published: String = published.filter(differs).map(published_shape).collect();
    format!("{connections}{how}, {workers_text}, {threads_text}{published}")
}

/// The rate or the pauses of a load, and its other settings that are not usual.
fn how(workload: &Workload) -> String {
    let Workload { model, pipeline, timeout, .. } = workload;
    let mut text = match model {
        _ if workload.needs_rate() => " at a rate found by pilot runs".to_owned(),
        LoadModel::Closed => String::new(),
        LoadModel::Think { delay } => format!(" with pauses of {}", write_duration(*delay)),
        LoadModel::Rate { curve, arrivals, .. } => {
            let rates: Vec<String> = curve.rates().iter().map(f64::to_string).collect();
            let between = if matches!(curve, RateCurve::Steps(_)) { ", then " } else { " to " };
            let random = if *arrivals == Arrivals::Poisson { " at random" } else { "" };
            format!(" at {} requests/s{random}", rates.join(between))
        }
    };
    if *pipeline > 1 {
        text += &format!(", {pipeline} requests in flight each");
    }
    if *timeout != Workload::new(workload.scenario).timeout {
        text += &format!(", timeout {}", write_duration(*timeout));
    }
    text
}

fn published_shape(published: &Workload) -> String {
    let Workload { connections, workers, threads, .. } = published;
    let known = |it: Option<usize>| it.map_or_else(|| "?".to_owned(), |it| it.to_string());
    let (workers, threads) = (known(workers.map(|it| it as usize)), known(*threads));
    format!(" (published: {connections}, {workers}, {threads})")
}

/// The runs in their order, unless they are many.
fn runs(experiment: &Experiment, subjects: &[Subject], details: bool) -> Vec<String> {
    let suite = &experiment.suite;
    let blocks = 0..suite.warmup_blocks.saturating_add(suite.blocks);
    let units = blocks.flat_map(|number| experiment.units(subjects, number));
    let lines: Vec<String> = units.map(|unit| unit_line(experiment, subjects, &unit)).collect();
    if details || lines.len() <= SHORT_LIST {
        return lines;
    }
    vec![format!("--dry-run=runs lists the {} runs and cohorts in their order", lines.len())]
}

/// One run, or the servers that are alive together with the visits of each load on them.
fn unit_line(experiment: &Experiment, subjects: &[Subject], unit: &Unit) -> String {
    let (suite, steps) = (&experiment.suite, &unit.steps);
    let first = steps[0];
    let before = if first.counts == Counts::Yes { "" } else { "warm-up " };
    let number = first.block + 1;
    let name = |step: &Step| plan::label(subjects, suite, step);
    if unit.procedure == Procedure::Whole {
        let workload = &suite.workloads[first.workload].name;
        return format!("{before}block {number}  {workload}  {}", name(&first));
    }
    let workloads: BTreeSet<usize> = steps.iter().map(|step| step.workload).collect();
    let visits = workloads.into_iter().map(|index| {
        let workload = &suite.workloads[index];
        let (length, rounds) = experiment.settings.cut.of(workload);
        format!("{} {rounds} x {}", workload.name, write_duration(length))
    });
    let mut servers: Vec<String> = Vec::new();
    for name in steps.iter().map(name) {
        if !servers.contains(&name) {
            servers.push(name);
        }
    }
    format!(
        "{before}cohort {number}  {}  {}: {}",
        visits.collect::<Vec<_>>().join(", "),
        count(servers.len(), "server"),
        servers.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_shown_as_options_take_them() {
        assert_eq!(list(&[0, 1, 2, 5, 8, 9]), "CPUs 0-2,5,8-9");
        assert_eq!(list(&[3]), "CPU 3");
    }
}
