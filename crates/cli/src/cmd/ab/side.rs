//! From what a user writes for a side to a server: a command line or an entry, each also at a
//! revision. Nothing is built or started here.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use wirebench_catalogue::{
    project::Project,
    subject::{Subject, split},
    tracked,
};
use wirebench_report::ab::SUITE;
use wirebench_schema::{entry::BuildStep, scenario::Scenario};

use super::{Arguments, revision};
use crate::{
    args::services::is_url,
    context::{Context, checked, only_one, require_program},
    exit::usage,
    value,
};

impl Arguments {
    /// The entries among the sides, as they are now. What is wrong with a name is reported with its side.
    pub(super) fn entries(&self, context: &Context) -> Vec<Subject> {
        let names = [&self.entry, &self.a, &self.b].into_iter().flatten();
        let entries = names.filter(|it| !is_command(it));
        entries.filter_map(|name| context.select_one(name).ok()).collect()
    }

    pub(super) fn sides(
        &self,
        context: &Context,
        scenario: Scenario,
        services: Vec<Subject>,
    ) -> anyhow::Result<[Subject; 2]> {
        let mut services = services.into_iter().peekable();
        let (subjects, usual) = match (&self.entry, &self.server) {
            (Some(entry), _) => (self.revisions(context, entry, scenario)?, ["old", "new"]),
            (None, Some(line)) => (self.builds(context, line, scenario)?, ["old", "new"]),
            (None, None) => {
                let mut written = |option: &str, text: &Option<String>, folder: Option<&Path>| {
                    let text = text.as_deref().unwrap_or_default();
                    match services.next_if(|_| is_url(text)) {
                        Some(service) => checked(service, scenario),
                        None => written(context, (option, text), folder, scenario),
                    }
                };
                let a = written("--a", &self.a, self.a_folder.as_deref())?;
                let b = written("--b", &self.b, self.b_folder.as_deref())?;
                ([a, b], ["A", "B"])
            }
        };
        if self.names.len() > 2 {
            return Err(usage("there are more than two --name: give that of A, and that of B"));
        }
        let name = |index: usize| self.names.get(index).map_or(usual[index], String::as_str);
        let mut subjects = subjects;
        self.own.set_urls(&mut subjects)?;
        let [a, b] = subjects;
        let sides = [called(a, name(0))?, called(b, name(1))?];
        if sides[0].variant.id == sides[1].variant.id {
            return Err(usage(format!(
                "both sides are named `{}`: give each its own --name",
                name(0)
            )));
        }
        Ok(sides)
    }

    fn revisions(
        &self,
        context: &Context,
        entry: &str,
        scenario: Scenario,
    ) -> anyhow::Result<[Subject; 2]> {
        let at = |revision: Option<&str>| {
            let subject = match revision {
                Some(revision) => revision::subject(context, entry, revision)?,
                None => context.select_one(entry)?,
            };
            checked(subject, scenario)
        };
        let mut subjects = [at(self.old.as_deref())?, at(self.new.as_deref())?];
        for (subject, revision) in subjects.iter_mut().zip([&self.old, &self.new]) {
            subject.tree = Some(tracked::top(&subject.source)?);
            let revision = revision.as_deref().map_or("as it is now", |revision| revision);
            subject.title = format!("{entry}, {revision} ({})", subject.title);
        }
        Ok(subjects)
    }

    /// The command `line` in the current folder at both revisions, each with its build.
    fn builds(
        &self,
        context: &Context,
        line: &str,
        scenario: Scenario,
    ) -> anyhow::Result<[Subject; 2]> {
        let build = self.build.as_deref().map(|line| split(line, "build", "make server"));
        let build: Vec<BuildStep> = build
            .transpose()
            .map_err(usage)?
            .into_iter()
            .map(|command| BuildStep { command, env: BTreeMap::new() })
            .collect();
        let root = folder(Path::new("."))?;
        let at = |revision: Option<&str>| {
            let place = match revision {
                Some(revision) => revision::place(context, &root, revision)?,
                None => revision::working_tree(context, &root)?,
            };
            let mut subject = in_folder(&place.project, line, &place.folder, scenario)?;
            let program = &subject.variant.run.command[0];
            if build.is_empty() || !program.contains('/') {
                require_program(program, "make it with --build 'COMMAND', or write its path")?;
            }
            subject.title = format!("{}, {}", subject.title, place.name);
            subject.tree = Some(tracked::top(&place.folder)?);
            subject.variant.build.clone_from(&build);
            anyhow::Ok(subject)
        };
        Ok([at(self.old.as_deref())?, at(self.new.as_deref())?])
    }
}

/// The server that `text` means.
fn written(
    context: &Context,
    (option, text): (&str, &str),
    folder: Option<&Path>,
    scenario: Scenario,
) -> anyhow::Result<Subject> {
    if is_command(text) {
        return own(context, text, folder, scenario);
    }
    if folder.is_some() {
        return Err(usage(format!(
            "{option}-folder needs a command with {{port}}, and `{text}` is an entry: omit {option}-folder"
        )));
    }
    let subject = context.select_one(text).map_err(|error| {
        usage(format!(
            "{option}: {error:#}; to run a command, write {{port}} for its port, such as './my-server \
             {{port}}'"
        ))
    })?;
    let title = format!("{text} ({})", subject.title);
    checked(Subject { title, ..subject }, scenario)
}

/// A command line has a placeholder, at least that of its port, and no entry's name has one.
fn is_command(text: &str) -> bool {
    text.contains(['{', ' ']) || text.trim().is_empty()
}

/// A command line, in its folder.
fn own(
    context: &Context,
    line: &str,
    folder: Option<&Path>,
    scenario: Scenario,
) -> anyhow::Result<Subject> {
    let Some(named) = folder else {
        return only_one(context.own(&[line.to_owned()], &[scenario])?, line);
    };
    let mut subject = in_folder(&context.project, line, &self::folder(named)?, scenario)?;
    require_program(&subject.variant.run.command[0], "build it first, or write its path")?;
    subject.title = format!("{} in {}", subject.title, named.display());
    Ok(subject)
}

/// The full path of a folder that is there.
fn folder(named: &Path) -> anyhow::Result<PathBuf> {
    named.canonicalize().map_err(|error| usage(format!("the folder {}: {error}", named.display())))
}

/// A command line that runs in `folder`, where its program is if that is a relative path.
fn in_folder(
    project: &Project,
    line: &str,
    folder: &Path,
    scenario: Scenario,
) -> anyhow::Result<Subject> {
    let mut subject = Subject::own(line, &[scenario], project).map_err(usage)?;
    let program = &mut subject.variant.run.command[0];
    if program.contains('/') {
        let path: PathBuf = folder.join(&*program).components().collect();
        *program = path.display().to_string();
    }
    subject.source = folder.to_owned();
    Ok(subject)
}

/// The same under the name of its side. Where it is built does not change.
fn called(mut subject: Subject, name: &str) -> anyhow::Result<Subject> {
    subject.variant.id = value::name(SUITE, name)?;
    Ok(subject)
}
