//! `wirebench verify`: every conformance check of every scenario, with PASS or FAIL and what was
//! expected and seen.

use wirebench_report::table::{Style, new_table};
use wirebench_runner::{
    build,
    subject::Subject,
    verify::{Checked, Verdict, catalogue, verify_subject},
};
use wirebench_schema::scenario::Scenario;

use crate::{
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
    /// Fail also when something is missing for an entry
    #[arg(long)]
    strict: bool,
}

/// What has been counted so far.
#[derive(Debug, Default)]
struct Tally {
    passed: u32,
    failed: u32,
    skipped: u32,
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
    let mut tally = Tally::default();
    let mut incomplete = false;
    for subject in &subjects {
        let scenarios = scenarios(subject, arguments)?;
        if let Some(reason) = context.prober().availability(subject).reason() {
            out::result(&format!("{}: left out, {reason}", subject.variant.id));
            incomplete |= arguments.strict || !arguments.names.is_empty();
            continue;
        }
        if let Err(error) = build::build(subject, false, context.interrupt.flag()) {
            if context.interrupt.exit().is_some() {
                break;
            }
            out::error(&format!("{}: {error}", subject.variant.id));
            incomplete = true;
            continue;
        }
        for scenario in scenarios {
            check(&context, subject, scenario, arguments.quiet, &mut tally);
        }
    }
    let Tally { passed, failed, skipped } = tally;
    out::result(&format!("{passed} passed, {failed} failed, {skipped} skipped"));
    let exit = if failed > 0 || incomplete { Exit::Failed } else { Exit::Fine };
    Ok(context.interrupt.exit().unwrap_or(exit))
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
