//! Builds many subjects at once, as many as CPUs and memory allow. What one build does is not its
//! business; that two do not make the same folder is.

use procfs::Current;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_server::parallel;

use super::{BuildError, Built, Freshness, build};
use crate::subject::Subject;

/// Memory that one build is taken to need. Compilers of C++ and linkers of Rust come near to it.
const MEMORY_BYTES: u64 = 3 << 29;

/// The subjects that one build serves: variants of one entry that are built alike.
#[derive(Clone, Debug)]
pub struct Group {
    /// Places in the list of subjects, at least one.
    pub members: Vec<usize>,
    /// `c/epoll`, or `cpp/restinio:{timers,no-timers}` when it serves some of many.
    pub name: String,
}

/// What happens while many are built.
#[derive(Debug)]
pub enum Event<'a> {
    /// The commands of a build begin; what is up to date never begins.
    Began { group: &'a Group },
    /// A build has ended, or there was nothing to do.
    Ended { group: &'a Group, outcome: &'a Result<Built, BuildError>, took: Duration },
}

/// As many builds at once as there are CPUs, and as fit into the memory that is free now.
#[must_use]
pub fn default_jobs() -> usize {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let memory = procfs::Meminfo::current().ok().and_then(|memory| memory.mem_available);
    jobs_for(cpus, memory)
}

fn jobs_for(cpus: usize, memory_bytes: Option<u64>) -> usize {
    let fit = memory_bytes.map_or(1, |bytes| bytes / MEMORY_BYTES);
    usize::try_from(fit).unwrap_or(usize::MAX).clamp(1, cpus)
}

/// The builds that `subjects` need, in their order.
#[must_use]
pub fn groups(subjects: &[Subject]) -> Vec<Group> {
    let mut members: BTreeMap<&Path, Vec<usize>> = BTreeMap::new();
    for (index, subject) in subjects.iter().enumerate() {
        members.entry(&subject.build).or_default().push(index);
    }
    let mut all: Vec<Vec<usize>> = members.into_values().collect();
    all.sort();
    let named = |members: Vec<usize>| Group { name: name(&members, subjects), members };
    all.into_iter().map(named).collect()
}

fn name(members: &[usize], subjects: &[Subject]) -> String {
    let first = &subjects[members[0]].variant.id;
    if members.len() == 1 || first.variant().is_none() {
        return first.to_string();
    }
    let variants = members.iter().filter_map(|&index| subjects[index].variant.id.variant());
    format!("{}:{{{}}}", first.entry(), variants.collect::<Vec<_>>().join(","))
}

