//! What is missing or needs a warning on this machine, with the command that mends it. It changes nothing,
//! and it forbids nothing: all of it is advice.
//!
//! It judges an environment that was read before; what it looks at is what `environment.json`
//! keeps.
#![forbid(unsafe_code)]

mod distance;
mod effect;
mod entries;
mod kernel;
mod limits;
mod machine;
mod network;
mod tools;

pub use effect::Effect;
use serde::Serialize;
use std::{net::Ipv4Addr, path::Path, sync::atomic::AtomicBool};
use wirebench_catalogue::setup::Setup;
use wirebench_host::environment;
use wirebench_schema::environment::Environment;
use wirebench_server::launch::check_machine;

/// What a build, a generator and a server with many connections need at least.
const ENOUGH_MEMORY_BYTES: u64 = 1 << 30;

/// One thing that was looked at.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Finding {
    /// What kind of thing it is.
    pub group: Group,
    pub name: &'static str,
    pub state: State,
    /// What it does to results if it is not fine.
    pub effect: Effect,
    /// What was found, as a sentence.
    pub text: String,
    /// A command or a step that mends it.
    pub remedy: Option<String>,
    /// What takes the remedy back; none if the remedy changes nothing that lasts.
    pub undo: Option<String>,
}

impl Finding {
    fn new(group: Group, (name, comment): Named) -> Self {
        let Comment { state, text, remedy } = comment;
        let (remedy, undo) = remedy.map_or((None, None), |it| (Some(it.text), it.undo));
        Self { group, name, state, effect: effect::of(name), text, remedy, undo }
    }

    /// Whether something has to be done.
    #[must_use]
    pub const fn is_problem(&self) -> bool {
        matches!(self.state, State::Warning | State::Missing)
    }
}

/// The problems among `findings`, those with the largest effect on results first.
#[must_use]
pub fn problems(findings: &[Finding]) -> Vec<&Finding> {
    let mut problems: Vec<&Finding> = findings.iter().filter(|it| it.is_problem()).collect();
    problems.sort_by_key(|it| effect::rank(it.name));
    problems
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// As it should be, or nothing that matters.
    Fine,
    /// The machine does not report it.
    Unknown,
    /// Measurements are possible, but worse than they could be.
    Warning,
    Missing,
}

wirebench_schema::names! { State:
    Fine = "fine", Unknown = "unknown", Warning = "warning", Missing = "missing"
}

/// What kind of thing was looked at.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// CPUs, memory, heat, and who else is there.
    Machine,
    /// What the kernel is and how it was started.
    Kernel,
    Limits,
    Network,
    Tools,
    Entries,
}

wirebench_schema::names! { Group:
    Machine = "machine", Kernel = "kernel", Limits = "limits", Network = "network", Tools = "tools",
    Entries = "entries"
}

/// A finding whose group and name are known from where it was found.
struct Comment {
    state: State,
    text: String,
    remedy: Option<Remedy>,
}

/// A command or a step that mends something, and what takes it back.
struct Remedy {
    text: String,
    undo: Option<String>,
}

/// Advice that changes nothing which lasts.
impl<T: Into<String>> From<T> for Remedy {
    fn from(text: T) -> Self {
        Self { text: text.into(), undo: None }
    }
}

/// A change of the machine, and what takes it back.
fn change(text: impl Into<String>, undo: impl Into<String>) -> Remedy {
    Remedy { text: text.into(), undo: Some(undo.into()) }
}

