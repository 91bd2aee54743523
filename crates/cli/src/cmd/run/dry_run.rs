//! `run --dry-run`: the plan and every run in its order.

use jiff::Zoned;
use std::collections::BTreeSet;
use wirebench_catalogue::subject::Subject;
use wirebench_experiment::{
    experiment::{Experiment, Unit},
    plan::{self, Step},
};
use wirebench_schema::{
    journal::Counts,
    suite::{Phase, Suite},
    units::write_duration,
};

use crate::{
    context::Context,
    out,
    plan::{count, outlook_lines, parts},
    session::Setting,
};

/// Prints the plan: skipped entries, a summary, every run, and the time.
pub(super) fn print(context: &Context, setting: Setting) {
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
    let (suite, settings) = (&experiment.suite, &experiment.settings);
    for line in summary(suite, &subjects) {
        out::result(&line);
    }
    for number in 0..suite.warmup_blocks.saturating_add(suite.blocks) {
        for unit in experiment.units(&subjects, number) {
            out::result(&unit_line(&experiment, &subjects, &unit));
        }
    }
    let forecast = experiment.forecast(&subjects);
    for line in [outlook_lines(&forecast, &Zoned::now()), parts(&forecast)].concat() {
        out::result(&line);
    }
    let placement = &settings.placement;
    let sides = if placement.pinned {
        format!(
            "server on CPUs {:?}, generator on CPUs {:?}",
            placement.server_cpus, placement.generator_cpus
        )
    } else {
        "not pinned".to_owned()
    };
    out::result(&format!("seed {}; {sides}", settings.seed));
}

/// One run, or the servers that are alive together with the slices of each load on them.
fn unit_line(experiment: &Experiment, subjects: &[Subject], unit: &Unit) -> String {
    let (suite, steps) = (&experiment.suite, unit.steps());
    let first = steps[0];
    let before = if first.counts == Counts::Yes { "" } else { "warm-up " };
    let number = first.block + 1;
    let name = |step: &Step| plan::label(subjects, suite, step);
    if let Unit::Run(step) = unit {
        let workload = &suite.workloads[step.workload].name;
        return format!("{before}block {number}  {workload}  {}", name(step));
    }
    let workloads: BTreeSet<usize> = steps.iter().map(|step| step.workload).collect();
    let slices = workloads.into_iter().map(|index| {
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
        slices.collect::<Vec<_>>().join(", "),
        count(servers.len(), "server"),
        servers.join(", ")
    )
}

/// What is measured with what, before the order of the runs.
fn summary(suite: &Suite, subjects: &[Subject]) -> Vec<String> {
    let names: Vec<String> = subjects.iter().map(|it| it.variant.id.to_string()).collect();
    let mut lines = vec![format!("suite {}: {}", suite.name, suite.description), names.join(", ")];
    for workload in &suite.workloads {
        let baseline = plan::baseline(subjects, suite, workload);
        let baseline = baseline.map_or("no baseline".to_owned(), |index| {
            format!("baseline {}", subjects[index].variant.id)
        });
        let how = match workload.phase {
            Phase::Idle => "idle connections".to_owned(),
            Phase::Cost if workload.needs_rate() => {
                "connections at a rate found by pilot runs".to_owned()
            }
            Phase::Saturate | Phase::Cost => "connections".to_owned(),
        };
        let (name, phase, connections) = (&workload.name, workload.phase, workload.connections);
        lines.push(format!(
            "workload {name}: {}, {phase}, {connections} {how}; {baseline}",
            workload.scenario
        ));
    }
    lines
}
