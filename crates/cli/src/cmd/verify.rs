//! `wirebench verify`: every conformance check of every scenario, with PASS or FAIL and what was
//! expected and seen.

mod checks;
mod course;

use std::{collections::BTreeMap, net::Ipv4Addr, path::PathBuf};
use wirebench_catalogue::{requirement::Availability, subject::Subject};
use wirebench_report::junit::{Case, CaseState};
use wirebench_schema::{
    load::Rate,
    scenario::Scenario,
    suite::{Suite, Workload},
};
use wirebench_server::parallel;
use wirebench_verify::Verdict;

use crate::{
    args::{
        format::SecretsOption,
        machine::ReadyOptions,
        project::ProjectOption,
        services::{Consent, ServiceOptions, is_url},
    },
    building::{BuildOptions, build_all},
    context::Context,
    exit::{Exit, usage},
    junit, out,
    request_options::{CONTRADICTION, OwnOptions, learn_files},
    value,
};
use course::{Asking, Done, Pair, Starter, check_all};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entries, variants, languages, or URLs of services that run already [default: all entries]
    #[arg(value_name = "ENTRY | URL")]
    names: Vec<String>,
    /// Server command to check, such as './my-server {port}'; repeatable
    #[arg(long = "server", value_name = "COMMAND")]
    servers: Vec<String>,
    /// Check only this scenario; repeatable [default: all scenarios of the entry; with --server hello,
    /// or requests if options or a URL say them]
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<Scenario>,
    #[command(flatten)]
    own: OwnOptions,
    #[command(flatten)]
    consent: Consent,
    /// Maximum requests per second to services
    #[arg(long, value_name = "N", help_heading = "Services")]
    rate: Option<Rate>,
    /// Show only failed checks
    #[arg(short, long)]
    quiet: bool,
    /// Servers to check in parallel [default: four per CPU, at most 8]
    #[arg(short, long, value_name = "N", value_parser = value::positive_count::<usize>)]
    jobs: Option<usize>,
    /// Repeat all checks this many times and count the failures of each [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: Option<u32>,
    /// Write the result of every check to this file as JUnit XML
    #[arg(long, value_name = "FILE", conflicts_with = "checks")]
    junit: Option<PathBuf>,
    /// List all checks, their requirements and what each is for, without running them
    #[arg(long, visible_alias = "list")]
    checks: bool,
    /// Exit with 1 if an entry needs `wirebench setup`
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    secrets: SecretsOption,
    #[command(flatten)]
    project: ProjectOption,
    #[command(flatten)]
    ready: ReadyOptions,
}

/// The load whose requests are asked.
const TEMPLATE: &str = r#"
description = "Made by wirebench verify."
blocks = 1
[[workload]]
name = "verify"
scenario = "hello"
connections = 100
duration = "1s"
"#;

impl Arguments {
    /// A workload with the requests that the options ask for, if they do, or those of the services' URLs.
    fn workload(&self, services: &[Subject]) -> anyhow::Result<Workload> {
        let mut workload = Suite::parse("verify", TEMPLATE).map_err(usage)?.workloads.remove(0);
        if let Some(asked) = self.own.asked(services)? {
            if self.scenarios.iter().any(|it| *it != Scenario::Requests) {
                return Err(usage(CONTRADICTION));
            }
            asked.apply(&mut workload);
        } else if !self.servers.is_empty() && self.scenarios.contains(&Scenario::Requests) {
            workload.scenario = Scenario::Requests;
        }
        if let Some(rate) = self.rate {
            workload = workload.at_rate(rate);
        }
        workload.check().map_err(usage)?;
        Ok(workload)
    }

    fn services(&self, context: &Context) -> anyhow::Result<Vec<Subject>> {
        let limit = ("--rate N", self.rate.is_some());
        let services = ServiceOptions { pids: Vec::new(), consent: self.consent };
        let services = services.find(context, &self.names, limit)?;
        if services.is_empty() && self.rate.is_some() {
            return Err(usage("--rate limits the checks of services: add a URL, or omit --rate"));
        }
        Ok(services)
    }

