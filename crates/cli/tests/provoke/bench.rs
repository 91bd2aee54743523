//! Carries a case out, several times if it must be: the machine of a test has other things to do, so
//! what is to be seen may be hidden, and what is not to be seen may be there.

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::journal::{Journal, Reason, ReasonKind, Run};

use crate::{
    cases::{Case, Expected, GOOD},
    faulty::Fault,
    machine::{self, Around},
    world::{World, program},
};

/// How often a case is tried before it counts as failed.
const ATTEMPTS: u32 = 4;
/// How long one attempt may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// Makes the faults happen, and prints a row for each.
pub(crate) fn provoke(case: &Case) -> Result<(), String> {
    let cpus = wirebench_sys::affinity::current().map_err(|error| error.to_string())?;
    if case.around.cpus().is_some() && cpus.len() < 2 {
        println!("left out: {}: it takes two CPUs", case.name);
        return Ok(());
    }
    let mut reported: BTreeMap<usize, Reason> = BTreeMap::new();
    let mut problems = Vec::new();
    for _ in 0..ATTEMPTS {
        let journal = match run(case, &cpus) {
            Ok(journal) => journal,
            Err(Stop::LeftOut(reason)) => {
                println!("left out: {}: {reason}", case.name);
                return Ok(());
            }
            Err(Stop::Failed(reason)) => return Err(reason),
        };
        problems = look(case, &journal, &mut reported);
        if problems.is_empty() {
            reported.into_iter().for_each(|(index, reason)| print_row(case, index, &reason));
            let absent = case.expected.iter().filter(|it| it.absent);
            absent.for_each(|it| println!("| {}: `{}` | - | - | none is due |", case.name, it.who));
            return Ok(());
        }
    }
    Err(format!("after {ATTEMPTS} attempts:\n{}", problems.join("\n")))
}

fn print_row(case: &Case, index: usize, reason: &Reason) {
    let who = case.expected[index].who;
    let fault = if who == GOOD { String::new() } else { format!(": `{who}`") };
    let Reason { kind, weight, .. } = reason;
    println!("| {}{fault} | `{kind}` | {weight} | {reason} |", case.name);
}

/// The expected reasons that are missing, and the reasons that the good server must not have. A reason
/// found in this or an earlier attempt is kept in `reported`.
fn look(case: &Case, journal: &Journal, reported: &mut BTreeMap<usize, Reason>) -> Vec<String> {
    let runs = |who: &str| {
        let id = if who == GOOD { who.to_owned() } else { format!("own/{who}") };
        journal.runs.iter().filter(move |run| run.variant.to_string() == id)
    };
    let mut problems = Vec::new();
    for (index, expected) in case.expected.iter().enumerate() {
        let Expected { who, kinds, says, absent } = expected;
        let reasons = || runs(who).flat_map(|run| run.outcome.reasons());
        let is_it = |it: &&Reason| kinds.contains(&it.kind) && it.text().contains(says);
        if *absent {
            let wrong = reasons().filter(is_it);
            problems.extend(wrong.map(|it| format!("{who} is {}: {it}", it.kind)));
            problems.extend(failures(runs(who)));
            continue;
        }
        if let Some(reason) = reasons().find(is_it) {
            reported.insert(index, reason.clone());
        } else if !reported.contains_key(&index) {
            let seen: Vec<String> = reasons()
                .map(|it| format!("{}: {it}", it.kind))
                .chain(failures(runs(who)))
                .collect();
            problems.push(format!("{who} is not {kinds:?} with `{says}`, but {seen:#?}"));
        }
        if *who != GOOD {
            let innocent =
                |run: &&Run| !run.outcome.reasons().iter().any(|it| blames_others(it.kind));
            let wrong = runs(GOOD).filter(innocent).flat_map(|run| run.outcome.reasons());
            let wrong = wrong.filter(|reason| kinds.contains(&reason.kind));
            problems.extend(wrong.map(|reason| format!("{GOOD}, which is good, is {reason:?}")));
        }
    }
    problems
}

/// Whether it says that something else had the CPUs. Then a good server may be late, uneven or slow,
/// and this test can say nothing of it.
fn blames_others(kind: ReasonKind) -> bool {
    matches!(
        kind,
        ReasonKind::Neighbour
            | ReasonKind::Stolen
            | ReasonKind::Throttled
            | ReasonKind::GeneratorStall
    )
}

fn failures<'a>(runs: impl Iterator<Item = &'a Run>) -> impl Iterator<Item = String> {
    runs.filter_map(|run| match &run.outcome {
        wirebench_schema::journal::Outcome::Failed { reason, server_stderr } => {
            Some(format!("failed: {reason} {server_stderr}"))
        }
        _ => None,
    })
}

enum Stop {
    /// This machine does not let it be made.
    LeftOut(String),
    Failed(String),
}

/// One `wirebench run` of the case.
fn run(case: &Case, cpus: &[u32]) -> Result<Journal, Stop> {
    let suite = format!(
        "description = \"Faults.\"\nblocks = 1\nworkers = 1\n\
         [[workload]]\nname = \"faulty\"\nscenario = \"hello\"\n{}",
        case.workload
    );
    let world = World::new().with_suite("faults.toml", &suite);
    let mut words = ["run", "faults", "--quiet"].map(str::to_owned).to_vec();
    if !case.arguments.iter().any(|word| word.starts_with("--procedure")) {
        words.push("--procedure=process".to_owned());
    }
    words.extend(case.arguments.iter().map(|&word| word.to_owned()));
    if let Some((server, generator)) = case.around.cpus() {
        let pairs = [("--server-cpus", cpus[server]), ("--generator-cpus", cpus[generator])];
        words.extend(pairs.iter().flat_map(|(name, cpu)| [(*name).to_owned(), cpu.to_string()]));
    }
    let mut servers: Vec<&str> = case.expected.iter().map(|it| it.who).collect();
    servers.dedup();
    for name in servers.iter().filter(|name| Fault::of(name).is_some()) {
        let path = machine::as_program(&world, name);
        words.extend(["--server".to_owned(), format!("'{}' {{port}}", path.display())]);
    }
    if servers == [GOOD] {
        words.push(GOOD.to_owned());
    }
    let made = case.around.make(&world, cpus).map_err(Stop::LeftOut)?;
    let argv = [&made.before[..], &[program().display().to_string()], &words].concat();
    let outcome = carry_out(case, &world, &argv);
    world.wait_for_silence();
    drop(made);
    outcome.map_err(Stop::Failed)?;
    Ok(world.journal())
}

/// Runs `argv` in the world, with whoever disturbs it.
fn carry_out(case: &Case, world: &World, argv: &[String]) -> Result<(), String> {
    let log = world.folder.path().join("log.txt");
    let file = fs::File::create(&log).map_err(|error| error.to_string())?;
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).current_dir(world.folder.path()).envs([world.mark()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", argv[0]))?;
    let over = AtomicBool::new(false);
    let status = thread::scope(|scope| {
        if case.around == Around::StoppedGenerator {
            scope.spawn(|| machine::stop_generators(world, || over.load(Ordering::Relaxed)));
        }
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match child.try_wait() {
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(20)),
                Ok(None) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break Err(format!("{argv:?} did not end"));
                }
                Ok(Some(status)) => break Ok(status),
                Err(error) => break Err(error.to_string()),
            }
        };
        over.store(true, Ordering::Relaxed);
        status
    })?;
    // Faulty servers may fail their run.
    match status.code() {
        Some(0 | 1) => Ok(()),
        _ => Err(format!("{argv:?}: {status}: {}", fs::read_to_string(log).unwrap_or_default())),
    }
}