/// A comment, after what it is about.
type Named = (&'static str, Comment);

fn fine(text: impl Into<String>) -> Comment {
    Comment { state: State::Fine, text: text.into(), remedy: None }
}

fn unknown(text: impl Into<String>) -> Comment {
    Comment { state: State::Unknown, text: text.into(), remedy: None }
}

fn warning(text: impl Into<String>, remedy: impl Into<Remedy>) -> Comment {
    Comment { state: State::Warning, text: text.into(), remedy: Some(remedy.into()) }
}

fn missing(text: impl Into<String>, remedy: Option<Remedy>) -> Comment {
    Comment { state: State::Missing, text: text.into(), remedy }
}

impl Comment {
    /// A warning instead, whose text goes on with what a bad value means.
    fn warning_if(self, is_bad: bool, means: &str, remedy: impl Into<Remedy>) -> Self {
        if is_bad { warning(self.text + means, remedy) } else { self }
    }
}

/// Looks at everything. `io_uring` is what setting up a ring was answered with, `awake` whether CPUs can be kept
/// awake, `servers` whether servers can be started and reached.
#[must_use]
pub fn examine(
    environment: &Environment,
    io_uring: &Result<(), String>,
    awake: &Result<(), String>,
    servers: &Result<(), String>,
    setup: &Setup,
) -> Vec<Finding> {
    let comments = |group| match group {
        Group::Machine => machine::examine(environment),
        Group::Kernel => kernel::examine(environment, io_uring, awake),
        Group::Limits => limits::examine(environment),
        Group::Network => network::examine(environment, servers),
        Group::Tools => tools::examine(environment),
        Group::Entries => entries::examine(setup),
    };
    let findings = |group| comments(group).into_iter().map(move |named| Finding::new(group, named));
    Group::ALL.into_iter().flat_map(findings).collect()
}

/// Reads the machine that this runs on and examines it. `project` is the project's folder.
#[must_use]
pub fn examine_here(
    project: Option<&Path>,
    io_uring: &Result<(), String>,
    awake: &Result<(), String>,
    setup: &Setup,
    stop: &AtomicBool,
) -> (Environment, Vec<Finding>) {
    let environment =
        environment::gather_all(project.and_then(|it| environment::revision(it, stop)), stop);
    let servers = check_machine(Ipv4Addr::LOCALHOST.into());
    let mut findings = examine(&environment, io_uring, awake, &servers, setup);
    let distance = ("distance", distance::examine(&distance::read(stop)));
    let after = findings.iter().take_while(|it| it.group == Group::Machine).count();
    findings.insert(after, Finding::new(Group::Machine, distance));
    (environment, findings)
}

/// A kernel setting by its path below `/proc/sys`.
fn sysctl<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.sysctls.get(name).map(String::as_str)
}

/// A kernel setting as a number.
fn number(environment: &Environment, name: &str) -> Option<u64> {
    sysctl(environment, name)?.parse().ok()
}

/// A kernel setting that should be a number of at least `enough`.
struct AtLeast {
    name: &'static str,
    /// Its path below `/proc/sys`.
    sysctl: &'static str,
    enough: u64,
    /// What it is set to when it is less.
    better: u64,
    /// The text that follows the number.
    means: &'static str,
}

impl AtLeast {
    fn look(&self, environment: &Environment) -> Comment {
        let Some(value) = number(environment, self.sysctl) else {
            return unknown(format!("{} cannot be read", dotted(self.sysctl)));
        };
        let remedy = set(environment, self.sysctl, self.better);
        fine(format!("{value} {}", self.means)).warning_if(value < self.enough, "", remedy)
    }
}

/// The command that gives a kernel setting a value until the next boot, and the one that gives it its present one.
fn set(environment: &Environment, name: &str, value: impl std::fmt::Display) -> Remedy {
    let command = |value: &str| {
        let quote = if value.contains(char::is_whitespace) { "'" } else { "" };
        format!("sysctl -w {}={quote}{value}{quote}", dotted(name))
    };
    let undo = sysctl(environment, name).map(command);
    Remedy { text: command(&value.to_string()), undo }
}

/// Writes a value to a file of the kernel, which now has the other one.
fn written(file: &str, value: &str, present: &str) -> Remedy {
    let command = |value| format!("echo {value} > {file}");
    change(command(value), command(present))
}

/// A kernel setting as `sysctl` names it.
fn dotted(sysctl: &str) -> String {
    sysctl.replace('/', ".")
}

#[cfg(test)]
mod tests;
