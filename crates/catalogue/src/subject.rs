//! What can be measured: a variant of an entry, a built-in null server, or a command line of the
//! user's.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use wirebench_schema::{
    entry::{Class, Mechanism, Ready, RunCommand, Service, Sharing, Variant, VersionProbe},
    id::VariantId,
    journal::Described,
    placeholder,
    scenario::{DEFAULT_TIMEOUT_MS, Scenario},
    secrets,
};
use wirebench_server::launch::Request;

use crate::{checkouts::Checkouts, project::Project};

/// Where a subject comes from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    /// A folder below `entries/`.
    Entry {
        versions: Vec<VersionProbe>,
    },
    Builtin,
    /// A command line; nothing is declared about it.
    Own,
    /// The URL of a service that runs already.
    Service,
    /// A folder below `entries/` whose description cannot be used. It is listed with the
    /// reason, and the other entries remain usable.
    Broken {
        /// What is wrong, beginning with the file.
        reason: String,
    },
}

/// One thing that can be measured.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Subject {
    pub variant: Variant,
    pub title: String,
    /// One or two sentences on it; empty for a command line.
    pub description: String,
    /// Where the framework is at home.
    pub url: Option<String>,
    pub source: PathBuf,
    /// What its build makes goes here.
    pub build: PathBuf,
    /// The sources that its build starts from, if it has any.
    pub checkouts: Option<Checkouts>,
    /// Where it comes from.
    pub origin: Origin,
    /// The tree of git of its side, if it is compared with another revision.
    pub tree: Option<PathBuf>,
}

impl Subject {
    /// A variant without a description, a build of its own and sources.
    pub(crate) fn new(
        variant: Variant,
        title: String,
        source: PathBuf,
        origin: Origin,
        project: &Project,
    ) -> Self {
        let build = project.build_folder(&variant.id);
        let (description, url, checkouts, tree) = (String::new(), None, None, None);
        Self { variant, title, description, url, source, build, checkouts, origin, tree }
    }

