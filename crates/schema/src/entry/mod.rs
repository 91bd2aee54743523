//! Entries: the checked description of a server program from `entry.toml`.
//!
//! [`Entry::parse`] reads the private raw form, which mirrors the file and rejects unknown keys,
//! and resolves what each variant inherits. `entries/README.md` documents the file.

mod raw;
mod service;
pub mod source;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::{
    id::VariantId,
    load::{NamedFiles, RequestSet},
    scenario::Scenario,
    server_url::ServerUrl,
};
use source::Source;

pub use service::Service;

/// First parts of names that no folder may have: the built-in servers, and command lines.
pub const RESERVED: [&str; 2] = ["builtin", "own"];
/// The last part of a name that no entry may have: the folder of what the entries of a language
/// share.
pub const SHARED: &str = "shared";

crate::names! {
    /// The class of a program: how much work its rows include.
    pub enum Class {
        /// System calls and nothing between.
        Raw = "raw",
        /// A library for I/O; the protocol is the entry's own.
        Library = "library",
        /// A framework that speaks the protocol itself.
        Framework = "framework",
    }
}

crate::names! {
    /// The programming model of one connection's work.
    pub enum Model {
        /// A thread of the kernel per connection.
        Threads = "threads",
        /// A process per connection or per worker, with blocking calls.
        Processes = "processes",
        /// A loop of the entry's own over events.
        EventLoop = "event-loop",
        /// Functions that a library calls back.
        Callbacks = "callbacks",
        /// Stackful tasks in user space.
        Fibers = "fibers",
        /// Stackless tasks of the language.
        Coroutines = "coroutines",
        /// Go's tasks.
        Goroutines = "goroutines",
        /// Futures driven by a runtime.
        AsyncTasks = "async-tasks",
    }
}

crate::names! {
    /// The mechanism by which the server receives events.
    pub enum Mechanism "mechanism" {
        /// Readiness by epoll.
        Epoll = "epoll",
        /// Completion by `io_uring`.
        IoUring = "io_uring",
        /// Calls that block.
        Blocking = "blocking",
    }
}

crate::names! {
    /// The distribution of connections over workers.
    pub enum Sharing {
        /// There is one worker and cannot be another.
        Single = "single",
        /// Each worker accepts its own connections and keeps them.
        Prefork = "prefork",
        /// Any worker may go on with any connection.
        Shared = "shared",
        /// One of them accepts and hands each connection to a worker, which keeps it.
        HandOut = "hand-out",
        /// Each connection has its own thread or process, regardless of the number of workers.
        PerConnection = "per-connection",
    }
}

/// A check that a server is known to fail, because of what its framework does by design.
///
/// The checks run anyway; a declared failure does not keep the server from being measured, and
/// every row shows it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Deviation {
    /// The check's name.
    pub check: String,
    /// Why it fails, in words.
    pub reason: String,
}

/// A dependency that must be installed before an entry can be built, and how to install it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Requirement {
    /// The thing itself.
    pub need: Need,
    /// Debian packages that install it; empty if there are none.
    pub debian: Vec<String>,
    /// A command that installs it from the ecosystem's registry, with placeholders.
    pub fetch: Option<Vec<String>>,
    /// One more clause for the reader: another way to it.
    pub hint: Option<String>,
}

/// A thing that an entry needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Need {
    /// A program on the search path.
    Command(String),
    /// A C or C++ header that the compiler finds.
    Header(String),
    /// A package that pkg-config knows, with an optional version such as `liburing >= 2.3`.
    PkgConfig(String),
    /// At least this release of Linux.
    Kernel {
        /// The first number.
        major: u32,
        /// The second number.
        minor: u32,
    },
    /// A kernel that lets this user set up rings.
    IoUring,
    /// Anything that a command of the ecosystem can tell.
    Probe {
        /// The command with placeholders, which succeeds when the thing is there.
        command: Vec<String>,
        /// The thing's name, as in "the dub package eventcore".
        what: String,
    },
}

/// One command of a build.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct BuildStep {
    /// Program and arguments with placeholders.
    pub command: Vec<String>,
    /// Environment variables beyond the inherited ones; the values may have placeholders.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// A version to record, and its source.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VersionProbe {
    /// The component, for example `gcc`.
    pub name: String,
    /// The source of the text.
    pub source: VersionSource,
    /// A regular expression whose first group is the version.
    pub pattern: String,
}

/// The text that contains a version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum VersionSource {
    /// The output of this command.
    Command(Vec<String>),
    /// A file in the entry's folder.
    File(String),
}

/// The signal that a server accepts connections.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// It prints `listening HOST:PORT`.
    Line,
    /// No output; connections succeed.
    Connect,
}

/// The command that starts a server.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RunCommand {
    /// Program and arguments with placeholders.
    pub command: Vec<String>,
    /// The signal that it is ready.
    pub ready: Ready,
    /// Environment variables beyond the inherited ones; the values may have placeholders.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// In the scenario `requests`: the server's URL, unless it is `http://{host}:{port}/`.
    pub url: Option<ServerUrl>,
    /// The service that is measured instead of a server that the command starts.
    #[serde(skip)]
    pub service: Option<Service>,
}

