//! Finds out what can be measured, builds it, and reads its versions.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};
use wirebench_schema::{id::VariantId, journal::Unavailable};

use super::{Observer, Progress};
use crate::{build, requirement::Prober, subject::Subject, version};

/// What is ready to be measured, and what is not.
#[derive(Debug, Default)]
pub struct Prepared {
    /// Ready, with versions.
    pub ready: Vec<(Subject, BTreeMap<String, String>)>,
    /// Not ready, with reasons.
    pub unavailable: Vec<Unavailable>,
    /// Whether something that should have worked did not: a build failed although all that it
    /// needs is there.
    pub something_broke: bool,
}

impl Prepared {
    /// The variants that `names` mean and that are ready, in the order of the names.
    #[must_use]
    pub fn ready_among(&self, names: &[&str]) -> Vec<VariantId> {
        let ids = || self.ready.iter().map(|(subject, _)| &subject.variant.id);
        names.iter().filter_map(|name| ids().find(|id| id.matches(name)).cloned()).collect()
    }
}

/// Prepares every subject. One that cannot be prepared becomes a reason, never an error.
pub fn prepare(
    subjects: Vec<Subject>,
    prober: &Prober<'_>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Prepared {
    let mut prepared = Prepared::default();
    for subject in subjects {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let missing = prober.availability(&subject).reason();
        let broke = missing.is_none();
        let outcome = match missing {
            None => build_and_read(&subject, stop, observer),
            Some(reason) => Err(reason),
        };
        match outcome {
            Ok(versions) => prepared.ready.push((subject, versions)),
            Err(reason) => {
                prepared.something_broke |= broke;
                let unavailable = Unavailable { variant: subject.variant.id, reason };
                observer.on(&Progress::Unavailable(&unavailable));
                prepared.unavailable.push(unavailable);
            }
        }
    }
    prepared
}

fn build_and_read(
    subject: &Subject,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<BTreeMap<String, String>, String> {
    let variant = &subject.variant.id;
    observer.on(&Progress::Building { variant });
    let built = build::build(subject, false, stop).map_err(|error| error.to_string())?;
    observer.on(&Progress::Built { variant, built });
    version::versions(subject, stop)
}
