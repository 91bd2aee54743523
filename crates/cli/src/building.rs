//! Builds what a verb needs, several at once, and shows how it goes on: a line when each begins and
//! ends, and on a terminal a live line of what is being built.

use indicatif::ProgressBar;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use wirebench_catalogue::{
    build::{
        BuildError, Built, Freshness,
        parallel::{self, Event, Group},
    },
    subject::Subject,
};
use wirebench_schema::id::VariantId;
use wirebench_server::command::CommandError;

use crate::{context::Context, embedded, out};

#[derive(Clone, Copy, Debug)]
pub(crate) struct BuildOptions {
    pub(crate) freshness: Freshness,
    /// Builds at once; as many as CPUs and memory allow when absent.
    pub(crate) jobs: Option<usize>,
    /// True if the builds are what was asked for: each of them is a result, also one that took no time.
    pub(crate) are_results: bool,
}

impl BuildOptions {
    /// Before something else: only what changed, with few words.
    pub(crate) const BEFORE: Self =
        Self { freshness: Freshness::Stamped, jobs: None, are_results: false };
}

/// Builds `subjects` and returns those that are not built. Errors are shown at once.
pub(crate) fn build_all(
    context: &Context,
    subjects: &[Subject],
    options: BuildOptions,
) -> BTreeSet<VariantId> {
    let project = &context.project;
    if project.embedded.is_some()
        && let Err(error) = embedded::make_cache(&project.state)
    {
        out::error(&error.to_string());
        let built = subjects.iter().filter(|it| !it.variant.build.is_empty());
        return built.map(|it| it.variant.id.clone()).collect();
    }
    let groups = parallel::groups(subjects);
    let how = (options.jobs.unwrap_or_else(parallel::default_jobs), options.freshness);
    let mut show = Show::new(options.are_results, groups.len());
    let mut observe = |event: &Event<'_>| show.on(event);
    let outcomes =
        parallel::build_all(subjects, &groups, how, context.interrupt.flag(), &mut observe);
    show.bar.finish_and_clear();
    let failed = groups.iter().zip(&outcomes).filter(|(_, it)| !matches!(it, Some(Ok(_))));
    let members = failed.flat_map(|(group, _)| &group.members);
    members.map(|&member| subjects[member].variant.id.clone()).collect()
}

/// What is shown while builds go on.
struct Show {
    are_results: bool,
    /// Hidden when standard error is no terminal.
    bar: ProgressBar,
    now: BTreeMap<usize, String>,
    ended: usize,
    all: usize,
}

impl Show {
    fn new(are_results: bool, all: usize) -> Self {
        let bar = crate::live::progress::bar(out::is_live());
        Self { are_results, bar, now: BTreeMap::new(), ended: 0, all }
    }

    fn on(&mut self, event: &Event<'_>) {
        match event {
            Event::Began { group } => {
                self.now.insert(key(group), group.name.clone());
                if self.bar.is_hidden() {
                    out::note(&format!("building {}", group.name));
                }
            }
            Event::Ended { group, outcome, took } => {
                self.now.remove(&key(group));
                self.ended += 1;
                self.ended(&group.name, outcome, *took);
            }
        }
        let names: Vec<&str> = self.now.values().map(String::as_str).collect();
        let Self { ended, all, .. } = self;
        let building = if names.is_empty() { "" } else { ", building " };
        self.bar.set_message(format!("{ended} of {all}{building}{}", names.join(", ")));
    }

    fn ended(&self, name: &str, outcome: &Result<Built, BuildError>, took: Duration) {
        let seconds = took.as_secs_f64();
        match outcome {
            Ok(Built::Nothing) if self.are_results => {
                self.bar.suspend(|| out::result(&format!("{name}: nothing to build")));
            }
            Ok(Built::UpToDate) if self.are_results => {
                self.bar.suspend(|| out::result(&format!("{name}: up to date")));
            }
            Ok(Built::Made) => {
                let text = format!("{name}: built in {seconds:.1} s");
                let show = if self.are_results { out::result } else { out::note };
                self.bar.suspend(|| show(&text));
            }
            // Nothing was done, or who sent the signal knows why.
            Ok(Built::Nothing | Built::UpToDate)
            | Err(BuildError::Command(CommandError::Interrupted)) => {}
            Err(error) => {
                self.bar.suspend(|| out::error(&format!("{name}: {error} (after {seconds:.1} s)")));
            }
        }
    }
}

/// The first member tells a group from all others.
fn key(group: &Group) -> usize {
    group.members[0]
}
