//! Finds all that can be measured, and picks from it by name.

use std::path::Path;
use walkdir::WalkDir;
use wirebench_schema::{
    entry::{BuildStep, Entry, Requirement, Variant},
    suggest,
};

use crate::{
    build::{self, OUTPUT_FOLDERS},
    checkouts::Checkouts,
    project::Project,
    small_file::{read_requests, read_small},
    subject::{Origin, Subject},
    trust::{self, Untrusted},
    version,
};

/// The name of an entry's description in its folder.
const ENTRY_FILE: &str = "entry.toml";

/// Why entries cannot be used. Each message names the file or the name at fault.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// The folder of the entries cannot be read.
    #[error("{file}: {reason}")]
    Folder { file: String, reason: String },
    /// A built-in server that cannot be used, or an entry that was named and whose description is wrong. The reason
    /// of the latter begins with the file.
    #[error("{0}")]
    Broken(String),
    /// A name that no entry has.
    #[error("{0} (`wirebench list` shows all)")]
    Unknown(String),
    /// A variant without its entry, and the variants of that name.
    #[error("`{0}` has no entry before its colon: name one of {1}")]
    OnlyVariant(String, String),
}

/// All subjects: the built-in null servers first, then the entries by name. An entry whose
/// description is wrong is among them, as [`Origin::Broken`]. A user's own entry hides an embedded
/// one of the same name.
pub fn subjects(project: &Project, program: &Path) -> Result<Vec<Subject>, DiscoverError> {
    let builtins = Subject::builtins(program, project).map_err(DiscoverError::Broken)?;
    let mut subjects: Vec<Subject> = Vec::new();
    for root in project.roots() {
        let below = entries_of(&project.layer(root), root)?;
        let is_hidden = |it: &Subject| {
            subjects.iter().any(|own| own.variant.id.entry() == it.variant.id.entry())
        };
        let visible: Vec<Subject> = below.into_iter().filter(|it| !is_hidden(it)).collect();
        subjects.extend(visible);
    }
    if project.roots().count() > 1 {
        subjects.sort_by(|one, other| one.variant.id.entry().cmp(other.variant.id.entry()));
    }
    Ok([builtins, subjects].concat())
}

/// The entries below `root`.
fn entries_of(project: &Project, root: &Path) -> Result<Vec<Subject>, DiscoverError> {
    let mut subjects = Vec::new();
    let entries = root.join("entries");
    if !entries.is_dir() {
        return Ok(subjects);
    }
    let folders = WalkDir::new(&entries).min_depth(2).max_depth(2).sort_by_file_name();
    for folder in folders {
        let folder = folder.map_err(|error| DiscoverError::Folder {
            file: error.path().unwrap_or(&entries).display().to_string(),
            reason: error.to_string(),
        })?;
        let file = folder.path().join(ENTRY_FILE);
        if !file.exists() {
            continue;
        }
        match read_entry(project, &entries, folder.path()) {
            Ok(variants) => subjects.extend(variants),
            Err(reason) => {
                let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
                let reason = format!("{shown}: {reason}");
                subjects.extend(broken(project, folder.path(), reason));
            }
        }
    }
    Ok(subjects)
}

fn broken(project: &Project, folder: &Path, reason: String) -> Option<Subject> {
    let name = |folder: &Path| Some(folder.file_name()?.to_string_lossy().into_owned());
    let (language, name) = (name(folder.parent()?)?, name(folder)?);
    Subject::with_wrong_description((&language, &name), folder, reason, project)
}

/// The variants of the entry in `folder`, or what is wrong with its description.
fn read_entry(project: &Project, entries: &Path, folder: &Path) -> Result<Vec<Subject>, String> {
    if project.is_checked(folder) {
        let parts = [folder.parent().unwrap_or(folder), &build::shared(folder)];
        trust::check(parts)
            .and_then(|()| trust::check_tree(folder, &OUTPUT_FOLDERS))
            .map_err(|it| refusal(&it))?;
    }
    let id = folder.strip_prefix(entries).map_err(|error| error.to_string())?;
    let text = read_small(&folder.join(ENTRY_FILE))?;
    let beside = |name: &str| {
        let path = folder.join(name);
        Ok((path.display().to_string(), read_requests(&path)?))
    };
    let entry = Entry::parse_with(&id.to_string_lossy(), &text, &beside)?;
    check_patterns(&entry)?;
    let mut subjects: Vec<Subject> = Vec::new();
    for variant in entry.variants {
        check_deviations(&variant)?;
        // Variants that are built alike and differ only in how they are started share one build.
        let build = subjects
            .iter()
            .find(|earlier| are_built_alike(&earlier.variant, &variant))
            .map_or_else(|| project.build_folder(&variant.id), |earlier| earlier.build.clone());
        let checkouts = Checkouts::of_entry(&entry.id, &variant.sources, folder, project)?;
        let (title, versions) = (entry.title.clone(), entry.versions.clone());
        let origin = Origin::Entry { versions };
        let subject = Subject {
            description: entry.description.clone(),
            url: entry.url.clone(),
            build,
            checkouts,
            ..Subject::new(variant, title, folder.to_owned(), origin, project)
        };
        if project.is_checked(&project.state) {
            let checkouts = subject.checkouts.iter().map(|it| it.folder.clone());
            let made = build::outputs(&subject).into_iter().chain([subject.build.clone()]);
            made.chain(checkouts)
                .try_for_each(|path| trust::check_down(&project.state, &path))
                .map_err(|it| refusal(&it))?;
        }
        subjects.push(subject);
    }
    Ok(subjects)
}

