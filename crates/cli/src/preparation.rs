//! What comes before the first run of `run`, `ab` and `tune`: builds, and going to the generator's
//! CPUs. How each of them measures is its own.

use anyhow::Context as _;
use wirebench_catalogue::subject::Subject;
use wirebench_experiment::{
    experiment::{Experiment, Prepared, prepare},
    plan,
};
use wirebench_schema::{
    journal::Placement,
    suite::{Scale, Suite, Workload},
};
use wirebench_sys::awake::AwakeCpus;

use crate::{
    args::idle::IdleOption, context::Context, live::progress::Reporter,
    request_options::learn_files,
};

/// What becomes of expectations without checks.
const UNCHECKED: &str =
    "--no-verify: the expected bodies are not compared, only statuses and framing";

/// Builds come first and may use all CPUs.
pub(crate) fn prepare_all(
    context: &Context,
    subjects: Vec<Subject>,
    reporter: &mut Reporter,
) -> Prepared {
    let revision = context.project.root.as_deref().and_then(|root| context.revision(root));
    prepare(subjects, revision, &context.prober(), context.interrupt.flag(), reporter)
}

/// The same with the baseline that needs no toolchain, where the one of `suite` cannot be measured.
pub(crate) fn prepare_with_baseline(
    context: &Context,
    suite: &Suite,
    subjects: Vec<Subject>,
    reporter: &mut Reporter,
) -> anyhow::Result<Prepared> {
    let mut prepared = prepare_all(context, subjects, reporter);
    let ready = prepared.subjects();
    let mut workloads = suite.workloads.iter();
    let lacks_one = workloads.any(|workload| plan::baseline(&ready, suite, workload).is_none());
    if lacks_one && !ready.is_empty() {
        let fallback = context.select(&[plan::FALLBACK_BASELINE.to_owned()])?;
        prepared.ready.extend(prepare_all(context, fallback, reporter).ready);
    }
    context.interrupt.check()?;
    Ok(prepared)
}

/// Waiting and sampling happen on CPUs of neither side, or else on the generator's, so that the server's are the
/// server's alone. Hosts from which the load comes are reached before anything is checked or measured. From now on CPUs
/// are kept awake, if that was asked for and can be had.
pub(crate) fn bind(
    context: &Context,
    experiment: &mut Experiment,
    idle: IdleOption,
    reporter: &Reporter,
) -> anyhow::Result<Option<AwakeCpus>> {
    experiment.suite.workloads.iter().for_each(|it| learn_files(it, it.requests.as_ref()));
    let is_checked = experiment.verification.is_done();
    if !is_checked && experiment.suite.workloads.iter().any(Workload::expects_bodies) {
        reporter.note(UNCHECKED);
    }
    if let Some(fleet) = &experiment.settings.fleet {
        let provided = fleet.provide(context.interrupt.flag());
        context.interrupt.check().and(provided.map_err(anyhow::Error::msg))?;
    }
    let placement = &experiment.settings.placement;
    if placement.pinned {
        let usable = wirebench_sys::affinity::current()?;
        wirebench_sys::affinity::bind(&spare_cpus(&usable, placement)).context(
            "cannot pin wirebench to the generator CPUs; use --no-pin to measure without pinning",
        )?;
    }
    let Experiment { settings, suite, scale, .. } = experiment;
    let is_priced = *scale != Scale::Smoke && suite.workloads.iter().any(Workload::has_rate);
    idle.hold(context, settings, is_priced, &|text| reporter.note(text))
}

/// CPUs of neither side, or those of the generator where there are none.
fn spare_cpus(usable: &[u32], placement: &Placement) -> Vec<u32> {
    let Placement { server_cpus, generator_cpus, .. } = placement;
    let is_spare = |cpu: &u32| !server_cpus.contains(cpu) && !generator_cpus.contains(cpu);
    let spare: Vec<u32> = usable.iter().copied().filter(is_spare).collect();
    if spare.is_empty() { generator_cpus.clone() } else { spare }
}

/// Both, where nothing can be measured without every one of `subjects`.
pub(crate) fn ready(
    context: &Context,
    (experiment, idle): (&mut Experiment, IdleOption),
    subjects: Vec<Subject>,
    reporter: &mut Reporter,
) -> anyhow::Result<(Prepared, Option<AwakeCpus>)> {
    let prepared = prepare_all(context, subjects, reporter);
    context.interrupt.check()?;
    if let Some(it) = prepared.unavailable.first() {
        anyhow::bail!("{} cannot be measured: {}", it.variant, it.reason);
    }
    let awake = bind(context, experiment, idle, reporter)?;
    Ok((prepared, awake))
}
