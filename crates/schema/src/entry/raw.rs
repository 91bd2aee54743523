//! The raw form of `entry.toml` and its conversion to an [`Entry`]. These types are private to this
//! module.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

use super::{
    BuildStep, Class, Deviation, Entry, Mechanism, Model, Need, RESERVED, Ready, Requirement,
    RunCommand, SHARED, Sharing, Variant, VersionProbe, VersionSource,
    source::{self, Source},
};
use crate::{
    id::{VariantId, is_published},
    load::{NamedFiles, RequestOrder, RequestSet},
    placeholder,
    refuse::refuse_if,
    scenario::Scenario,
};

/// Placeholders of commands that look for requirements and fetch them.
const EARLY: [&str; 3] = ["build", "source", "variant"];
/// Placeholders of commands that run when all requirements are met.
const WITH_CHECKOUTS: [&str; 4] = ["build", "checkouts", "source", "variant"];
/// The placeholder of the folder of the sources.
const CHECKOUTS: &str = "{checkouts}";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEntry {
    title: String,
    description: String,
    url: Option<String>,
    class: Class,
    model: Model,
    mechanism: Mechanism,
    sharing: Sharing,
    #[serde(default)]
    scenarios: Vec<Scenario>,
    /// A file with requests, which implies the scenario `requests`.
    requests: Option<String>,
    #[serde(default)]
    order: RequestOrder,
    skips: Vec<String>,
    #[serde(default)]
    known_issues: Vec<String>,
    max_workers: Option<u32>,
    #[serde(default)]
    deviation: Vec<RawDeviation>,
    #[serde(default)]
    requires: Vec<RawRequirement>,
    version: Vec<RawVersion>,
    #[serde(default)]
    source: Vec<Source>,
    #[serde(default)]
    build: Vec<BuildStep>,
    run: RunCommand,
    #[serde(default)]
    variant: Vec<RawVariant>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRequirement {
    command: Option<String>,
    header: Option<String>,
    pkg_config: Option<String>,
    kernel: Option<String>,
    io_uring: Option<bool>,
    probe: Option<Vec<String>>,
    what: Option<String>,
    #[serde(default)]
    debian: Vec<String>,
    fetch: Option<Vec<String>>,
    hint: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawVersion {
    name: String,
    command: Option<Vec<String>>,
    file: Option<String>,
    pattern: String,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDeviation {
    checks: Vec<String>,
    reason: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawVariant {
    name: String,
    note: Option<String>,
    class: Option<Class>,
    model: Option<Model>,
    mechanism: Option<Mechanism>,
    sharing: Option<Sharing>,
    scenarios: Option<Vec<Scenario>>,
    skips: Option<Vec<String>>,
    known_issues: Option<Vec<String>>,
    max_workers: Option<u32>,
    /// Added to the entry's own, as are the requirements.
    #[serde(default)]
    deviation: Vec<RawDeviation>,
    #[serde(default)]
    requires: Vec<RawRequirement>,
    build: Option<Vec<BuildStep>>,
    run: Option<RunCommand>,
}

impl RawEntry {
    pub(super) fn resolve(self, id: &str, files: &NamedFiles<'_>) -> Result<Entry, String> {
        let (language, name) = id.split_once('/').unwrap_or((id, ""));
        refuse_if!(RESERVED.contains(&language), "`{language}/` is reserved: use another folder");
        refuse_if!(
            name == SHARED,
            "`{SHARED}` is the folder of what entries share: use another name"
        );
        refuse_if!(
            self.title.trim().is_empty() || self.description.trim().is_empty(),
            "`title` and `description` must say something"
        );
        refuse_if!(
            self.version.is_empty(),
            "no [[version]]: a number without a version misleads its reader; say how to read one"
        );
        let versions: Result<Vec<_>, _> = self.version.iter().map(RawVersion::resolve).collect();
        // Published forms are additions: an entry that has nothing else keeps its plain name.
        let only_published = self.variant.iter().all(|it| is_published(&it.name));
        let unnamed = only_published.then(RawVariant::default);
        let mut names = BTreeSet::new();
        for variant in &self.variant {
            VariantId::new(id, Some(&variant.name))?;
            let is_new = names.insert(&variant.name);
            refuse_if!(!is_new, "two variants are named `{}`", variant.name);
        }
        let sources = source::checked(self.source.clone())?;
        let requests = RequestSet::named("requests", self.requests.as_deref(), self.order, files)?;
        let forms = unnamed.iter().chain(&self.variant);
        let variants: Result<Vec<_>, _> =
            forms.map(|it| self.resolve_variant(id, it, (&sources, &requests))).collect();
        Ok(Entry {
            id: id.to_owned(),
            versions: versions?,
            variants: variants?,
            title: self.title,
            description: self.description,
            url: self.url,
        })
    }

    fn resolve_variant(
        &self,
        id: &str,
        variant: &RawVariant,
        (sources, requests): (&[Source], &Option<RequestSet>),
    ) -> Result<Variant, String> {
        let name = (!variant.name.is_empty()).then_some(variant.name.as_str());
        let id = VariantId::new(id, name)?;
        let mut scenarios = variant.scenarios.as_ref().unwrap_or(&self.scenarios).clone();
        if requests.is_some() && !scenarios.contains(&Scenario::Requests) {
            scenarios.push(Scenario::Requests);
        }
        refuse_if!(scenarios.is_empty(), "{id} has no scenario: write at least one of them");
        let different = scenarios.iter().collect::<BTreeSet<_>>().len();
        refuse_if!(different < scenarios.len(), "{id} names a scenario twice");
        let sharing = variant.sharing.unwrap_or(self.sharing);
        let asked = variant.max_workers.or(self.max_workers);
        let max_workers = if sharing == Sharing::Single { Some(1) } else { asked };
        refuse_if!(max_workers == Some(0), "{id}: `max_workers` of 0 leaves no worker");
        let requires: Result<Vec<_>, _> =
            self.requires.iter().chain(&variant.requires).map(RawRequirement::resolve).collect();
        let build = variant.build.as_ref().unwrap_or(&self.build);
        refuse_if!(
            sources.is_empty() && self.names_checkouts(build),
            "`{CHECKOUTS}` is the folder of the fetched sources, and there is no [[source]]: add one"
        );
        build.iter().try_for_each(check_step)?;
        let run = variant.run.as_ref().unwrap_or(&self.run);
        check_run(run)?;
        let takes_port = |word: &String| word.contains("{port}");
        refuse_if!(
            run.ready == Ready::Connect && !run.command.iter().any(takes_port),
            "{id}: with `ready = \"connect\"` the run command must say where {{port}} goes"
        );
        Ok(Variant {
            form: variant.name.clone(),
            note: variant.note.clone(),
            class: variant.class.unwrap_or(self.class),
            model: variant.model.unwrap_or(self.model),
            mechanism: variant.mechanism.unwrap_or(self.mechanism),
            sharing,
            scenarios,
            requests: requests.clone(),
            skips: variant.skips.as_ref().unwrap_or(&self.skips).clone(),
            known_issues: variant.known_issues.as_ref().unwrap_or(&self.known_issues).clone(),
            max_workers,
            deviations: deviations(self.deviation.iter().chain(&variant.deviation))?,
            requires: requires?,
            sources: sources.to_vec(),
            build: build.clone(),
            run: run.clone(),
            id,
        })
    }

    /// Whether a step of `build` or a version command names the folder of the sources.
    fn names_checkouts(&self, build: &[BuildStep]) -> bool {
        let steps = build.iter().flat_map(|step| step.command.iter().chain(step.env.values()));
        let versions = self.version.iter().flat_map(|version| version.command.iter().flatten());
        steps.chain(versions).any(|word| word.contains(CHECKOUTS))
    }
}

fn check_run(run: &RunCommand) -> Result<(), String> {
    refuse_if!(
        run.command.iter().chain(run.env.values()).any(|word| word.contains(CHECKOUTS)),
        "the run command: `{CHECKOUTS}` has no value here: copy what it needs to {{build}}"
    );
    check_command("run", &run.command)?;
    check_env("run", &run.env)
}

fn check_step(step: &BuildStep) -> Result<(), String> {
    early_command("build", &WITH_CHECKOUTS, &step.command)?;
    check_env("build", &step.env)
}

/// A command that runs without a server: of the placeholders it may use `known`, which are folders,
/// and neither host nor port.
fn early_command(what: &str, known: &[&str], command: &[String]) -> Result<Vec<String>, String> {
    let values: Vec<_> = known.iter().map(|&name| (name, String::new())).collect();
    check_command(what, command)?;
    for argument in command {
        placeholder::fill(argument, &values)
            .map_err(|e| format!("the {what} command: {e}: use one of {}", known.join(", ")))?;
    }
    Ok(command.to_vec())
}

fn check_env(what: &str, env: &BTreeMap<String, String>) -> Result<(), String> {
    for (name, value) in env {
        refuse_if!(
            name.is_empty() || name.contains(['=', '\0']),
            "`env` of the {what} command: `{name}` is not the name of a variable"
        );
        placeholder::names(value).map_err(|e| format!("`env` of the {what} command: {e}"))?;
    }
    Ok(())
}

fn check_command(what: &str, command: &[String]) -> Result<(), String> {
    let is_empty = command.first().is_none_or(String::is_empty);
    refuse_if!(is_empty, "the {what} command is empty: write the program first");
    for argument in command {
        placeholder::names(argument).map_err(|e| format!("the {what} command: {e}"))?;
    }
    Ok(())
}

fn deviations<'a>(raw: impl Iterator<Item = &'a RawDeviation>) -> Result<Vec<Deviation>, String> {
    let mut deviations = Vec::new();
    for RawDeviation { checks, reason } in raw {
        refuse_if!(
            checks.is_empty() || reason.trim().is_empty(),
            "each [[deviation]] names its `checks` and says its `reason`"
        );
        let all = checks.iter().cloned();
        deviations.extend(all.map(|check| Deviation { check, reason: reason.clone() }));
    }
    Ok(deviations)
}

impl RawRequirement {
    fn resolve(&self) -> Result<Requirement, String> {
        let needs = [
            self.command.clone().map(|name| Ok(Need::Command(name))),
            self.header.clone().map(|name| Ok(Need::Header(name))),
            self.pkg_config.clone().map(|name| Ok(Need::PkgConfig(name))),
            self.kernel.as_deref().map(parse_kernel),
            self.io_uring.map(|_| Ok(Need::IoUring)),
            self.probe.as_deref().map(|command| self.resolve_probe(command)),
        ];
        let mut given = needs.into_iter().flatten();
        let (Some(need), None) = (given.next(), given.next()) else {
            return Err(
                "each [[requires]] has exactly one of command, header, pkg_config, kernel, io_uring, probe"
                    .to_owned(),
            );
        };
        refuse_if!(
            self.what.is_some() && self.probe.is_none(),
            "`what` names the thing that a `probe` looks for: omit it"
        );
        refuse_if!(self.io_uring == Some(false), "`io_uring = false` requires nothing: omit it");
        self.debian.iter().try_for_each(|name| check_package(name))?;
        let fetch = self.fetch.as_deref().map(|command| early_command("fetch", &EARLY, command));
        Ok(Requirement {
            need: need?,
            debian: self.debian.clone(),
            fetch: fetch.transpose()?,
            hint: self.hint.clone(),
        })
    }

    fn resolve_probe(&self, command: &[String]) -> Result<Need, String> {
        let what = self.what.as_deref().map(str::trim).filter(|what| !what.is_empty());
        let what = what.ok_or_else(|| {
            "a `probe` needs `what`, the name of the thing, such as \"the package x\"".to_owned()
        })?;
        Ok(Need::Probe { command: early_command("probe", &EARLY, command)?, what: what.to_owned() })
    }
}

/// A name that Debian may give to a package. Its installer, which may run as root, takes other
/// words as options, files, or packages to be removed.
fn check_package(name: &str) -> Result<(), String> {
    let begins = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let goes_on = |c: char| begins(c) || matches!(c, '+' | '-' | '.');
    let is_name = name.len() > 1 && name.starts_with(begins) && name.chars().all(goes_on);
    refuse_if!(
        !is_name || name.ends_with('-'),
        "`{name}` is not the name of a Debian package: it has lower-case letters, digits, `+`, `-` and `.`, such as \
         libc6-dev"
    );
    Ok(())
}

fn parse_kernel(text: &str) -> Result<Need, String> {
    let numbers = text.split_once('.').and_then(|(major, minor)| {
        Some(Need::Kernel { major: major.parse().ok()?, minor: minor.parse().ok()? })
    });
    numbers.ok_or_else(|| format!("`{text}` is not a version of Linux: use one such as 5.19"))
}

impl RawVersion {
    fn resolve(&self) -> Result<VersionProbe, String> {
        let source = match (&self.command, &self.file) {
            (Some(command), None) => {
                VersionSource::Command(early_command("version", &WITH_CHECKOUTS, command)?)
            }
            (None, Some(file)) => VersionSource::File(file.clone()),
            _ => {
                let name = &self.name;
                return Err(format!("the version `{name}` needs one of command and file"));
            }
        };
        Ok(VersionProbe { name: self.name.clone(), source, pattern: self.pattern.clone() })
    }
}
