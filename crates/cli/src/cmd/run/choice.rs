//! What a run is about: the suite, the servers, and what of both is not to be had here.
//!
//! What a user names must exist. What a suite names need not: suites name entries of the whole
//! project, and a part of them may be missing in a checkout.

mod resolved;

use anyhow::Context as _;
use std::collections::{BTreeMap, BTreeSet};
use wirebench_catalogue::{
    requirement::{Availability, Prober},
    subject::Subject,
};
use wirebench_experiment::plan::{self, Changes, FALLBACK_BASELINE};
use wirebench_report::filter;
use wirebench_schema::{
    id::VariantId,
    journal::{Cause, LeftOut, Unavailable},
    scenario::Scenario,
    suggest,
    suite::{DEFAULT_BASELINE, Suite, Workload},
};

use self::resolved::{Resolved, broken};
use super::options::Arguments;
use crate::{args::services::is_url, context::Context, exit::usage, value};

const DEFAULT_SUITE: &str = "quick";

/// The suite, and the names of entries that are left when the suite's own name is taken away.
pub(super) fn suite_and_names(
    context: &Context,
    arguments: &Arguments,
) -> anyhow::Result<(Suite, Vec<String>)> {
    let (suites, names): (Vec<String>, Vec<String>) = arguments
        .names
        .iter()
        .filter(|name| !is_url(name))
        .cloned()
        .partition(|name| crate::suites::exists(&context.project, name));
    match suites.as_slice() {
        [] => {
            // A name without a slash is a suite's or a language's.
            for name in names.iter().filter(|name| !name.contains('/')) {
                if context.select(std::slice::from_ref(name)).is_err() {
                    return Err(crate::suites::unknown(context, name)?);
                }
            }
            Ok((crate::suites::load(&context.project, DEFAULT_SUITE)?, names))
        }
        [one] => Ok((crate::suites::load(&context.project, one)?, names)),
        more => Err(usage(format!(
            "{} are {} suites: name one suite at a time",
            more.join(" and "),
            more.len()
        ))),
    }
}

/// A suite's baselines must exist, unless they are among its entries, which may be missing here. The
/// usual one need not: without it, as without one whose description is wrong, another stands in.
pub(super) fn check_baselines(context: &Context, suite: &Suite) -> anyhow::Result<()> {
    let known = context.subjects()?;
    for name in &suite.baselines {
        let is_needed = name != DEFAULT_BASELINE && !suite.entries.contains(name);
        if is_needed && broken(&known, name).is_none() {
            context
                .select(std::slice::from_ref(name))
                .with_context(|| format!("the baseline of the suite `{}`", suite.name))?;
        }
    }
    Ok(())
}

/// Changes the suite. A load that was named after its rate is named after the new one, unless another has that name.
pub(super) fn change(suite: &mut Suite, changes: &Changes) -> anyhow::Result<()> {
    let rate = |it: &Workload| {
        it.model.constant_rate().map_or("-changing".to_owned(), |rate| format!("-{}", rate.short()))
    };
    let before: BTreeMap<_, _> =
        suite.workloads.iter().map(|it| (it.name.clone(), rate(it))).collect();
    plan::change(suite, changes).map_err(usage)?;
    for index in 0..suite.workloads.len() {
        let now = &suite.workloads[index];
        let stem = before.get(&now.name).and_then(|old| now.name.strip_suffix(old));
        let name = stem.map(|stem| format!("{stem}{}", rate(now)));
        let is_new = |name: &String| suite.workloads.iter().all(|it| it.name != *name);
        if let Some(name) = name.filter(is_new) {
            suite.workloads[index].name = name;
        }
    }
    Ok(())
}

/// Removes the workloads that cannot run; `refusal` returns the reason.
pub(super) fn skip_refused(
    suite: &mut Suite,
    refusal: impl Fn(&Workload) -> Option<String>,
) -> anyhow::Result<Vec<LeftOut>> {
    let mut left_out = Vec::new();
    suite.workloads.retain(|workload| {
        let refusal = refusal(workload);
        let what = || workload.name.clone();
        left_out
            .extend(refusal.iter().map(|reason| LeftOut { what: what(), reason: reason.clone() }));
        refusal.is_none()
    });
    if suite.workloads.is_empty() {
        let reasons = left_out.iter().map(|it| format!("\n  {}: {}", it.what, it.reason));
        let reasons: String = reasons.collect();
        let name = &suite.name;
        return Err(usage(format!("cannot run any workload of `{name}`:{reasons}")));
    }
    Ok(left_out)
}