    /// A request to start it in a scenario.
    #[must_use]
    pub fn request(&self, scenario: Scenario, workers: u32) -> Request<'_> {
        Request {
            variant: &self.variant,
            scenario,
            workers,
            timeout_ms: DEFAULT_TIMEOUT_MS,
            build: self.build.clone(),
            source: self.source.clone(),
            tree: self.tree.clone(),
        }
    }

    /// The event mechanism that it declares.
    #[must_use]
    pub fn declared_mechanism(&self) -> Option<Mechanism> {
        self.is_described().then_some(self.variant.mechanism)
    }

    /// Whether it has a usable description.
    #[must_use]
    pub const fn is_described(&self) -> bool {
        match self.origin {
            Origin::Entry { .. } | Origin::Builtin => true,
            Origin::Own | Origin::Service | Origin::Broken { .. } => false,
        }
    }

    /// True of a command line in a tree of git. Its build runs each time, because what it depends on is not known.
    pub(crate) const fn is_in_tree(&self) -> bool {
        matches!(self.origin, Origin::Own) && self.tree.is_some()
    }

    /// What is wrong with its description, if it cannot be used.
    #[must_use]
    pub fn broken(&self) -> Option<&str> {
        match &self.origin {
            Origin::Broken { reason } => Some(reason),
            Origin::Entry { .. } | Origin::Builtin | Origin::Own | Origin::Service => None,
        }
    }

    /// What stands for the entry in `folder` whose description is wrong. Its name is made of the
    /// folder's, with `_` for whatever has no place in a name.
    #[must_use]
    pub fn with_wrong_description(
        (language, name): (&str, &str),
        folder: &Path,
        reason: String,
        project: &Project,
    ) -> Option<Self> {
        let word = |text: &str| safe_word(text).trim_start_matches('.').to_owned();
        let id = VariantId::new(&format!("{}/{}", word(language), word(name)), None).ok()?;
        let variant = Variant::of_command(id, vec!["false".to_owned()], Ready::Line);
        let title = "An entry that cannot be used".to_owned();
        Some(Self::new(variant, title, folder.to_owned(), Origin::Broken { reason }, project))
    }

    /// Whether it may be loaded as fast as it answers.
    #[must_use]
    pub fn allows_full_speed(&self) -> bool {
        self.variant.run.service.as_ref().is_none_or(|service| service.full_speed)
    }

    /// The workers to ask it for, when `asked` are wanted.
    #[must_use]
    pub fn workers(&self, asked: u32) -> u32 {
        asked.min(self.variant.max_workers.unwrap_or(u32::MAX))
    }

    /// Whether its command or a variable of it has a place for the number of workers.
    #[must_use]
    pub fn takes_workers(&self) -> bool {
        let RunCommand { command, env, .. } = &self.variant.run;
        command.iter().chain(env.values()).any(|text| text.contains("{workers}"))
    }

    /// The values of the placeholders that a build or a version command may name.
    #[must_use]
    pub fn build_values(&self) -> [(&'static str, String); 4] {
        let checkouts = self.checkouts.as_ref().map(|it| it.folder.display().to_string());
        [
            ("build", self.build.display().to_string()),
            ("checkouts", checkouts.unwrap_or_default()),
            ("source", self.source.display().to_string()),
            ("variant", self.variant.form.clone()),
        ]
    }

    /// What the journal says of it, without its fingerprint, for which files have to be read.
    #[must_use]
    pub fn describe(&self, versions: BTreeMap<String, String>) -> Described {
        let declared = self.is_described();
        Described {
            variant: self.variant.id.clone(),
            title: self.title.clone(),
            class: declared.then_some(self.variant.class),
            model: declared.then_some(self.variant.model),
            mechanism: declared.then_some(self.variant.mechanism),
            sharing: declared.then_some(self.variant.sharing),
            skips: self.variant.caveats(),
            versions,
            fingerprint: None,
            runs_others: false,
        }
    }

    /// The built-in null servers, started from this very program by its hidden verb.
    pub fn builtins(program: &Path, project: &Project) -> Result<Vec<Self>, String> {
        [("epoll", Mechanism::Epoll), ("io_uring", Mechanism::IoUring)]
            .into_iter()
            .map(|(name, mechanism)| {
                let id = VariantId::new(&format!("builtin/{name}"), None)?;
                let words = ["null-server", name, "{scenario}", "{host}", "{port}", "{workers}"];
                let mut command = vec![program.display().to_string()];
                command.extend(words.map(str::to_owned));
                let mut variant = Variant::of_command(id, command, Ready::Line);
                variant.class = Class::Raw;
                variant.mechanism = mechanism;
                variant.sharing = Sharing::Prefork;
                variant.scenarios = vec![Scenario::Hello, Scenario::Echo];
                variant.skips = vec!["does not parse the request".to_owned()];
                let title = format!("Null server over {name}");
                Ok(Self {
                    description: "Part of wirebench: next to no work, which shows what the load \
                                  generator can reach."
                        .to_owned(),
                    ..Self::new(variant, title, current_folder()?, Origin::Builtin, project)
                })
            })
            .collect()
    }

    /// A service that runs already, named after host and port; `taken` are the names of others.
    pub fn service(
        service: Service,
        taken: &[VariantId],
        project: &Project,
    ) -> Result<Self, String> {
        let (url, target) = (service.target.to_string(), &service.target);
        let stem =
            format!("{}-{}", safe_word(target.host()).trim_start_matches('.'), target.port());
        let mut variant =
            Variant::of_command(free_id(&stem, taken)?, vec![url.clone()], Ready::Connect);
        variant.scenarios = vec![Scenario::Requests];
        variant.run.service = Some(service);
        Ok(Self::new(variant, url, current_folder()?, Origin::Service, project))
    }

    /// A command line such as `./my-server {port}`, split into words as a shell would, but never
    /// given to one.
    pub fn own(line: &str, scenarios: &[Scenario], project: &Project) -> Result<Self, String> {
        let command = split(line, "server", "./my-server {port}")?;
        let names: Result<Vec<_>, _> = command.iter().map(|it| placeholder::names(it)).collect();
        let names = names.map_err(|error| error.to_string())?.concat();
        if !names.contains(&"port") && !names.contains(&"path") {
            return Err(format!(
                "the server command `{line}` does not say where its port goes: write {{port}} in its place, \
                 for example './my-server {{port}}'"
            ));
        }
        let mut variant =
            Variant::of_command(own_id(&program_name(&command[0]))?, command, Ready::Connect);
        variant.scenarios = scenarios.to_vec();
        Ok(Self::new(variant, format!("`{line}`"), current_folder()?, Origin::Own, project))
    }
}

fn current_folder() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|error| format!("the current folder cannot be read: {error}"))
}

/// Splits a command line of this `kind` into words.
pub fn split(line: &str, kind: &str, example: &str) -> Result<Vec<String>, String> {
    let command = shlex::split(line).ok_or_else(|| {
        format!("the {kind} command `{line}` has a quote or a backslash without its end")
    })?;
    if command.first().is_none_or(String::is_empty) {
        return Err(format!("the {kind} command is empty: write for example '{example}'"));
    }
    Ok(command)
}

/// `text` with `_` for each character that has no place in a name.
fn safe_word(text: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    text.chars().map(safe).collect()
}

