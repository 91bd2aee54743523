//! Whether two results are of the same experiment: what refuses a comparison, and what may be the
//! cause of changes that are not the servers'.
//!
//! Not here: the figures.

pub(super) mod loads;

use serde::Serialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};
use wirebench_schema::{
    environment::{self, Environment, Weight},
    id::VariantId,
    journal::{Described, Journal, Outcome, Run, Verified},
    load::{RequestSet, RequestSpec, SampleReply},
    suite::{Phase, Scale, Workload},
};
use wirebench_stats::{MIN_COHORTS, states::are_apart};

use super::{
    Difference, LeftOut, Presence, Side,
    cells::{Half, Pair},
    comparison::blocks,
};
use crate::{
    idle_words,
    load_words::{self, describe_model},
    services::engine,
    table::states::distance,
};

/// Workloads in which the cost was measured at two different rates, which keeps their cells apart
/// and no others.
pub(super) type Rates = BTreeMap<String, Difference>;

/// Takes the cells that were measured at different rates away from `pairs`.
pub(super) fn take_apart<'a>(rates: &Rates, pairs: Vec<Pair<'a>>) -> (Vec<Pair<'a>>, Vec<LeftOut>) {
    let differs = |pair: &Pair<'_>| rates.contains_key(&pair.cell.load);
    let (apart, kept): (Vec<_>, Vec<_>) = pairs.into_iter().partition(differs);
    let why = |pair: Pair<'_>| {
        let reason = rate_sentence(&pair.old.rows.workload, &pair.new.rows.workload);
        LeftOut { cell: pair.cell, presence: Presence::Both, reason }
    };
    (kept, apart.into_iter().map(why).collect())
}

