//! The suites: files below `suites/` of the project, and those that are part of the program.

use anyhow::Context as _;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};
use wirebench_catalogue::project::Project;
use wirebench_schema::{
    journal::Journal,
    suggest,
    suite::{PublishedFigures, Suite},
};

use crate::{context::Context, exit::usage, request_options::read_requests};

/// Suites that every project has, because they name no entry that must exist.
const ALWAYS: [&str; 2] = ["quick", "smoke"];

/// The text of a suite that every project has.
fn embedded(name: &str) -> Option<String> {
    ALWAYS.contains(&name).then(|| wirebench_bundle::text(&format!("suites/{name}.toml")))?
}

fn file(project: &Project, name: &str) -> Option<PathBuf> {
    // A suite's name is a plain word, so that it cannot lead out of the folder.
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let mut paths = project.roots().map(|root| root.join("suites").join(format!("{name}.toml")));
    paths.find(|path| plain && path.is_file())
}

/// Whether there is a suite of that name.
pub(crate) fn exists(project: &Project, name: &str) -> bool {
    file(project, name).is_some() || ALWAYS.contains(&name)
}

pub(crate) fn load(project: &Project, name: &str) -> anyhow::Result<Suite> {
    let path = file(project, name);
    let (origin, text) = match &path {
        Some(path) => {
            let shown = path.display().to_string();
            (shown.clone(), fs::read_to_string(path).with_context(|| shown)?)
        }
        None => {
            let text = embedded(name).ok_or_else(|| usage(format!("unknown suite `{name}`")))?;
            (format!("the built-in suite {name}"), text)
        }
    };
    let beside = |name: &str| {
        let path = path.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).join(name);
        let path = path.display().to_string();
        read_requests(&path).map(|text| (path, text))
    };
    Suite::parse_with(name, &text, &beside).map_err(|error| usage(format!("{origin}: {error}")))
}

/// The figures of the document that `suite` repeats: `suites/published/NAME.toml`, if there is one.
pub(crate) fn figures(project: &Project, suite: &Suite) -> anyhow::Result<PublishedFigures> {
    let name = format!("suites/published/{}.toml", suite.name);
    let Some(path) = project.roots().map(|root| root.join(&name)).find(|path| path.is_file())
    else {
        return Ok(PublishedFigures::default());
    };
    let shown = path.display().to_string();
    let text = fs::read_to_string(&path).with_context(|| shown.clone())?;
    PublishedFigures::parse(&text, suite).map_err(|error| usage(format!("{shown}: {error}")))
}

/// A journal whose suite repeats a document, with the figures of the document as this version of the program has them:
/// they do not change, but names and headings that an older version lacked are there. A suite that is not part of the
/// program, or repeats another document, keeps the figures of its journal.
pub(crate) fn with_figures_of_today(mut journal: Journal) -> Journal {
    let Some(published) = &mut journal.start.published else { return journal };
    let name = &journal.start.suite;
    let figures = || {
        let text = wirebench_bundle::text(&format!("suites/{name}.toml"))?;
        let suite = Suite::parse(name, &text).ok()?;
        let is_same = suite.document.as_ref()?.title == published.document.title;
        let figures = wirebench_bundle::text(&format!("suites/published/{name}.toml"))?;
        PublishedFigures::parse(&figures, &suite).ok().filter(|_| is_same)
    };
    if let Some(figures) = figures() {
        published.figures = figures;
    }
    journal
}

/// The names of all suites.
pub(crate) fn names(project: &Project) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = ALWAYS.map(str::to_owned).into();
    let folders = project.roots().map(|root| root.join("suites"));
    for file in folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
        let path = file.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names
}

/// The error for a name that is neither a suite nor an entry.
pub(crate) fn unknown(context: &Context, name: &str) -> anyhow::Result<anyhow::Error> {
    let suites: Vec<String> = names(&context.project).into_iter().collect();
    let subjects = context.subjects()?;
    let entries = subjects.iter().map(|subject| subject.variant.id.entry());
    let known = suites.iter().map(String::as_str).chain(entries);
    Ok(usage(format!(
        "{} (suites: {}; entries: `wirebench list`)",
        suggest::unknown("suite or entry", name, known),
        suites.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_of_the_program_is_valid() {
        for name in ALWAYS {
            let text = embedded(name).unwrap();
            assert_eq!(Suite::parse(name, &text).map(|suite| suite.name), Ok(name.to_owned()));
        }
    }
}