fn refusal(untrusted: &Untrusted) -> String {
    format!(
        "{untrusted}: its commands would run with your rights. Remove it, or make it yours with `chown -R`"
    )
}

/// A pattern that cannot be used would be noticed only when everything is built.
fn check_patterns(entry: &Entry) -> Result<(), String> {
    entry.versions.iter().try_for_each(|probe| {
        version::pattern(probe)
            .map(|_| ())
            .map_err(|reason| format!("the pattern of the version `{}`: {reason}", probe.name))
    })
}

/// A deviation from a check that does not exist would hide nothing and mislead its reader.
fn check_deviations(variant: &Variant) -> Result<(), String> {
    let known = || {
        let all =
            variant.scenarios.iter().flat_map(|&scenario| wirebench_verify::catalogue(scenario));
        all.map(|check| check.name)
    };
    match variant.deviations.iter().find(|it| known().all(|name| name != it.check)) {
        Some(it) => Err(suggest::unknown("check", &it.check, known())),
        None => Ok(()),
    }
}

/// Whether the builds of two variants are the same commands, once their names are filled in. What
/// setup fetches for one of them may go into the folder of its build as well.
fn are_built_alike(one: &Variant, other: &Variant) -> bool {
    let names_variant = |text: &String| text.contains("{variant}");
    let differ = |step: &BuildStep| {
        step.command.iter().any(names_variant) || step.env.values().any(names_variant)
    };
    let fetches_differ =
        |requirement: &Requirement| requirement.fetch.iter().flatten().any(names_variant);
    one.build == other.build
        && !one.build.iter().any(differ)
        && !one.requires.iter().chain(&other.requires).any(fetches_differ)
}

/// The subjects that `names` mean, in the order of `subjects`; all of them, including the published
/// forms, when there are no names.
///
/// A name is an entry's, such as `cpp/boost-asio`, a variant's, such as `cpp/boost-asio:prefork`,
/// or a language's, such as `go` or `go/`.
pub fn select(subjects: &[Subject], names: &[String]) -> Result<Vec<Subject>, DiscoverError> {
    let means = |name: &str, subject: &Subject| subject.variant.id.is_among(name);
    for name in names {
        // A request for a whole language gets its usable entries.
        let named = |subject: &&Subject| subject.variant.id.matches(entry_part(name));
        if let Some(reason) = subjects.iter().filter(named).find_map(Subject::broken) {
            return Err(DiscoverError::Broken(reason.to_owned()));
        }
        if !subjects.iter().any(|subject| means(name, subject)) {
            let ids = subjects.iter().map(|it| &it.variant.id);
            let names =
                ids.flat_map(|it| [it.language(), it.entry(), &it.to_string()].map(str::to_owned));
            let mut known: Vec<String> = names.collect();
            let of_entries = known.iter().filter(|known| known.ends_with(name));
            let of_entries: Vec<&str> = of_entries.map(String::as_str).collect();
            if name.starts_with(':') && !of_entries.is_empty() {
                return Err(DiscoverError::OnlyVariant(name.clone(), of_entries.join(", ")));
            }
            known.sort();
            known.dedup();
            let known = known.iter().map(String::as_str);
            return Err(DiscoverError::Unknown(suggest::unknown("entry", name, known)));
        }
    }
    let chosen =
        |subject: &&Subject| names.is_empty() || names.iter().any(|name| means(name, subject));
    Ok(subjects.iter().filter(chosen).cloned().collect())
}