/// Names commands of the same program apart by the words that only some of them have, or else by numbers.
pub fn distinguish(own: &mut [Subject]) -> Result<(), String> {
    let commands: Vec<Vec<String>> = own.iter().map(|it| it.variant.run.command.clone()).collect();
    let stems: Vec<String> = commands.iter().map(|it| program_name(&it[0])).collect();
    let mut taken: Vec<VariantId> = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        let same = |other: &usize| *other != index && stems[*other] == stems[index];
        let others: Vec<usize> = (0..commands.len()).filter(same).collect();
        let differs =
            |it: &usize| others.iter().any(|other| !commands[*other].contains(&command[*it]));
        let words = (1..command.len()).filter(differs).filter(|it| is_public(command, *it));
        let mut stem = stems[index].clone();
        for word in words {
            stem += &format!("-{}", safe_word(command[word].trim_start_matches('-')));
        }
        // With room for the number below the longest name.
        stem.truncate(90);
        own[index].variant.id = free_id(&stem, &taken)?;
        taken.push(own[index].variant.id.clone());
    }
    Ok(())
}

/// The name of a user's server, with a number behind it if it is taken.
fn free_id(stem: &str, taken: &[VariantId]) -> Result<VariantId, String> {
    let mut id = own_id(stem)?;
    let mut number = 2;
    while taken.contains(&id) {
        id = own_id(&format!("{stem}-{number}"))?;
        number += 1;
    }
    Ok(id)
}

/// Whether this word of a command may stand in a name: it is short, holds no port, and no secret by its own
/// name or by that of the option before it.
fn is_public(command: &[String], index: usize) -> bool {
    let names = |word: &String| secrets::is_secret(word.split('=').next().unwrap_or_default());
    let word = &command[index];
    let is_plain = word.len() <= 24 && !word.contains(['{', ' ', '\n']);
    is_plain && secrets::hidden_text(word) == *word && !command[index - 1..=index].iter().any(names)
}

/// The name of a server after its program.
fn program_name(program: &str) -> String {
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    safe_word(&name).trim_start_matches('.').chars().take(90).collect()
}

fn own_id(name: &str) -> Result<VariantId, String> {
    VariantId::new(&format!("own/{name}"), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    fn project() -> Project {
        Project::without_entries(Path::new("/nowhere"))
    }

    fn own(line: &str) -> Result<Subject, String> {
        Subject::own(line, &[Scenario::Hello], &project())
    }

    #[test]
    fn a_command_line_is_split_into_words_and_named_after_its_program() {
        let first = own("./my-server --listen '127.0.0.1:{port}'").unwrap();
        assert_eq!(first.variant.id.to_string(), "own/my-server");
        assert_eq!(first.variant.run.command[2], "127.0.0.1:{port}");
        assert_eq!(first.describe(BTreeMap::new()).class, None);
    }

    #[test]
    fn commands_of_one_program_are_named_apart_by_what_differs() {
        let names = |lines: &[&str]| {
            let mut all: Vec<Subject> = lines.iter().map(|line| own(line).unwrap()).collect();
            distinguish(&mut all).unwrap();
            all.iter().map(|it| it.variant.id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(&["./s {port}", "./s --fast {port}"]), ["own/s", "own/s-fast"]);
        let scripts = ["node a.js -p {port}", "node lib/b.js -p {port}", "./s {port}"];
        assert_eq!(names(&scripts), ["own/node-a.js", "own/node-lib_b.js", "own/s"]);
        assert_eq!(names(&["./s {port}", "b/s {port}"]), ["own/s", "own/s-2"]);
        let scripts = ["sh -c 'exec ./a {port}'", "sh -c 'exec ./b {port}'"];
        assert_eq!(names(&scripts), ["own/sh", "own/sh-2"]);
        let secret = ["./s --token a --api-key=b {port}", "./s --token c --api-key=d {port}"];
        assert_eq!(names(&secret), ["own/s", "own/s-2"]);
    }

    #[test]
    fn each_mistake_in_a_command_line_is_answered_with_what_to_write() {
        let lines = ["./my-server", "./my-server {prot}", "./my-server '{port}", ""];
        let messages = lines.map(|line| format!("{line}\n  {}\n", own(line).unwrap_err()));
        expect_file!["golden/subject.txt"].assert_eq(&messages.concat());
    }

    #[test]
    fn the_builtin_servers_are_subjects_of_this_program() {
        let builtins = Subject::builtins(Path::new("/bin/wirebench"), &project()).unwrap();
        let names: Vec<String> = builtins.iter().map(|s| s.variant.id.to_string()).collect();
        assert_eq!(names, ["builtin/epoll", "builtin/io_uring"]);
        assert_eq!(builtins[1].declared_mechanism(), Some(Mechanism::IoUring));
    }
}
