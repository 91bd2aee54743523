//! The project outside a checkout: the entries and suites inside this program, unpacked into the user's data folder,
//! and the user's own ones, if the current folder has any.

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};
use wirebench_bundle::Work;
use wirebench_catalogue::{
    project::{Project, Trust},
    trust,
};

use crate::{exit::usage, out};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The folders of a user, as the XDG Base Directory Specification has them.
#[derive(Debug, Eq, PartialEq)]
struct Folders {
    data: PathBuf,
    state: PathBuf,
    cache: PathBuf,
}

impl Folders {
    /// Of the environment that `variable` reads.
    fn of(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, String> {
        // The specification says to ignore relative paths.
        let path = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = path("HOME");
        let folder = |name, below: &str| {
            let folder = path(name).or_else(|| Some(home.as_ref()?.join(below)));
            let folder = folder.map(|folder| folder.join("wirebench"));
            folder.ok_or_else(|| {
                format!(
                    "HOME and {name} are not set, so there is no folder for entries, builds and results: set HOME, \
                     or XDG_DATA_HOME, XDG_STATE_HOME and XDG_CACHE_HOME"
                )
            })
        };
        Ok(Self {
            data: folder("XDG_DATA_HOME", ".local/share")?,
            state: folder("XDG_STATE_HOME", ".local/state")?,
            cache: folder("XDG_CACHE_HOME", ".cache")?,
        })
    }
}

/// The embedded entries and suites, with those of the folder `own` in addition.
pub(crate) fn project(own: Option<PathBuf>, trust: Trust) -> anyhow::Result<Project> {
    let Folders { data, state, cache } = Folders::of(|name| env::var_os(name)).map_err(usage)?;
    let parent = data.join("embedded");
    let folders = [data.as_path(), &parent, &cache, &cache.join("build")];
    trust::check(folders).map_err(|untrusted| {
        usage(format!(
            "{untrusted}: programs in it would run with your rights. Remove it, or set XDG_DATA_HOME and \
             XDG_CACHE_HOME to folders of your own"
        ))
    })?;
    let provided = wirebench_bundle::provide(&parent, VERSION).map_err(|error| {
        anyhow::anyhow!(
            "cannot unpack the entries into {}: {error}: set XDG_DATA_HOME to a folder that you can write, or name a \
             checkout with --project",
            parent.display()
        )
    })?;
    let folder = provided.folder;
    match provided.work {
        Work::Nothing => {}
        Work::Unpacked => out::note(&format!("entries and suites unpacked: {}", folder.display())),
        Work::Replaced(old) => out::note(&format!(
            "entries and suites differed from those of this program and were unpacked again; the old ones are in {}",
            old.display()
        )),
    }
    Ok(Project { root: own, embedded: Some(folder), state: cache, results: state, trust })
}

/// Which entries and suites are used, for the head of a list or run.
pub(crate) fn headline(project: &Project) -> String {
    let own = project.root.as_deref().map(Path::display);
    match (&project.embedded, own) {
        (Some(embedded), own) => {
            let own = own.map_or_else(String::new, |own| format!(", and your own in {own}"));
            format!("project: embedded in wirebench {VERSION}, in {}{own}", embedded.display())
        }
        (None, Some(root)) => format!("project: {root}"),
        (None, None) => "project: none".to_owned(),
    }
}

/// Makes the folder of results before anything is measured. In a checkout it is made with the first one.
pub(crate) fn make_results(project: &Project) -> io::Result<()> {
    let next = "set XDG_STATE_HOME to a folder that you can write, or name one with --output";
    if project.embedded.is_some() { make(&project.results, next) } else { Ok(()) }
}

/// Makes the folder of builds before anything is built.
pub(crate) fn make_cache(folder: &Path) -> io::Result<()> {
    make(folder, "set XDG_CACHE_HOME to a folder that you can write")
}

fn make(folder: &Path, next: &str) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(|error| {
        let text = format!("cannot create {}: {error}: {next}", folder.display());
        io::Error::new(error.kind(), text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(variables: &[(&str, &str)]) -> Result<Folders, String> {
        Folders::of(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).into())
        })
    }

    #[test]
    fn variables_come_before_the_home_folder_and_relative_ones_are_ignored() {
        let folders_ =
            folders(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s"), ("XDG_CACHE_HOME", "c")]);
        let [data, state, cache] =
            ["/h/.local/share/wirebench", "/s/wirebench", "/h/.cache/wirebench"].map(PathBuf::from);
        assert_eq!(folders_, Ok(Folders { data, state, cache }));
    }

    #[test]
    fn without_a_home_folder_all_three_variables_are_needed() {
        let all = [("XDG_DATA_HOME", "/d"), ("XDG_STATE_HOME", "/s"), ("XDG_CACHE_HOME", "/c")];
        assert!(folders(&all).is_ok());
        for missing in 0..all.len() {
            let two: Vec<_> = all.iter().copied().filter(|it| *it != all[missing]).collect();
            let message = folders(&two).unwrap_err();
            assert!(
                message.contains(&format!("HOME and {} are not set", all[missing].0)),
                "{message}"
            );
        }
    }
}