    /// All that is to be checked: services, commands, and entries.
    fn subjects(
        &self,
        context: &Context,
        services: Vec<Subject>,
        workload: &Workload,
    ) -> anyhow::Result<Vec<Subject>> {
        let usual = [workload.scenario];
        let scenarios = if self.scenarios.is_empty() { &usual[..] } else { &self.scenarios };
        let names: Vec<String> = self.names.iter().filter(|it| !is_url(it)).cloned().collect();
        let mut subjects = services;
        subjects.extend(self.own.servers(context, &self.servers, scenarios)?);
        if subjects.is_empty() || !names.is_empty() {
            subjects.extend(context.select(&names)?);
        }
        Ok(subjects)
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if arguments.checks {
        out::result(&checks::list());
        return Ok(Exit::Fine);
    }
    junit::create(arguments.junit.as_deref())?;
    let context = Context::new(&arguments.project)?;
    context.require_files()?;
    let launcher = arguments.ready.launcher(Ipv4Addr::LOCALHOST.into(), context.launcher(None))?;
    let services = arguments.services(&context)?;
    let workload = arguments.workload(&services)?;
    learn_files(&workload, workload.requests.as_ref());
    let subjects = arguments.subjects(&context, services, &workload)?;
    let asking = Asking { workload, is_of_options: arguments.own.is_given() };
    let of = |subject: &Subject| scenarios(subject, arguments, &asking);
    subjects.iter().try_for_each(|subject| of(subject).map(drop))?;
    let (ready, mut cases) = available(&context, subjects, arguments);
    let not_built = build_all(&context, &ready, BuildOptions::BEFORE);
    cases.extend(not_built.iter().map(|id| {
        let finding = "the build failed: see `wirebench build`".to_owned();
        Case { class: id.to_string(), name: "build".to_owned(), state: CaseState::Failed(finding) }
    }));
    let incomplete = cases.iter().any(|case| matches!(case.state, CaseState::Failed(_)));
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for subject in ready.iter().filter(|it| !not_built.contains(&it.variant.id)) {
        pairs.extend(of(subject)?.into_iter().map(|scenario| (subject, scenario)));
    }
    let jobs = arguments.rate.map(|_| 1).or(arguments.jobs).unwrap_or_else(parallel::checks);
    let times = arguments.repeat.unwrap_or(1);
    let pairs = pairs.repeat(times as usize);
    let starter = Starter {
        launcher: &launcher,
        asking: &asking,
        is_quiet: arguments.quiet,
        is_repeated: times == 1,
        stop: context.interrupt.flag(),
    };
    let done = check_all(starter, &pairs, jobs);
    cases.extend(done.iter().map(Done::case));
    junit::write(arguments.junit.as_deref(), "verify", &cases)?;
    let failed = summarise(&done, times);
    let exit = if failed > 0 || incomplete { Exit::Failed } else { Exit::Fine };
    Ok(context.interrupt.exit().unwrap_or(exit))
}

/// Prints the numbers of results, and returns that of failures.
fn summarise(done: &[Done], times: u32) -> usize {
    let mut failures: BTreeMap<String, u32> = BTreeMap::new();
    for failed in done.iter().filter(|it| it.has_failed()) {
        *failures.entry(failed.name()).or_default() += 1;
    }
    for (check, failures) in failures.iter().filter(|_| times > 1) {
        out::result(&format!("failed {failures} of {times} times: {check}"));
    }
    let number =
        |is: fn(&Verdict) -> bool| done.iter().filter(|it| is(&it.checked.verdict)).count();
    let deviated = number(|it| matches!(it, Verdict::Deviates { .. }));
    if deviated > 0 {
        out::result(&format!("{deviated} failed as declared by their entries (KNOWN)"));
    }
    let failed = number(|it| matches!(it, Verdict::Fail { .. }));
    let skipped = number(|it| matches!(it, Verdict::Skip { .. }));
    let passed = number(|it| *it == Verdict::Pass);
    out::result(&format!("{passed} passed, {failed} failed, {skipped} skipped"));
    failed
}

/// The servers that can be checked, and a case for each other one; it failed if it should be checked.
fn available(
    context: &Context,
    subjects: Vec<Subject>,
    arguments: &Arguments,
) -> (Vec<Subject>, Vec<Case>) {
    let (mut cases, mut not_shown) = (Vec::new(), 0);
    let there = context.available(subjects, |subject, availability, reason| {
        let left_undone = matches!(availability, Availability::NeedsSetup { .. });
        let named = arguments.names.iter().any(|name| subject.variant.id.matches(name));
        let fails = named || (arguments.strict && left_undone) || subject.broken().is_some();
        let state = if fails { CaseState::Failed } else { CaseState::Skipped };
        cases.push(Case {
            class: subject.variant.id.to_string(),
            name: "available".to_owned(),
            state: state(reason.to_owned()),
        });
        if arguments.quiet && !fails {
            not_shown += 1;
        } else {
            out::result(&format!("{}: skipped, {reason}", subject.variant.id));
        }
    });
    if not_shown > 0 {
        out::result(&format!("{not_shown} variants are not available: see `wirebench list`"));
    }
    (there, cases)
}

/// The scenarios to be checked. One that an entry lacks is a mistake only when the entry was named.
fn scenarios(
    subject: &Subject,
    arguments: &Arguments,
    asking: &Asking,
) -> anyhow::Result<Vec<Scenario>> {
    let is_named = !arguments.names.is_empty();
    if is_named {
        for &scenario in &arguments.scenarios {
            subject.variant.check_scenario(scenario).map_err(usage)?;
        }
    }
    let mut scenarios = subject.variant.scenarios.clone();
    if !arguments.scenarios.is_empty() {
        scenarios.retain(|scenario| arguments.scenarios.contains(scenario));
    }
    if scenarios.contains(&Scenario::Requests)
        && let Err(reason) = asking.of(subject).check()
    {
        if is_named {
            return Err(usage(format!("{}: {reason}", subject.variant.id)));
        }
        scenarios.retain(|scenario| *scenario != Scenario::Requests);
    }
    Ok(scenarios)
}