/// What must be equal and is not. Rates of a cost phase are apart: they concern their own cells.
pub(super) fn differences(
    old: &Side<'_>,
    new: &Side<'_>,
    pairs: &[Pair<'_>],
) -> (Vec<Difference>, Rates) {
    let mut found = other_machine([old.environment, new.environment]);
    let (start, other) = (&old.journal.start, &new.journal.start);
    let generators = (start.generator.to_string(), other.generator.to_string());
    found.extend(Difference::between("the load generator", generators.0, generators.1));
    found.extend(placement(old.journal, new.journal));
    found.extend(idle_words::difference([start.idle, other.idle]));
    found.extend(machine_state(pairs));
    found.extend(replies(old.journal, new.journal, false));
    let mut rates = Rates::default();
    let mut of_cells = BTreeSet::new();
    for pair in pairs {
        let (differing, rate) = workload(&pair.old.rows.workload, &pair.new.rows.workload);
        of_cells.extend(differing);
        let name = &pair.cell.load;
        rates.extend(rate.map(|rate| (name.clone(), rate)));
        let workers = [&pair.old, &pair.new].map(|half| each(half, |run| run.workers.to_string()));
        of_cells.extend(differ(format!("workers in {name}"), workers));
        let engines = [&pair.old, &pair.new]
            .map(|half| each(half, |run| engine(run).unwrap_or_default().to_owned()));
        of_cells.extend(differ(format!("the load generator's engine in {name}"), engines));
        let files = [&pair.old, &pair.new].map(|half| each(half, files));
        of_cells.extend(differ(format!("the content of the files sent in {name}"), files));
    }
    found.extend(of_cells);
    (found, rates)
}

/// How the machines differ; nothing if one is unknown.
fn machine(
    old: Option<&Environment>,
    new: Option<&Environment>,
) -> impl Iterator<Item = environment::Difference> + use<> {
    let both = old.zip(new);
    both.map(|(old, new)| old.differences(new)).unwrap_or_default().into_iter()
}

/// Facts of the machines that must be equal and are not.
fn other_machine([old, new]: [Option<&Environment>; 2]) -> Vec<Difference> {
    let refuses = machine(old, new).filter(|it| it.weight == Weight::Refuses);
    let difference = |it: environment::Difference| {
        Difference::between(format!("the machine: {}", it.field), it.old, it.new)
    };
    refuses.filter_map(difference).collect()
}

fn placement(old: &Journal, new: &Journal) -> Vec<Difference> {
    let (old, new) = (&old.start.placement, &new.start.placement);
    let cpus = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let rows = [
        ("the server's CPUs", cpus(&old.server_cpus), cpus(&new.server_cpus)),
        ("the generator's CPUs", cpus(&old.generator_cpus), cpus(&new.generator_cpus)),
        ("pinned", old.pinned.to_string(), new.pinned.to_string()),
        ("separate CPUs", old.disjoint.to_string(), new.disjoint.to_string()),
    ];
    rows.into_iter().filter_map(|(what, old, new)| Difference::between(what, old, new)).collect()
}

/// The first difference between the replies of each variant to the requests of its user.
fn replies(old: &Journal, new: &Journal, in_any_body: bool) -> Vec<Difference> {
    let difference = |it: &Verified| {
        let is_it =
            |other: &&Verified| (&other.variant, other.scenario) == (&it.variant, it.scenario);
        let mut all = new.verified.iter().filter(is_it);
        all.find_map(|other| {
            differing_replies(&it.variant, [&it.replies, &other.replies], in_any_body)
        })
    };
    old.verified.iter().filter_map(difference).collect()
}

/// That the same requests got different replies from a server.
fn differing_replies(
    server: impl fmt::Display,
    [old, new]: [&[SampleReply]; 2],
    in_any_body: bool,
) -> Option<Difference> {
    let (old, new) = SampleReply::first_difference(old, new, in_any_body)?;
    let what = format!("the reply of {server} to `{}`", old.request);
    Difference::between(what, old.to_string(), new.to_string())
}

/// Ratios of one state of the machine say nothing of those of another one.
fn machine_state(pairs: &[Pair<'_>]) -> Option<Difference> {
    let apart = |pair: &Pair<'_>| {
        let [old, new] = [&pair.old, &pair.new].map(|half| half.rows.states.compared.as_ref());
        let (old, new) = old.zip(new)?;
        are_apart(&old.distance_ns, &new.distance_ns).then(|| (distance(old), distance(new)))
    };
    let (old, new) = pairs.iter().find_map(apart)?;
    Difference::between("the distance between the CPUs of server and generator", old, new)
}

/// The differences in the definition of a workload; the rate of a cost phase is returned separately.
fn workload(old: &Workload, new: &Workload) -> (Vec<Difference>, Option<Difference>) {
    let requests = differing_requests([&old.requests, &new.requests].map(Option::as_ref));
    let of_workload = |it| Difference { what: format!("the requests of {}", old.name), ..it };
    let mut found: Vec<Difference> = requests.map(of_workload).into_iter().collect();
    let mut rate = None;
    // Requests may hold secrets, and are as many words as there are bytes.
    for (field, [value, other]) in differing_fields([old, new], &["requests"]) {
        if field == "model" && old.phase == Phase::Cost && new.phase == Phase::Cost {
            rate = Difference::between(format!("the rate of {}", old.name), value, other);
        } else {
            let what = format!("`{field}` of the workload {}", old.name);
            found.extend(Difference::between(what, value, other));
        }
    }
    (found, rate)
}

/// The fields of two settings that differ, each with both values; not those of these names.
fn differing_fields(both: [&impl Serialize; 2], free: &[&str]) -> BTreeMap<String, [String; 2]> {
    let fields = |it: &_| serde_json::to_value(it).ok()?.as_object().cloned();
    let [old, new] = both.map(|it| fields(it).unwrap_or_default());
    let names = old.keys().chain(new.keys()).filter(|it| !free.contains(&it.as_str()));
    let values = |name| [&old, &new].map(|it| plain(it.get(name).unwrap_or(&Value::Null)));
    let all = names.map(|name| (name.clone(), values(name)));
    all.filter(|(_, [old, new])| old != new).collect()
}

/// Other requests. Where their file is, where numbers begin, and what is expected of replies, may differ.
fn differing_requests(sets: [Option<&RequestSet>; 2]) -> Option<Difference> {
    let sent = |set: &RequestSet| -> Vec<RequestSpec> {
        let expect = Default::default;
        set.requests.iter().map(|it| RequestSpec { expect: expect(), ..it.clone() }).collect()
    };
    let [old, new] = sets.map(|set| set.map(|set| (set.order, sent(set))));
    if old == new {
        return None;
    }
    let words = sets.map(|set| set.map_or_else(|| "one".to_owned(), load_words::requests));
    Difference::alike("the set of requests", words)
}

/// A value of JSON without the signs around a text.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "not set".to_owned(),
        other => other.to_string(),
    }
}

fn each(half: &Half<'_>, value: impl Fn(&Run) -> String) -> BTreeSet<String> {
    let values = half.row.runs.iter().map(|run| value(run));
    values.filter(|value| !value.is_empty()).collect()
}

fn differ(what: String, [old, new]: [BTreeSet<String>; 2]) -> Option<Difference> {
    let list = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(", ");
    // Where all runs failed nothing is known.
    let known = !old.is_empty() && !new.is_empty();
    known.then(|| Difference::between(what, list(old), list(new)))?
}

/// The digest of the files that its requests sent; empty without any.
fn files(run: &Run) -> String {
    run.outcome.measured().and_then(|it| it.load.files_digest.clone()).unwrap_or_default()
}

fn rate_sentence(old: &Workload, new: &Workload) -> String {
    let (old, new) = (describe_model(&old.model), describe_model(&new.model));
    format!(
        "cost was measured at {old} and then at {new}: use the same rate in both runs with `wirebench run \
         --rate N`"
    )
}

