//! Where a result comes from: the command that repeats it, when it was measured, and with which versions. All pages
//! begin with it.

use maud::{Markup, html};
use wirebench_schema::{
    argv::display,
    journal::{Described, Journal, Start},
    labels::Labels,
    load::LoadResult,
};

use crate::{idle_words::idle_cpus, table_units::count};

/// Servers whose versions a page shows; those of more fold away.
const SHOWN_SERVERS: usize = 4;

/// The origin of one result. What its file does not know is absent.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Origin {
    /// Which of several results it is, such as `old: target/wirebench/1`.
    title: Option<String>,
    command: Option<String>,
    /// What is known besides the versions of the servers, each with its name.
    facts: Vec<(&'static str, String)>,
    /// The versions of each server that has some.
    servers: Vec<String>,
}

impl Origin {
    /// That of a run, without the versions of its servers.
    pub(crate) fn of_run(start: &Start) -> Self {
        let measured = Some(format!("{}, seed {}", start.started, start.seed));
        let program = start.generator.to_string();
        let more = [("idle CPUs", idle_cpus(start))];
        Self::known(&start.command, measured, &start.labels, program, more)
    }

    pub(crate) fn of(journal: &Journal) -> Self {
        Self { servers: versions(journal), ..Self::of_run(&journal.start) }
    }

    pub(crate) fn of_load(load: &LoadResult, machine: Option<&str>) -> Self {
        let LoadResult { started, command, labels, report, .. } = load;
        let measured = (!started.is_empty()).then(|| started.clone());
        let program = format!("wirebench {}, {}", report.wirebench, report.engine);
        Self::known(command, measured, labels, program, [("machine", machine.map(str::to_owned))])
    }

    fn known(
        command: &[String],
        measured: Option<String>,
        labels: &Labels,
        program: String,
        more: [(&'static str, Option<String>); 1],
    ) -> Self {
        let facts = [
            ("measured", measured),
            ("label", labels.label.clone()),
            ("revision", labels.revision.clone()),
            ("program", Some(program)),
        ];
        let facts = facts.into_iter().chain(more);
        let facts = facts.filter_map(|(name, value)| Some((name, value?))).collect();
        let command = (!command.is_empty()).then(|| display(command));
        Self { command, facts, ..Self::default() }
    }

    #[must_use]
    pub(crate) fn titled(&self, side: &str, name: &str) -> Self {
        Self { title: Some(format!("{side}: {name}")), ..self.clone() }
    }

    /// All of it as lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let command = self.command.iter().map(|it| format!("command: {it}"));
        let facts = self.facts.iter().map(|(name, value)| format!("{name}: {value}"));
        command.chain(facts).chain(self.servers.iter().cloned()).collect()
    }

    pub(crate) fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    fn html(&self) -> Markup {
        let servers = html! { @for server in &self.servers { div { (server) } } };
        html! {
            div {
                @if let Some(title) = &self.title { p { strong { (title) } } }
                dl {
                    @if let Some(command) = &self.command { dt { "command" } dd { code { (command) } } }
                    @for (name, value) in &self.facts { dt { (name) } dd { (value) } }
                    @if !self.servers.is_empty() {
                        dt { "versions" }
                        dd {
                            @if self.servers.len() <= SHOWN_SERVERS { (servers) } @else {
                                details { summary { (count(self.servers.len(), "server")) } (servers) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The origins of the results of a page, next to each other where there is space.
pub(crate) fn html(origins: &[Origin]) -> Markup {
    html! { div.origin { @for origin in origins { (origin.html()) } } }
}

/// The versions of each server, as far as they are known.
pub(crate) fn versions(journal: &Journal) -> Vec<String> {
    let known = journal.start.variants.iter().filter(|it| !it.versions.is_empty());
    known.map(|it| format!("{}: {}", it.variant, describe_versions(it).join(", "))).collect()
}

/// What a server is made of, each with its version.
pub(crate) fn describe_versions(described: &Described) -> Vec<String> {
    described.versions.iter().map(|(name, version)| format!("{name} {version}")).collect()
}
