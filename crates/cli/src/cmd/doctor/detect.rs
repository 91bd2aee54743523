//! `wirebench doctor --detect`: which differences `wirebench ab` finds on this machine. A short comparison calibrates
//! the extra work and shows how long a cohort takes. A run with the same settings then measures equal servers and
//! slower ones side by side. The tries and their statistics are in the crate `report`.

use serde_json::json;
use std::time::Duration;
use wirebench_catalogue::subject::Subject;
use wirebench_experiment::{
    experiment::{Experiment, Finished, Knowledge, conduct},
    plan::FALLBACK_BASELINE,
};
use wirebench_report::{
    ab::{
        Ab, AbOptions, Verdict,
        detect::{Detection, SERVERS, SUITE, TryTime},
    },
    analysis::Claim,
};
use wirebench_schema::{
    argv,
    journal::{Goal, Journal, Start},
};

use super::{Arguments, FORMAT};
use crate::{
    args::idle::IdleOption,
    context::Context,
    exit::{Ended, Exit, incomparable, usage},
    live::progress::Reporter,
    out,
    preparation::ready,
    session::{Original, Setting},
    value,
};

/// The time for the cohorts, unless an option changes it.
const BUDGET: Duration = Duration::from_secs(60);
/// Steps of the server that calibrates: about the CPU time of a whole request, next to which noise is small.
const CALIBRATION_STEPS: u32 = 5000;
/// A cohort of all servers takes at least this many times as long as that of two.
const LEAST_COHORT: f64 = 2.0;

pub(super) fn run(
    context: &Context,
    arguments: &Arguments,
    original: Original,
) -> anyhow::Result<Exit> {
    let plain = context.select_one(FALLBACK_BASELINE)?.variant.run.command;
    let comparison = original(&Start { command: comparison(&plain), ..Start::default() })?;
    let Setting { mut experiment, subjects, .. } = comparison.setting(context)?;
    let usual = experiment.goal.budget;
    experiment.goal.budget = usual.min(arguments.budget.or(usual));
    if !experiment.settings.placement.disjoint {
        return Err(usage(ONE_CPU));
    }
    let reporter = |text: &str| {
        if !arguments.json {
            out::note(text);
        }
        Reporter::new(arguments.json)
    };
    let shown = reporter("calibrating the extra work with a short comparison");
    let calibration = measure(context, &mut experiment, subjects.clone(), shown)?;
    context.interrupt.exit().map_or(Ok(()), |exit| Err(interrupted(exit)))?;
    let (ratio, time) = calibrated(&calibration.journal)?;
    let time = TryTime { budget: usual.unwrap_or(time.budget), ..time };
    let slower = |(name, share): &(&str, f64)| {
        let steps = share * f64::from(CALIBRATION_STEPS) / (ratio - 1.0);
        let mut subject = subjects[0].clone();
        subject.variant.id = value::name(SUITE, name)?;
        subject.variant.run.command = with_work(&plain, steps.round() as u32);
        subject.title = argv::display(&subject.variant.run.command);
        Ok(subject)
    };
    let servers: Vec<Subject> = SERVERS.iter().map(slower).collect::<anyhow::Result<_>>()?;
    let cohort = time.cohort.mul_f64(LEAST_COHORT);
    set_plan(&mut experiment, &servers, (arguments.budget.unwrap_or(BUDGET), cohort));
    let shown = reporter("measuring equal and slower servers side by side");
    let finished = measure(context, &mut experiment, servers, shown)?;
    let exit = context.interrupt.exit();
    let detection = Detection::of(&finished.journal, time).map_err(|reason| match exit {
        Some(exit) => interrupted(exit),
        None => incomparable(format!("the tries have no basis: {reason}")),
    })?;
    show(&detection, &finished, arguments.json)?;
    Ok(exit.unwrap_or(Exit::Fine))
}

const ONE_CPU: &str =
    "--detect needs two CPUs: server and load generator share one here, so no comparison is valid";
const TOO_NOISY: &str = "noise hides even twice the CPU time of a request; stop other programs, and see \
                         `wirebench doctor` for further causes";

/// The command that compares the built-in server with one that calibrates.
fn comparison(plain: &[String]) -> Vec<String> {
    let side = |steps| argv::display(&with_work(plain, steps));
    let words = ["wirebench", "ab", "--a", &side(0), "--b", &side(CALIBRATION_STEPS)];
    words.map(str::to_owned).to_vec()
}

/// The command of a server with extra work. All are of one length, because that length shifts the server's stack.
fn with_work(plain: &[String], steps: u32) -> Vec<String> {
    let work = ["--extra-work".to_owned(), format!("{steps:06}")];
    plain.iter().cloned().chain(work).collect()
}

/// Prepares and measures `subjects`. An interrupted run has the cohorts so far.
fn measure(
    context: &Context,
    experiment: &mut Experiment,
    subjects: Vec<Subject>,
    mut reporter: Reporter,
) -> anyhow::Result<Finished> {
    let idle = IdleOption::default();
    let (prepared, _awake) = ready(context, (experiment, idle), subjects, &mut reporter)?;
    Ok(conduct(experiment, &prepared, context.interrupt.flag(), &mut reporter)?)
}

fn interrupted(exit: Exit) -> anyhow::Error {
    Ended(exit, "interrupted before three cohorts were complete".to_owned()).into()
}

/// The cost of the server that calibrates over that of the plain one, and the time of a comparison.
fn calibrated(journal: &Journal) -> anyhow::Result<(f64, TryTime)> {
    let ab = Ab::of(journal, &AbOptions::default());
    let higher = ab.as_ref().filter(|it| it.verdict == Verdict::Claimed(Claim::Higher));
    let ratio = higher.and_then(|it| it.ratio());
    let budget = journal.start.goal.budget.zip(journal.looks.last());
    let (Some(ratio), Some((budget, look))) = (ratio, budget) else {
        let reason = match &ab {
            Some(it) if !matches!(it.verdict, Verdict::Claimed(_)) => it.sentence(),
            _ => TOO_NOISY.to_owned(),
        };
        return Err(incomparable(format!("the extra work cannot be calibrated: {reason}")));
    };
    let cohort = budget.mul_f64(look.share / f64::from(look.cohorts));
    Ok((ratio.judged.estimate.value, TryTime { cohort, budget }))
}

/// Makes a comparison a run of `servers` that ends with its budget.
fn set_plan(
    experiment: &mut Experiment,
    servers: &[Subject],
    (budget, cohort): (Duration, Duration),
) {
    experiment.suite.name = SUITE.to_owned();
    experiment.suite.baselines = vec![servers[0].variant.id.to_string()];
    let held = budget.as_secs_f64() / cohort.as_secs_f64();
    experiment.suite.blocks = (held.ceil() as u32).max(experiment.least_blocks);
    experiment.goal = Goal { budget: Some(budget), ..Goal::default() };
    experiment.knowledge = Knowledge::of_width(|_| None);
}

fn show(detection: &Detection, finished: &Finished, is_json: bool) -> anyhow::Result<()> {
    let place = format!("results: {}", finished.folder.display());
    if is_json {
        let all = json!({ "format": FORMAT, "detection": detection });
        out::result(&serde_json::to_string_pretty(&all)?);
        out::note(&place);
    } else {
        out::result(&format!("{}\n{place}", detection.text()));
    }
    Ok(())
}