/// What may be the cause of changes, or keep them from being seen.
pub(super) fn warnings<'a>(old: &Side<'a>, new: &Side<'a>) -> Vec<String> {
    let of = |side: &Side<'a>| (side.name, side.journal.start.started.as_str(), side.environment);
    let mut found = doubts_of_pair([of(old), of(new)], old.journal == new.journal);
    for side in [old, new] {
        if side.journal.start.scale == Scale::Smoke {
            found.push(format!("{} is at smoke scale: its figures are meaningless", side.name));
        }
        let cohorts = blocks(side.journal);
        if cohorts < MIN_COHORTS {
            found.push(format!(
                "{} has {cohorts} cohorts, and an interval needs {MIN_COHORTS}: measure with --cohorts {MIN_COHORTS}",
                side.name
            ));
        }
    }
    found.extend(replies(old.journal, new.journal, true).iter().map(ToString::to_string));
    found
}

/// Doubts about two results of any kind, each a name, when it began and its machine: an unknown machine, a wrong
/// order, and settings that differ.
fn doubts_of_pair(sides: [(&str, &str, Option<&Environment>); 2], is_same: bool) -> Vec<String> {
    let [(name, before, old), (_, after, new)] = sides;
    let unknown =
        sides.into_iter().filter(|(.., environment)| environment.is_none()).map(|(name, ..)| {
            format!("{name} has no environment.json: cannot check that the machine is the same")
        });
    let order = match before > after && !after.is_empty() {
        _ if is_same => Some("both are the same result".to_owned()),
        true => Some(format!("{name} is newer by its time: swapped arguments?")),
        false => None,
    };
    let settings = machine(old, new).filter(|it| it.weight == Weight::Warns);
    unknown.chain(order).chain(settings.map(|it| it.to_string())).collect()
}

/// Versions of the same variant that differ.
pub(super) fn versions(old: &Side<'_>, new: &Side<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for described in &old.journal.start.variants {
        let Some(other) = described_in(new, &described.variant) else { continue };
        for (name, version) in &described.versions {
            let now = other.versions.get(name).filter(|now| *now != version);
            found.extend(
                now.map(|now| format!("{}: {name} was {version} and is {now}", described.variant)),
            );
        }
    }
    found
}

/// The fingerprint of a row, and what its processes had mapped, as far as they are known.
#[derive(Clone, Debug)]
pub(crate) struct ProgramIdentity<'a> {
    fingerprint: Option<&'a str>,
    mapped: Option<BTreeSet<&'a str>>,
}

impl<'a> ProgramIdentity<'a> {
    /// That of a row with these runs.
    pub(crate) fn of(described: &'a Described, runs: &[&'a Run]) -> Self {
        let outcomes = runs.iter().map(|run| &run.outcome).filter(|it| it.has_figures());
        let mapped: Option<BTreeSet<&str>> = outcomes.map(Outcome::mapped).collect();
        let mapped = mapped.filter(|it| !it.is_empty() && !described.runs_others);
        Self { fingerprint: described.fingerprint.as_deref(), mapped }
    }

    /// Whether the other one is the same program; none where that is not known.
    pub(crate) fn is_same(&self, other: &Self) -> Option<bool> {
        if self.fingerprint? != other.fingerprint? {
            return Some(false);
        }
        Some(self.mapped.as_ref()? == other.mapped.as_ref()?)
    }
}

/// Whether a row is the same program in both results; none where that is not known, and where the servers had other
/// variables, because what these change is not known.
pub(super) fn same_program(old: &Side<'_>, new: &Side<'_>, pair: &Pair<'_>) -> Option<bool> {
    let described = |side| described_in(side, pair.new.row.variant);
    let one = ProgramIdentity::of(described(old)?, &pair.old.row.runs);
    let is_same = one.is_same(&ProgramIdentity::of(described(new)?, &pair.new.row.runs))?;
    let mut settings = machine(old.environment, new.environment);
    (!is_same || settings.all(|it| !it.field.ends_with("variables"))).then_some(is_same)
}

/// True if programs, versions, machine and settings are known and equal, so that a change has no cause in them. The
/// revision of the project is none of them.
pub(super) fn nothing_differs(old: &Side<'_>, new: &Side<'_>, pairs: &[Pair<'_>]) -> bool {
    pairs.iter().all(|pair| same_program(old, new, pair) == Some(true))
        && [old, new].iter().all(|side| side.environment.is_some())
        && machine(old.environment, new.environment).all(|it| it.field == "revision")
        && versions(old, new).is_empty()
}

fn described_in<'a>(side: &Side<'a>, variant: &VariantId) -> Option<&'a Described> {
    side.journal.start.variants.iter().find(|it| it.variant == *variant)
}