/// One build or mode of an entry, with everything that it inherits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Variant {
    /// Its name.
    pub id: VariantId,
    /// What `{variant}` in its commands becomes, also where it is measured under another name.
    pub form: String,
    /// The difference from the other variants.
    pub note: Option<String>,
    /// Raw, library or framework.
    pub class: Class,
    /// Its programming model.
    pub model: Model,
    /// Its event mechanism.
    pub mechanism: Mechanism,
    /// Its distribution of connections over workers.
    pub sharing: Sharing,
    /// Its scenarios.
    pub scenarios: Vec<Scenario>,
    /// What is requested of it in the scenario `requests`, where nothing else says so.
    pub requests: Option<RequestSet>,
    /// Features that it skips, in words.
    pub skips: Vec<String>,
    /// Known issues, in words.
    pub known_issues: Vec<String>,
    /// The most workers that it can have.
    pub max_workers: Option<u32>,
    /// Checks that it is known to fail.
    pub deviations: Vec<Deviation>,
    /// Its requirements.
    pub requires: Vec<Requirement>,
    /// Repositories that its build starts from.
    pub sources: Vec<Source>,
    /// Commands that build it, in order.
    pub build: Vec<BuildStep>,
    /// The command that starts it.
    pub run: RunCommand,
}

/// A server program under test.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Its name, which is its folder below `entries/`.
    pub id: String,
    /// One line.
    pub title: String,
    /// One or two sentences.
    pub description: String,
    /// Home page of the framework.
    pub url: Option<String>,
    /// The versions to record.
    pub versions: Vec<VersionProbe>,
    /// At least one.
    pub variants: Vec<Variant>,
}

impl Entry {
    /// Reads the text of an `entry.toml`. `id` is the folder's path below `entries/`.
    pub fn parse(id: &str, text: &str) -> Result<Self, String> {
        Self::parse_with(id, text, &|_| Err("this entry has no folder".to_owned()))
    }

    /// The same of an entry that may name a file of requests.
    pub fn parse_with(id: &str, text: &str, files: &NamedFiles<'_>) -> Result<Self, String> {
        crate::toml_error::parse::<raw::RawEntry>(text)?.resolve(id, files)
    }
}

impl Variant {
    /// A variant of which nothing is known but its command.
    #[must_use]
    pub const fn of_command(id: VariantId, command: Vec<String>, ready: Ready) -> Self {
        Self {
            id,
            form: String::new(),
            note: None,
            class: Class::Framework,
            model: Model::EventLoop,
            mechanism: Mechanism::Epoll,
            sharing: Sharing::Shared,
            scenarios: Vec::new(),
            requests: None,
            skips: Vec::new(),
            known_issues: Vec::new(),
            max_workers: None,
            deviations: Vec::new(),
            requires: Vec::new(),
            sources: Vec::new(),
            build: Vec::new(),
            run: RunCommand { command, ready, env: BTreeMap::new(), url: None, service: None },
        }
    }

    /// Features that it skips, changes of ours to its sources, and deviations from the contract, for
    /// readers of its figures.
    #[must_use]
    pub fn caveats(&self) -> Vec<String> {
        let deviates = |it: &Deviation| format!("fails the check {}: {}", it.check, it.reason);
        let patches = self.sources.iter().flat_map(|source| &source.patches);
        let patched = patches.map(|patch| format!("patched: {}", patch.reason));
        let skips = self.skips.iter().cloned();
        skips.chain(patched).chain(self.deviations.iter().map(deviates)).collect()
    }

    /// Whether it is declared to fail `check` by design.
    #[must_use]
    pub fn declares_deviation_from(&self, check: &str) -> bool {
        self.deviations.iter().any(|it| it.check == check)
    }

    /// Whether it answers requests of its user's alone.
    #[must_use]
    pub fn answers_only_requests(&self) -> bool {
        self.scenarios == [Scenario::Requests]
    }

    /// The error that a scenario is not among this variant's, if it is not.
    pub fn check_scenario(&self, scenario: Scenario) -> Result<(), String> {
        self.lacks(&[scenario]).map_or(Ok(()), |lack| Err(format!("{} has {lack}", self.id)))
    }

    /// The words for a variant that has none of `scenarios`: `no scenario `echo`: it has hello`.
    #[must_use]
    pub fn lacks(&self, scenarios: &[Scenario]) -> Option<String> {
        let names = |of: &[Scenario], between| {
            of.iter().map(|it| it.name()).collect::<Vec<_>>().join(between)
        };
        let has_one = scenarios.iter().any(|it| self.scenarios.contains(it));
        let (lacked, has) = (names(scenarios, "` or `"), names(&self.scenarios, ", "));
        (!has_one).then(|| format!("no scenario `{lacked}`: it has {has}"))
    }
}

#[cfg(test)]
mod tests;
