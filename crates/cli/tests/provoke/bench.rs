//! Runs a case, several times if needed: other programs on the machine may hide its fault, or make a good server look
//! faulty.

use assert_cmd::Command;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};
use wirebench_experiment::evidence::FILE;
use wirebench_schema::journal::{Journal, Outcome, Reason, ReasonKind, Run};

use crate::{
    cases::Case,
    evidence_file::{GOOD, is_good, is_of_server, row},
    faulty::Fault,
    machine::{self, Around},
    recording,
    world::{PATIENCE, World, program},
};

/// How often a case is tried before it counts as failed: other programs may hide its fault.
const ATTEMPTS: u32 = 4;
/// What a server does by itself, whatever else uses the machine.
const OF_SERVERS: [ReasonKind; 10] = [
    ReasonKind::Unsettled,
    ReasonKind::NotSteady,
    ReasonKind::Drifting,
    ReasonKind::VisitLength,
    ReasonKind::Restless,
    ReasonKind::ParkedBusy,
    ReasonKind::DeferredWork,
    ReasonKind::LateWork,
    ReasonKind::ServerCloses,
    ReasonKind::ClosedEarly,
];
/// The file with the facts of a run, in the folder of its world.
const FACTS: &str = "facts.jsonl";

/// Makes the faults happen, prints a row for each, and writes the evidence if asked to.
pub(crate) fn provoke(case: &Case, records: bool) -> Result<(), String> {
    let cpus = wirebench_sys::affinity::current().map_err(|error| error.to_string())?;
    if case.around.cpus().is_some() && cpus.len() < 2 {
        println!("left out: {}: it takes two CPUs", case.name);
        return Ok(());
    }
    let (mut problems, mut disturbed) = (Vec::new(), 0);
    for _ in 0..ATTEMPTS {
        let world = match run(case, &cpus) {
            Ok(world) => world,
            Err(Stop::LeftOut(reason)) => {
                println!("left out: {}: {reason}", case.name);
                return Ok(());
            }
            Err(Stop::Failed(reason)) => return Err(reason),
        };
        let journal = world.journal();
        problems = look(case, &journal, records);
        disturbed += u32::from(is_disturbed(case, &journal));
        if problems.is_empty() {
            print_rows(case, &journal);
            let facts = world.folder.path().join(FACTS);
            return if records { recording::write(case, &journal, &facts) } else { Ok(()) };
        }
    }
    let problems = format!("after {ATTEMPTS} attempts:\n{}", problems.join("\n"));
    if records || disturbed < ATTEMPTS {
        return Err(problems);
    }
    println!(
        "left out: {}: other programs or machines disturbed each attempt\n{problems}",
        case.name
    );
    Ok(())
}

/// Tells if the journal names others than those of the case on the CPUs: what they do hides the fault.
fn is_disturbed(case: &Case, journal: &Journal) -> bool {
    let others = [ReasonKind::Stolen, ReasonKind::Neighbour];
    let others = others.iter().filter(|kind| !case.provoked.iter().any(|it| it.1 == **kind));
    let names: Vec<&str> = others.map(|kind| kind.name()).collect();
    let is_other = |reason: &Reason| match reason.kind {
        ReasonKind::VisitsDropped => {
            names.iter().any(|name| reason.text().contains(&format!("`{name}`")))
        }
        kind => names.contains(&kind.name()),
    };
    journal.runs.iter().any(|run| run.outcome.reasons().iter().any(is_other))
}

fn print_rows(case: &Case, journal: &Journal) {
    for it in &case.provoked {
        println!("{}", row(case.name, it.0, reported(journal, it).as_ref()));
    }
    if case.provoked.is_empty() {
        println!("{}", row(case.name, GOOD, None));
    }
}

/// The reason that is reported as it must be.
fn reported(journal: &Journal, (server, kind, says): &(&str, ReasonKind, &str)) -> Option<Reason> {
    let mut reasons = runs_of(journal, server).flat_map(|run| run.outcome.reasons());
    reasons.find(|it| it.kind == *kind && it.text().contains(says)).cloned()
}