/// Builds all `groups` of `subjects`, at most `jobs` at once. The outcomes are in the order of the
/// groups; absent where a signal came before the build began. One that fails stops no other.
pub fn build_all(
    subjects: &[Subject],
    groups: &[Group],
    (jobs, freshness): (usize, Freshness),
    stop: &AtomicBool,
    observe: &mut (dyn FnMut(&Event<'_>) + Send),
) -> Vec<Option<Result<Built, BuildError>>> {
    let observe = Mutex::new(observe);
    let tell = |event: &Event<'_>| {
        let mut observe = observe.lock().unwrap_or_else(PoisonError::into_inner);
        (*observe)(event);
    };
    parallel::map(groups, jobs, |group| {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let began = Instant::now();
        let members = group.members.iter().map(|&member| &subjects[member]);
        let outcome = build_members(members, freshness, stop, &|| tell(&Event::Began { group }));
        tell(&Event::Ended { group, outcome: &outcome, took: began.elapsed() });
        Some(outcome)
    })
}

/// Builds the first; the others then only look whether the program that they start is there.
fn build_members<'a>(
    members: impl Iterator<Item = &'a Subject>,
    freshness: Freshness,
    stop: &AtomicBool,
    begin: &dyn Fn(),
) -> Result<Built, BuildError> {
    let mut all = Built::Nothing;
    for (number, member) in members.enumerate() {
        let freshness = if number == 0 { freshness } else { Freshness::Stamped };
        let built = build(member, freshness, stop, begin)?;
        if all != Built::Made {
            all = built;
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;
    use std::{collections::BTreeMap, fs, path::Path};
    use wirebench_schema::{entry::BuildStep, scenario::Scenario};

    fn subject(folder: &Path, name: &str, command: &[&str]) -> Subject {
        let project = Project::without_entries(folder);
        let mut subject = Subject::own("x {port}", &[Scenario::Hello], &project).unwrap();
        let source = folder.join(name);
        fs::create_dir_all(&source).unwrap();
        let command = command.iter().map(|&word| word.to_owned()).collect();
        subject.variant.build = vec![BuildStep { command, env: BTreeMap::new() }];
        subject.build = folder.join("build").join(name);
        subject.source = source;
        subject
    }

    fn build_these(subjects: &[Subject], jobs: usize, stop: &AtomicBool) -> (Vec<String>, usize) {
        let groups = groups(subjects);
        let mut events = Vec::new();
        let mut observe = |event: &Event<'_>| {
            events.push(match event {
                Event::Began { .. } => "began".to_owned(),
                Event::Ended { outcome: Ok(built), .. } => format!("{built:?}"),
                Event::Ended { outcome: Err(_), .. } => "failed".to_owned(),
            });
        };
        let outcomes = build_all(subjects, &groups, (jobs, Freshness::Stamped), stop, &mut observe);
        let count = outcomes.iter().flatten().count();
        events.sort();
        (events, count)
    }

    #[test]
    fn a_build_that_fails_stops_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, command: &[&str]| subject(folder.path(), name, command);
        let subjects = [at("a", &["false"]), at("b", &["true"]), at("c", &["true"])];
        let (events, ended) = build_these(&subjects, 1, &AtomicBool::new(false));
        assert_eq!(events, ["Made", "Made", "began", "began", "began", "failed"]);
        assert_eq!(ended, 3);
        let (events, _) = build_these(&subjects, 2, &AtomicBool::new(false));
        assert_eq!(events, ["UpToDate", "UpToDate", "began", "failed"]);
    }

    #[test]
    fn builds_go_on_at_the_same_time_when_there_are_jobs_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let wait = "touch \"$0\"; n=0; until [ -e \"$1\" ] || [ $n -ge 600 ]; do sleep 0.05; \
                    n=$((n+1)); done; [ -e \"$1\" ]";
        let (a, b) = ("{build}/../mark-a", "{build}/../mark-b");
        let subjects = [
            subject(folder.path(), "a", &["sh", "-c", wait, a, b]),
            subject(folder.path(), "b", &["sh", "-c", wait, b, a]),
        ];
        let (events, _) = build_these(&subjects, 2, &AtomicBool::new(false));
        assert_eq!(events, ["Made", "Made", "began", "began"]);
    }

    #[test]
    fn variants_that_share_a_folder_are_built_once() {
        let folder = tempfile::tempdir().unwrap();
        let command = ["sh", "-c", "echo built >> {build}/../count"];
        let one = subject(folder.path(), "a", &command);
        let subjects = [one.clone(), one];
        let (events, ended) = build_these(&subjects, 2, &AtomicBool::new(false));
        assert_eq!(events, ["Made", "began"]);
        assert_eq!(ended, 1);
        assert_eq!(fs::read_to_string(folder.path().join("build/count")).unwrap(), "built\n");
    }

    #[test]
    fn after_a_signal_nothing_begins_and_what_runs_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| subject(folder.path(), name, &["sleep", "60"]);
        let subjects = [at("a"), at("b")];
        let groups = groups(&subjects);
        let stop = AtomicBool::new(false);
        let mut observe = |_: &Event<'_>| stop.store(true, Ordering::Relaxed);
        let outcomes = build_all(&subjects, &groups, (1, Freshness::Stamped), &stop, &mut observe);
        let error = outcomes[0].as_ref().unwrap().as_ref().unwrap_err();
        assert_eq!(error.to_string(), "interrupted");
        assert!(outcomes[1].is_none());
    }

    #[test]
    fn as_many_builds_run_as_cpus_and_memory_allow() {
        assert_eq!(jobs_for(8, Some(4 << 30)), 2);
        assert_eq!(jobs_for(2, Some(64 << 30)), 2);
        assert_eq!(jobs_for(8, Some(100 << 20)), 1);
        assert_eq!(jobs_for(8, None), 1);
        assert!(default_jobs() >= 1);
    }
}
