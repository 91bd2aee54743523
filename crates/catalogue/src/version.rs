//! Reads the versions of languages, frameworks and compilers, as each entry says where they stand.

use regex_lite::Regex;
use std::{collections::BTreeMap, sync::atomic::AtomicBool, time::Duration};
use wirebench_schema::{
    entry::{VersionProbe, VersionSource, source::Source},
    placeholder,
};
use wirebench_server::command::{Job, NO_ENV, ask_twice};

use crate::{
    small_file::read_small,
    subject::{Origin, Subject},
};

/// How long a program may take to say its version.
const TIMEOUT: Duration = Duration::from_secs(20);

/// All versions of `subject` by name. An error is a sentence; a number without a version is not
/// measured.
pub fn versions(subject: &Subject, stop: &AtomicBool) -> Result<BTreeMap<String, String>, String> {
    match &subject.origin {
        Origin::Own | Origin::Service => Ok(BTreeMap::new()),
        Origin::Broken { reason } => Err(reason.clone()),
        Origin::Builtin => {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            Ok(BTreeMap::from([("wirebench".to_owned(), version)]))
        }
        Origin::Entry { versions } => {
            let sources = &subject.variant.sources;
            let commit = |it: &Source| Ok((it.name.clone(), it.short_commit().to_owned()));
            // A version that the entry reads itself replaces the commit.
            let read = versions.iter().map(|probe| read(probe, subject, stop));
            sources.iter().map(commit).chain(read).collect()
        }
    }
}

/// What the tools of a build say of their versions, as far as they can be asked before it: a new
/// compiler makes a new program.
pub(crate) fn of_tools(subject: &Subject, stop: &AtomicBool) -> String {
    let Origin::Entry { versions } = &subject.origin else { return String::new() };
    let asks_a_tool = |probe: &&VersionProbe| match &probe.source {
        VersionSource::Command(command) => !command.iter().any(|word| word.contains("{build}")),
        VersionSource::File(_) => false,
    };
    let answers = versions.iter().filter(asks_a_tool).map(|probe| read(probe, subject, stop));
    // A tool that does not answer is reported by the reader of the versions.
    answers.flatten().map(|(name, version)| format!("{name} {version}\n")).collect()
}

/// The pattern of `probe`, ready for use. An error is a sentence with the next step.
pub(crate) fn pattern(probe: &VersionProbe) -> Result<Regex, String> {
    let shown = &probe.pattern;
    let pattern = Regex::new(shown).map_err(|error| format!("`{shown}`: {error}"))?;
    // The first group is the whole match.
    if pattern.captures_len() < 2 {
        return Err(format!("`{shown}` has no group: put the version in parentheses"));
    }
    Ok(pattern)
}

fn read(
    probe: &VersionProbe,
    subject: &Subject,
    stop: &AtomicBool,
) -> Result<(String, String), String> {
    let name = &probe.name;
    let error = |reason: String| format!("the version of {name} cannot be read: {reason}");
    let pattern = pattern(probe).map_err(error)?;
    let text = match &probe.source {
        VersionSource::File(file) => read_small(&subject.source.join(file))
            .map_err(|reason| error(format!("{file}: {reason}")))?,
        VersionSource::Command(command) => {
            let argv = placeholder::fill_all(command, &subject.build_values())
                .map_err(|e| error(e.to_string()))?;
            let folder = &subject.source;
            let job = Job { argv: &argv, folder, env: NO_ENV, timeout: TIMEOUT };
            ask_twice(|| job.output(stop)).map_err(|e| error(e.to_string()))?.text
        }
    };
    let found = pattern.captures(&text).and_then(|groups| groups.get(1));
    let found = found.ok_or_else(|| error(format!("nothing matches `{}`", probe.pattern)))?;
    Ok((name.clone(), found.as_str().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;
    use wirebench_schema::scenario::Scenario;

    fn read_with(source: VersionSource, pattern: &str) -> Result<(String, String), String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("lock"), "name = \"tokio\"\nversion = \"1.2.3\"\n")
            .unwrap();
        let project = crate::project::Project::without_entries(folder.path());
        let mut subject = Subject::own("x {port}", &[Scenario::Hello], &project).unwrap();
        subject.source = folder.path().to_owned();
        let probe = VersionProbe { name: "tokio".into(), source, pattern: pattern.into() };
        read(&probe, &subject, &AtomicBool::new(false))
    }

    #[test]
    fn versions_come_from_files_and_from_programs() {
        let file = VersionSource::File("lock".into());
        let answer = read_with(file.clone(), "name = \"tokio\"\nversion = \"([^\"]+)\"");
        assert_eq!(answer.unwrap().1, "1.2.3");
        let program = VersionSource::Command(vec!["cat".into(), "lock".into()]);
        assert_eq!(read_with(program, r"(\d+)\.").unwrap().1, "1");
        let messages = ["(nothing)", "version", "("]
            .map(|pattern| read_with(file.clone(), pattern).unwrap_err() + "\n");
        expect_file!["golden/version.txt"].assert_eq(&messages.concat());
    }
}