/// The name without its variant: the variants of a broken entry are unknown.
fn entry_part(name: &str) -> &str {
    name.split_once(':').map_or(name, |(entry, _)| entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::fs;

    const ENTRY: &str = r#"
title = "A"
description = "An example."
class = "raw"
model = "event-loop"
mechanism = "epoll"
sharing = "prefork"
scenarios = ["hello"]
skips = []
[[version]]
name = "cc"
command = ["cc", "--version"]
pattern = '(\d+)'
[run]
command = ["{build}/server"]
ready = "line"
"#;

    fn checkout(entries: &[(&str, String)]) -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("suites")).unwrap();
        fs::create_dir(folder.path().join("entries")).unwrap();
        for (id, text) in entries {
            let entry = folder.path().join("entries").join(id);
            fs::create_dir_all(&entry).unwrap();
            fs::write(entry.join(ENTRY_FILE), text).unwrap();
        }
        let project = Project::checkout(folder.path().to_owned(), crate::project::Trust::Checked);
        (folder, project)
    }

    fn names(subjects: &[Subject]) -> Vec<String> {
        subjects.iter().map(|subject| subject.variant.id.to_string()).collect()
    }

    #[test]
    fn entries_are_found_by_their_folders_behind_the_builtin_ones() {
        let variants = "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n";
        let (_folder, project) =
            checkout(&[("go/net", ENTRY.into()), ("c/epoll", format!("{ENTRY}{variants}"))]);
        let all = subjects(&project, Path::new("wirebench")).unwrap();
        let expected = ["builtin/epoll", "builtin/io_uring", "c/epoll:a", "c/epoll:b", "go/net"];
        assert_eq!(names(&all), expected);
        let pick = |names_: &[&str]| {
            select(&all, &names_.iter().map(|&n| n.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(names(&pick(&["c/epoll"]).unwrap()), ["c/epoll:a", "c/epoll:b"]);
        assert_eq!(names(&pick(&["go/", "c/epoll:b"]).unwrap()), ["c/epoll:b", "go/net"]);
        assert_eq!(names(&pick(&["go"]).unwrap()), ["go/net"]);
        let message = |name| pick(&[name]).unwrap_err().to_string();
        assert_eq!(
            message("goo"),
            "unknown entry `goo`: did you mean `go`? (`wirebench list` shows all)"
        );
        assert_eq!(message(":b"), "`:b` has no entry before its colon: name one of c/epoll:b");
        assert_eq!(
            message("c/epol"),
            "unknown entry `c/epol`: did you mean `c/epoll`? (`wirebench list` shows all)"
        );
    }

    #[test]
    fn a_wrong_entry_stands_among_the_others_and_is_an_error_only_for_who_names_it() {
        let wrong = ENTRY.replace("skips", "skipz");
        let (_folder, project) = checkout(&[
            ("c/x", wrong.clone()),
            ("c/y", ENTRY.into()),
            ("c/a b", ENTRY.into()),
            ("builtin/x", ENTRY.into()),
        ]);
        let all = subjects(&project, Path::new("wirebench")).unwrap();
        let broken: Vec<_> = all.iter().filter(|subject| subject.broken().is_some()).collect();
        let ids: Vec<_> = broken.iter().map(|subject| subject.variant.id.to_string()).collect();
        assert_eq!(ids, ["builtin/x", "c/a_b", "c/x"]);
        let reason = broken[2].broken().unwrap();
        assert_eq!(
            reason,
            "entries/c/x/entry.toml: line 9: unknown key `skipz`: did you mean `skips`?"
        );
        let pick = |name: &str| select(&all, &[name.to_owned()]);
        assert_eq!(names(&pick("c/y").unwrap()), ["c/y"]);
        assert_eq!(names(&pick("c/").unwrap()), ["c/a_b", "c/x", "c/y"]);
        let messages = ["c/x", "c/x:variant"].map(|name| format!("{}\n", pick(name).unwrap_err()));
        expect![[r#"
            entries/c/x/entry.toml: line 9: unknown key `skipz`: did you mean `skips`?
            entries/c/x/entry.toml: line 9: unknown key `skipz`: did you mean `skips`?
        "#]]
        .assert_eq(&messages.concat());
    }

    #[test]
    fn variants_share_a_build_exactly_when_its_steps_are_the_same() {
        let step = |text: &str| format!("[[variant.build]]\ncommand = [\"cc\", \"{text}\"]\n");
        let variant = |name: &str| format!("[[variant]]\nname = \"{name}\"\n");
        let text = [
            ENTRY.to_owned(),
            "[[build]]\ncommand = [\"cc\"]\n".to_owned(),
            variant("a") + &variant("b") + &variant("c") + &step("-O3"),
            variant("d") + &step("-o{variant}") + &variant("e") + &step("-o{variant}"),
            variant("f") + &step("-O3"),
        ];
        let (_folder, project) = checkout(&[("c/x", text.concat())]);
        let all = subjects(&project, Path::new("wirebench")).unwrap();
        let end =
            |subject: &Subject| subject.build.file_name().unwrap().to_string_lossy().into_owned();
        let folders: Vec<String> = all[2..].iter().map(end).collect();
        assert_eq!(folders, ["a", "a", "c", "d", "e", "c"]);
    }
}
