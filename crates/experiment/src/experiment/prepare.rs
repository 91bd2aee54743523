//! Finds out what can be measured, builds it, and reads its versions and those of the machine.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};
use wirebench_catalogue::{
    build::{
        BuildError, Freshness,
        parallel::{self, Event, Group},
    },
    requirement::{Availability, Prober},
    subject::{Origin, Subject},
    version,
};
use wirebench_host::environment;
use wirebench_schema::{
    environment::Environment,
    id::VariantId,
    journal::{Cause, Unavailable},
};

use super::{Observer, Progress};

/// What is ready to be measured, and what is not.
#[derive(Debug, Default)]
pub struct Prepared {
    pub ready: Vec<(Subject, BTreeMap<String, String>)>,
    /// Not ready, with reasons.
    pub unavailable: Vec<Unavailable>,
    /// The machine, as it was before wirebench bound itself to some of its CPUs.
    pub environment: Environment,
}

impl Prepared {
    #[must_use]
    pub fn subjects(&self) -> Vec<Subject> {
        self.ready.iter().map(|(subject, _)| subject.clone()).collect()
    }

    /// The variants that `names` mean and that are ready, in the order of the names.
    #[must_use]
    pub fn ready_among(&self, names: &[&str]) -> Vec<VariantId> {
        let ids = || self.ready.iter().map(|(subject, _)| &subject.variant.id);
        names.iter().filter_map(|name| ids().find(|id| id.matches(name)).cloned()).collect()
    }
}

/// Prepares every subject. One that cannot be prepared becomes a reason, never an error. `revision` is that of the
/// project.
pub fn prepare(
    subjects: Vec<Subject>,
    revision: Option<String>,
    prober: &Prober<'_>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Prepared {
    let mut prepared = Prepared::default();
    let missing: Vec<_> = prober.survey(&subjects).iter().map(Availability::reason).collect();
    let there = subjects.iter().zip(&missing).filter(|(_, missing)| missing.is_none());
    let built = build_all(&there.map(|(it, _)| it.clone()).collect::<Vec<_>>(), stop, observer);
    let all = subjects.into_iter().zip(missing);
    for (subject, missing) in all.take_while(|_| !stop.load(Ordering::Relaxed)) {
        // What has all that it needs should have worked.
        let broke = missing.is_none() || subject.broken().is_some();
        let cause = if broke { Cause::Broken } else { Cause::Missing };
        let failure = missing.or_else(|| built.get(&subject.variant.id).cloned());
        match failure.map_or_else(|| version::versions(&subject, stop), Err) {
            Ok(versions) => prepared.ready.push((subject, versions)),
            Err(reason) => {
                let unavailable = Unavailable { variant: subject.variant.id, reason, cause };
                observer.on(&Progress::Unavailable(&unavailable));
                prepared.unavailable.push(unavailable);
            }
        }
    }
    prepared.environment = environment::gather(revision);
    // Entries declare the tools whose versions matter to them.
    if prepared.ready.iter().any(|(it, _)| matches!(it.origin, Origin::Own)) {
        prepared.environment.tools = environment::versions(stop);
    }
    prepared
}

/// Builds all subjects and returns why some are not built.
fn build_all(
    subjects: &[Subject],
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> BTreeMap<VariantId, String> {
    let groups = parallel::groups(subjects);
    let mut observe = |event: &Event<'_>| match event {
        Event::Began { group } => {
            ids(group, subjects).for_each(|variant| observer.on(&Progress::Building { variant }));
        }
        Event::Ended { group, outcome: Ok(built), .. } => {
            let built = *built;
            ids(group, subjects)
                .for_each(|variant| observer.on(&Progress::Built { variant, built }));
        }
        // It is reported as a subject that cannot be measured.
        Event::Ended { outcome: Err(_), .. } => {}
    };
    let how = (parallel::default_jobs(), Freshness::Stamped);
    let outcomes = parallel::build_all(subjects, &groups, how, stop, &mut observe);
    let failed = groups.iter().zip(outcomes).filter_map(|(group, it)| Some((group, it?.err()?)));
    let of_group = |(group, error): (_, BuildError)| {
        ids(group, subjects).map(move |id| (id.clone(), error.to_string()))
    };
    failed.flat_map(of_group).collect()
}

fn ids<'a>(group: &'a Group, subjects: &'a [Subject]) -> impl Iterator<Item = &'a VariantId> {
    group.members.iter().map(|&member| &subjects[member].variant.id)
}
