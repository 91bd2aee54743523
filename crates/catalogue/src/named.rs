//! Which files and folders the command of a server names.

use std::{env, ffi::OsString, path::PathBuf};
use wirebench_schema::placeholder;
use wirebench_server::executable::may_be_executed;

use crate::subject::Subject;

/// Where programs are looked for when nothing says where.
const DEFAULT_PATH: &str = "/bin:/usr/bin";
/// The ends of a path within a word, as in `--config=FILE`, in a class path, or in a script for `sh -c`.
const PATH_ENDS: [char; 4] = ['=', ':', ',', ' '];

/// The words of a command and of its variables.
#[derive(Clone, Debug)]
pub struct CommandFiles {
    /// Its program in each scenario, which may be missing; none if only a start finds it.
    pub programs: Option<Vec<PathBuf>>,
    /// The files and folders that its other words name.
    pub paths: Vec<PathBuf>,
    /// All other words and parts of words, as they are written, but with the name of the variant.
    pub(crate) words: Vec<String>,
}

impl CommandFiles {
    #[must_use]
    pub fn of(subject: &Subject) -> Self {
        let run = &subject.variant.run;
        let programs = filled(subject, &run.command[0]).into_iter();
        let programs: Option<Vec<PathBuf>> = programs.map(|it| resolve(&it, subject)).collect();
        let (mut paths, mut words) = (Vec::new(), Vec::new());
        let variables = run.env.iter().flat_map(|(name, value)| [name, value]);
        for word in run.command.iter().skip(1).chain(variables) {
            let parts = match existing(subject, word).is_empty() {
                true => word.split(PATH_ENDS).collect(),
                false => vec![word.as_str()],
            };
            for part in parts {
                let found = existing(subject, part);
                if found.is_empty() {
                    words.push(part.replace("{variant}", &subject.variant.form));
                }
                paths.extend(found);
            }
        }
        Self { programs: programs.filter(|it| !it.is_empty()), paths, words }
    }

    /// Its programs, and what else it names.
    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.programs.iter().flatten().chain(&self.paths)
    }
}

/// The files and folders that `word` means in each of the subject's scenarios.
fn existing(subject: &Subject, word: &str) -> Vec<PathBuf> {
    let names = filled(subject, word).into_iter().filter(|name| !name.is_empty());
    let paths = names.map(|name| subject.source.join(name));
    paths.filter(|path| path.is_file() || path.is_dir()).collect()
}

/// What `word` becomes in each of the subject's scenarios; nothing when only the start of a server can
/// fill it in.
fn filled(subject: &Subject, word: &str) -> Vec<String> {
    let scenarios = subject.variant.scenarios.iter().map(|it| it.name().to_owned());
    let with = |scenario: String| {
        let values = [&subject.build_values()[..], &[("scenario", scenario)]].concat();
        placeholder::fill(word, &values).ok()
    };
    let mut filled: Vec<String> = scenarios.filter_map(with).collect();
    filled.dedup();
    filled
}

/// The file that the guard would start for `program`: by its path from the subject's folder, or
/// from the search path that the server gets.
fn resolve(program: &str, subject: &Subject) -> Option<PathBuf> {
    let source = &subject.source;
    if program.contains('/') {
        return Some(source.join(program));
    }
    let folders = search_path(subject);
    let mut places = env::split_paths(&folders).map(|folder| source.join(folder).join(program));
    places.find(|place| may_be_executed(place))
}

pub(crate) fn search_path(subject: &Subject) -> OsString {
    let own = subject.variant.run.env.get("PATH").and_then(|value| {
        placeholder::fill(value, &subject.build_values()).ok().map(OsString::from)
    });
    own.or_else(|| env::var_os("PATH")).unwrap_or_else(|| DEFAULT_PATH.into())
}
