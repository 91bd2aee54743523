//! `wirebench verify`: every conformance check of every scenario, with PASS or FAIL and what was
//! expected and seen.

use wirebench_report::table::{Style, new_table};
use wirebench_runner::{
    requirement::Availability,
    subject::Subject,
    verify::{Checked, Verdict, catalogue, verify_subject},
};
use wirebench_schema::scenario::Scenario;

use crate::{
    building::{Manner, build_all},
    context::Context,
    exit::{Exit, usage},
    out,
};

/// Arguments of `wirebench verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entries, variants or languages; all without
    names: Vec<String>,
    /// Check a command line of your own, such as './my-server {port}', instead of entries
    #[arg(long = "server", value_name = "COMMAND", conflicts_with = "names")]
    servers: Vec<String>,
    /// Only this scenario; may be given more than once [default: all that an entry has, hello for
    /// --server]
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<Scenario>,
    /// Show only checks that fail
    #[arg(short, long)]
    quiet: bool,
    /// List the checks and what each demands, and run none
    #[arg(long)]
    checks: bool,
    /// Fail also when an entry needs `wirebench setup`
    #[arg(long)]
    strict: bool,
}

/// What has been counted so far.
#[derive(Debug, Default)]
struct Tally {
    passed: u32,
    failed: u32,
    skipped: u32,
    deviated: u32,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if arguments.checks {
        list_checks();
        return Ok(Exit::Fine);
    }
    let context = Context::new()?;
    context.require_files()?;
    let subjects = if arguments.servers.is_empty() {
        context.select(&arguments.names)?
    } else {
        let asked = &arguments.scenarios;
        let scenarios = if asked.is_empty() { &[Scenario::Hello][..] } else { asked };
        context.own(&arguments.servers, scenarios)?
    };
    let chosen: Result<Vec<_>, _> =
        subjects.iter().map(|subject| scenarios(subject, arguments)).collect();
    let chosen = chosen?;
    let (there, mut incomplete) = take_those_that_are_there(&context, subjects, chosen, arguments);
    let (ready, scenarios): (Vec<Subject>, Vec<Vec<Scenario>>) = there.into_iter().unzip();
    let not_built = build_all(&context, &ready, Manner::BEFORE);
    incomplete |= !not_built.is_empty();
    let mut tally = Tally::default();
    for (subject, scenarios) in ready.iter().zip(scenarios) {
        if context.interrupt.exit().is_some() {
            break;
        }
        let built = !not_built.contains(&subject.variant.id);
        for scenario in scenarios.into_iter().filter(|_| built) {
            check(&context, subject, scenario, arguments.quiet, &mut tally);
        }
    }
    let Tally { passed, failed, skipped, deviated } = tally;
    if deviated > 0 {
        out::result(&format!("{deviated} more failed as their entries declare (KNOWN)"));
    }
    out::result(&format!("{passed} passed, {failed} failed, {skipped} skipped"));
    let exit = if failed > 0 || incomplete { Exit::Failed } else { Exit::Fine };
    Ok(context.interrupt.exit().unwrap_or(exit))
}

/// What can be checked here, and whether something is left out that should have been checked.
fn take_those_that_are_there(
    context: &Context,
    subjects: Vec<Subject>,
    scenarios: Vec<Vec<Scenario>>,
    arguments: &Arguments,
) -> (Vec<(Subject, Vec<Scenario>)>, bool) {
    let survey = context.prober().survey(&subjects);
    let mut there = Vec::new();
    let mut incomplete = false;
    for ((subject, scenarios), availability) in subjects.into_iter().zip(scenarios).zip(survey) {
        let Some(reason) = availability.reason() else {
            there.push((subject, scenarios));
            continue;
        };
        out::result(&format!("{}: left out, {reason}", subject.variant.id));
        let left_undone = matches!(availability, Availability::NeedsSetup { .. });
        incomplete |= !arguments.names.is_empty()
            || (arguments.strict && left_undone)
            || subject.broken().is_some();
    }
    (there, incomplete)
}

/// The scenarios to be checked. One that an entry lacks is a mistake only when the entry was named.
fn scenarios(subject: &Subject, arguments: &Arguments) -> anyhow::Result<Vec<Scenario>> {
    if arguments.scenarios.is_empty() {
        return Ok(subject.variant.scenarios.clone());
    }
    if !arguments.names.is_empty() {
        for &scenario in &arguments.scenarios {
            subject.variant.check_scenario(scenario).map_err(usage)?;
        }
    }
    let asked = arguments.scenarios.iter().copied();
    Ok(asked.filter(|scenario| subject.variant.scenarios.contains(scenario)).collect())
}

fn check(context: &Context, subject: &Subject, scenario: Scenario, quiet: bool, tally: &mut Tally) {
    let launcher = context.launcher(None);
    let id = &subject.variant.id;
    let mut observe = |checked: &Checked| match &checked.verdict {
        Verdict::Pass => {
            tally.passed += 1;
            if !quiet {
                out::result(&format!("PASS  {id} {scenario} {}", checked.name));
            }
        }
        Verdict::Fail { finding } => {
            tally.failed += 1;
            out::result(&format!("FAIL  {id} {scenario} {}: {finding}", checked.name));
        }
        Verdict::Deviates { reason, finding } => {
            tally.deviated += 1;
            if !quiet {
                let name = checked.name;
                out::result(&format!("KNOWN {id} {scenario} {name}: {reason} ({finding})"));
            }
        }
        Verdict::Skip { reason } => {
            tally.skipped += 1;
            if !quiet {
                out::result(&format!("SKIP  {id} {scenario} {}: {reason}", checked.name));
            }
        }
    };
    let stop = context.interrupt.flag();
    verify_subject(&launcher, subject, scenario, subject.workers(1), stop, &mut observe);
}

fn list_checks() {
    for scenario in Scenario::ALL {
        let mut table = new_table(Style::Text, &[scenario.name(), "what it demands"]);
        for check in catalogue(scenario) {
            table.add_row([check.name, check.about]);
        }
        out::result(&format!("{table}\n"));
    }
}