/// What is to be measured, and what the user or the suite names in vain.
pub(super) struct Chosen {
    pub(super) subjects: Vec<Subject>,
    /// Those that the user named.
    pub(super) named: Vec<VariantId>,
    pub(super) missing: Vec<Unavailable>,
    pub(super) left_out: Vec<LeftOut>,
}

/// The servers that are not entries, under the names that the user gives them.
fn own_servers(
    context: &Context,
    arguments: &Arguments,
    scenarios: &[Scenario],
    services: Vec<Subject>,
) -> anyhow::Result<Vec<Subject>> {
    let servers = arguments.own.servers(context, &arguments.servers, scenarios)?;
    let mut own = [services, servers].concat();
    if arguments.server_names.len() > own.len() {
        return Err(usage(
            "there are more --name than URLs and --server: omit one, or add its server",
        ));
    }
    for (index, name) in arguments.server_names.iter().enumerate() {
        let id = value::name("own", name)?;
        if own.iter().enumerate().any(|(other, it)| other != index && it.variant.id == id) {
            return Err(usage(format!("two servers are named `{name}`: use another --name")));
        }
        own[index].variant.id = id;
    }
    Ok(own)
}

/// What is to be measured: what was named, or what the suite names, and the baseline.
pub(super) fn subjects(
    context: &Context,
    arguments: &Arguments,
    suite: &mut Suite,
    names: &[String],
    services: Vec<Subject>,
) -> anyhow::Result<Chosen> {
    let scenarios: BTreeSet<Scenario> = suite.workloads.iter().map(|w| w.scenario).collect();
    let scenarios = Vec::from_iter(scenarios);
    let own = own_servers(context, arguments, &scenarios, services)?;
    let known = context.subjects()?;
    let nothing_named = names.is_empty() && own.is_empty();
    let answers = |it: &Subject| {
        let mut names = suite.entries.iter();
        it.variant.scenarios.contains(&Scenario::Requests)
            && (suite.entries.is_empty() || names.any(|name| it.variant.id.is_among(name)))
    };
    if nothing_named && arguments.own.is_given() && !known.iter().any(answers) {
        return Err(usage(
            "no entry answers other requests than its scenario's: add --server './my-server {port}'",
        ));
    }
    let everything = nothing_named && suite.entries.is_empty();
    let mut here = Resolved::default();
    let named = if names.is_empty() { Vec::new() } else { context.select(names)? };
    if nothing_named {
        here = Resolved::of(&suite.entries, &known)?;
    } else {
        names.clone_into(&mut here.names);
        // A scenario that is named with an entry must be one of its own; a suite applies to all entries.
        for (subject, scenario) in
            named.iter().flat_map(|it| arguments.scenarios.iter().map(move |s| (it, *s)))
        {
            subject.variant.check_scenario(scenario).map_err(usage)?;
        }
    }
    let own_baseline = arguments.view.baseline.as_deref();
    let own_baseline =
        own_baseline.and_then(|name| own.iter().find(|it| it.variant.id.is_called(name)));
    if let Some(name) = &arguments.view.baseline {
        let id = match own_baseline {
            Some(own) => own.variant.id.clone(),
            None => context.select_one(name)?.variant.id,
        };
        suite.baselines.insert(0, id.to_string());
    }
    if !everything && own_baseline.is_none() {
        here.names.extend(baselines(suite, &known, &context.prober()));
    }
    let named_ids = own.iter().chain(&named).map(|it| it.variant.id.clone()).collect();
    here.missing.extend(named.iter().filter_map(|it| without_load(it, &scenarios)));
    let mut subjects = own;
    if everything || !here.names.is_empty() {
        subjects.extend(context.select(&here.names)?);
    }
    subjects.retain(|it| !here.missing.iter().any(|missing| missing.variant == it.variant.id));
    let Resolved { broken, mut missing, left_out, .. } = here;
    subjects.extend(broken);
    exclude(&arguments.view.exclude, suite, &mut subjects, &mut missing)?;
    Ok(Chosen { subjects, named: named_ids, missing, left_out })
}