/// The reasons that are missing, and those that the good server must not have.
fn look(case: &Case, journal: &Journal, records: bool) -> Vec<String> {
    let mut problems = Vec::new();
    for provoked in case.provoked.iter().filter(|it| reported(journal, it).is_none()) {
        let outcomes = runs_of(journal, provoked.0).map(|run| summary(&run.outcome));
        problems.push(format!("{provoked:?} is not reported: {}", outcomes.collect::<String>()));
    }
    let good: Vec<&Outcome> = runs_of(journal, GOOD).map(|run| &run.outcome).collect();
    let is_measured = |it: &&&Outcome| matches!(it, Outcome::Measured(_));
    let mut measured = good.iter().filter(is_measured);
    // One instance is recorded, which nothing may have disturbed.
    if records && case.provoked.is_empty() {
        let is_recorded = measured.any(|it| is_good(it.reasons()));
        problems.extend((!is_recorded).then(|| good.iter().map(|it| summary(it)).collect()));
        return problems;
    }
    for outcome in good {
        let is_wrong = outcome.reasons().iter().any(|it| is_wrong(case, it.kind));
        let is_failed = matches!(outcome, Outcome::Failed { .. });
        if is_wrong || is_failed && case.provoked.is_empty() {
            problems.push(format!("{GOOD} is good: {}", summary(outcome)));
        }
    }
    problems
}

/// Whether the good server must not have this reason.
fn is_wrong(case: &Case, kind: ReasonKind) -> bool {
    match case.provoked.is_empty() {
        true => OF_SERVERS.contains(&kind),
        false => is_of_server(kind) && case.provoked.iter().any(|it| it.1 == kind && it.0 != GOOD),
    }
}

fn summary(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed { reason, server_stderr } => format!("failed: {reason} {server_stderr}\n"),
        outcome => outcome.reasons().iter().map(|it| format!("{}: {it}\n", it.kind)).collect(),
    }
}

pub(crate) fn runs_of<'a>(journal: &'a Journal, server: &str) -> impl Iterator<Item = &'a Run> {
    journal.runs.iter().filter(move |run| name_of(&run.variant.to_string()) == server)
}

/// A faulty server has the name of its program.
pub(crate) fn name_of(variant: &str) -> String {
    variant.strip_prefix("own/").unwrap_or(variant).to_owned()
}

enum Stop {
    /// This machine does not let it be made.
    LeftOut(String),
    Failed(String),
}

/// One `wirebench run` of the case.
fn run(case: &Case, cpus: &[u32]) -> Result<World, Stop> {
    let suite = format!(
        "description = \"Faults.\"\nblocks = 1\nworkers = 1\n\
         [[workload]]\nname = \"faulty\"\nscenario = \"hello\"\n{}",
        case.workload
    );
    let world = World::that_sends().with_suite("faults.toml", &suite);
    let mut words = ["run", "faults", "--quiet"].map(str::to_owned).to_vec();
    if !case.arguments.iter().any(|word| word.starts_with("--procedure")) {
        words.push("--procedure=process".to_owned());
    }
    words.extend(case.arguments.iter().map(|&word| word.to_owned()));
    if let Some((server, generator)) = case.around.cpus() {
        let pairs = [("--server-cpus", cpus[server]), ("--generator-cpus", cpus[generator])];
        words.extend(pairs.iter().flat_map(|(name, cpu)| [(*name).to_owned(), cpu.to_string()]));
    }
    let mut servers: Vec<&str> = case.provoked.iter().map(|it| it.0).collect();
    servers.dedup();
    for name in servers.iter().filter(|name| Fault::of(name).is_some()) {
        let path = machine::as_program(&world, name);
        words.extend(["--server".to_owned(), format!("'{}' {{port}}", path.display())]);
    }
    if servers.iter().all(|name| *name == GOOD) {
        words.push(GOOD.to_owned());
    }
    let made = case.around.make(&world, cpus).map_err(Stop::LeftOut)?;
    let argv = [&made.before[..], &[program().display().to_string()], &words].concat();
    let outcome = carry_out(case, &world, &argv);
    world.wait_for_silence();
    drop(made);
    outcome.map_err(Stop::Failed)?;
    Ok(world)
}

/// Runs `argv` in the world, with whoever disturbs it.
fn carry_out(case: &Case, world: &World, argv: &[String]) -> Result<(), String> {
    let folder = world.folder.path();
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).current_dir(folder).envs([world.mark()]).timeout(PATIENCE);
    command.env(FILE, folder.join(FACTS));
    let over = AtomicBool::new(false);
    let output = thread::scope(|scope| {
        if case.around == Around::StoppedGenerator {
            scope.spawn(|| machine::stop_generators(world, || over.load(Ordering::Relaxed)));
        }
        let output = command.output();
        over.store(true, Ordering::Relaxed);
        output
    });
    let output = output.map_err(|error| format!("{argv:?}: {error}"))?;
    // Faulty servers may fail their run.
    match output.status.code() {
        Some(0 | 1) => Ok(()),
        _ => Err(format!("{argv:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