/// Why a named entry takes part in no load, if it does not.
fn without_load(subject: &Subject, scenarios: &[Scenario]) -> Option<Unavailable> {
    let lack = subject.variant.lacks(scenarios).filter(|_| subject.broken().is_none())?;
    let (variant, cause) = (subject.variant.id.clone(), Cause::Missing);
    Some(Unavailable { variant, reason: lack, cause })
}

/// Removes the servers that were excluded. A baseline that is one of them would be replaced without a word.
fn exclude(
    patterns: &[String],
    suite: &Suite,
    subjects: &mut Vec<Subject>,
    missing: &mut Vec<Unavailable>,
) -> anyhow::Result<()> {
    for pattern in patterns {
        let before = subjects.len() + missing.len();
        let is_out = |id: &VariantId| filter::is_meant(id, pattern);
        let named = |name: &str| subjects.iter().find(|it| it.variant.id.matches(name));
        let names = suite.baselines.iter().map(String::as_str).chain([FALLBACK_BASELINE]);
        let mut found = names.filter_map(named).map(|it| &it.variant.id);
        let baseline = found.next();
        if let Some(baseline) = baseline.filter(|it| is_out(it)) {
            return Err(usage(filter::excludes_baseline(baseline)));
        }
        subjects.retain(|it| !is_out(&it.variant.id));
        missing.retain(|it| !is_out(&it.variant));
        if subjects.len() + missing.len() == before {
            let known: Vec<String> = subjects.iter().map(|it| it.variant.id.to_string()).collect();
            return Err(usage(suggest::unknown(
                "server",
                pattern,
                known.iter().map(String::as_str),
            )));
        }
    }
    Ok(())
}

/// Adds the scenario `requests` for entries that have no other; alone if all named ones are such.
pub(super) fn add_requests(scenarios: &mut Vec<Scenario>, suite: &Suite, named: &[Subject]) {
    let is_only = |subject: &Subject| subject.variant.answers_only_requests();
    if !named.iter().any(is_only) {
        return;
    }
    if named.iter().all(is_only) {
        scenarios.clear();
    } else if scenarios.is_empty() {
        scenarios.extend(suite.workloads.iter().map(|it| it.scenario));
    }
    scenarios.push(Scenario::Requests);
}

/// The baselines that come along: in each workload the first that is ready and has its scenario, or
/// what stands in for it.
fn baselines(suite: &Suite, known: &[Subject], prober: &Prober<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for workload in &suite.workloads {
        let usable = |name: &&str| {
            let mut named = known.iter().filter(|subject| subject.variant.id.matches(name));
            named.any(|it| {
                it.variant.scenarios.contains(&workload.scenario)
                    && prober.availability(it) == Availability::Ready
            })
        };
        let candidates = suite.baselines.iter().map(String::as_str).chain([FALLBACK_BASELINE]);
        names.extend(candidates.into_iter().find(usable).map(str::to_owned));
    }
    names.sort();
    names.dedup();
    names
}

/// The baselines of a user's own requests, where the suite's own do not answer them: the servers that do, of which the
/// first one that is measured counts.
pub(super) fn own_baselines(suite: &Suite, subjects: &[Subject]) -> Vec<String> {
    let answers = |subject: &&Subject| subject.variant.scenarios.contains(&Scenario::Requests);
    let is_asked = suite.workloads.iter().any(|it| it.scenario == Scenario::Requests);
    let is_there =
        |subject: &Subject| suite.baselines.iter().any(|name| subject.variant.id.matches(name));
    let able = subjects.iter().filter(answers);
    let are_needed = is_asked && !able.clone().any(is_there);
    able.filter(|_| are_needed).map(|it| it.variant.id.to_string()).collect()
}
