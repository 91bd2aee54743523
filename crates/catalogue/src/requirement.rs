//! Checks whether the requirements of an entry are available, and finds what installs them if not.
//! This module changes nothing; `setup` installs.

mod probe;
mod sources;

pub use probe::{ProbeIoUring, Prober, kernel_release};

use std::{collections::BTreeSet, path::PathBuf};
use wirebench_schema::{
    argv::display,
    entry::{Mechanism, Need, Requirement},
    placeholder,
};
use wirebench_server::executable::exists;

use crate::{
    attempts::{Attempt, package_key},
    checkouts::Checkouts,
    subject::{Origin, Subject},
};

/// Whether a subject can be built and run here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Availability {
    /// All that it needs is there.
    Ready,
    /// `wirebench setup` can bring what is missing.
    NeedsSetup(MissingParts),
    /// Something is missing that setup cannot bring, or could not.
    NotAvailable {
        /// Why, as a sentence without its full stop.
        reason: String,
    },
}

/// A command that brings something from an ecosystem's registry.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Fetch {
    pub argv: Vec<String>,
    /// The entry's folder, in which it runs.
    pub folder: PathBuf,
    /// The folder of the entry's build, which must be there.
    pub build: PathBuf,
    pub what: String,
}

impl Fetch {
    /// The command as one could type it, which is also the name of its attempts.
    #[must_use]
    pub fn shown(&self) -> String {
        display(&self.argv)
    }
}

impl Availability {
    /// The reason as one sentence with the next step; none when it is ready.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Ready => None,
            Self::NeedsSetup(MissingParts {
                missing, packages, fetches, checkouts, hints, ..
            }) => {
                let mut does = Vec::new();
                if !packages.is_empty() {
                    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
                    does.push(format!("installs {}", packages.join(" ")));
                }
                does.extend(fetches.iter().map(|fetch| format!("runs `{}`", fetch.shown())));
                does.extend(
                    checkouts.iter().flat_map(Checkouts::shown).map(|it| format!("fetches {it}")),
                );
                let entry = checkouts.iter().map(|it| format!(" {}", it.entry)).collect::<String>();
                let does = format!("`wirebench setup{entry}` {}", does.join(" and "));
                let clauses = [vec![missing.join(", "), does], hints.clone()].concat();
                Some(clauses.join("; "))
            }
            Self::NotAvailable { reason } => Some(reason.clone()),
        }
    }

    /// One of three words.
    #[must_use]
    pub const fn state(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NeedsSetup { .. } => "needs setup",
            Self::NotAvailable { .. } => "not available",
        }
    }

    /// The first clause of the reason: what is missing, without the next step.
    #[must_use]
    pub fn brief_reason(&self) -> Option<String> {
        match self {
            Self::Ready => None,
            Self::NeedsSetup(parts) => Some(parts.missing.join(", ")),
            Self::NotAvailable { reason } => {
                Some(reason.split_once("; ").map_or(&**reason, |(first, _)| first).to_owned())
            }
        }
    }
}

impl Prober<'_> {
    /// Looks at everything that `subject` needs, in the order in which the entry names it.
    ///
    /// What only another program can tell is asked only when all before it is there: without the
    /// program the answer would mean nothing. The packages of what was not asked are installed
    /// along with the others, so that one call of the installer is enough.
    #[must_use]
    pub fn availability(&self, subject: &Subject) -> Availability {
        if let Some(reason) = subject.broken() {
            return Availability::NotAvailable { reason: reason.to_owned() };
        }
        if self.assumes_all {
            return Availability::Ready;
        }
        let ring = Requirement { need: Need::IoUring, debian: vec![], fetch: None, hint: None };
        let needs_ring =
            subject.origin == Origin::Builtin && subject.variant.mechanism == Mechanism::IoUring;
        let mut lacks = MissingParts::default();
        for requirement in subject.variant.requires.iter().chain(needs_ring.then_some(&ring)) {
            if asks_others(&requirement.need) && !lacks.missing.is_empty() {
                lacks.packages.extend(requirement.debian.iter().cloned());
            } else if let Err(missing) = self.look(&requirement.need, subject) {
                self.add(&mut lacks, requirement, missing, subject);
            }
        }
        self.look_at_sources(&mut lacks, subject);
        if !lacks.beyond_reach.is_empty() {
            Availability::NotAvailable { reason: lacks.beyond_reach.join(", ") }
        } else if lacks.missing.is_empty() {
            Availability::Ready
        } else {
            Availability::NeedsSetup(lacks)
        }
    }

    /// Adds something that is missing to what is known: with its remedy, or why there is none.
    fn add(
        &self,
        lacks: &mut MissingParts,
        requirement: &Requirement,
        missing: String,
        subject: &Subject,
    ) {
        let hint = requirement.hint.iter().cloned();
        match self.remedy(requirement, subject) {
            Ok(Remedy::Packages) => lacks.packages.extend(requirement.debian.iter().cloned()),
            Ok(Remedy::Fetch(fetch)) => lacks.fetches.push(fetch),
            Err(why) => {
                let clauses = [missing.clone()].into_iter().chain(why).chain(hint.clone());
                lacks.beyond_reach.push(clauses.collect::<Vec<_>>().join("; "));
            }
        }
        lacks.missing.push(missing);
        lacks.hints.extend(hint);
    }

    /// What setup would do for a requirement that is missing. An error says why nothing, if there
    /// is more to say than that nothing installs it.
    fn remedy(
        &self,
        requirement: &Requirement,
        subject: &Subject,
    ) -> Result<Remedy, Option<String>> {
        let Some(fetch) = &requirement.fetch else {
            if requirement.debian.is_empty() {
                return Err(None);
            }
            if !exists("apt-get") {
                let packages = requirement.debian.join(" ");
                return Err(Some(format!(
                    "it is in {packages} of Debian; this system is not Debian"
                )));
            }
            let failed = requirement
                .debian
                .iter()
                .find_map(|package| Some((package, self.attempts.failure(&package_key(package))?)));
            return match failed {
                None => Ok(Remedy::Packages),
                Some((package, Attempt { date, said })) => {
                    Err(Some(format!("the Debian package {package} was tried on {date}: {said}")))
                }
            };
        };
        let argv = placeholder::fill_all(fetch, &subject.build_values());
        let fetch = Fetch {
            argv: argv.map_err(|error| Some(error.to_string()))?,
            folder: subject.source.clone(),
            build: subject.build.clone(),
            what: name(&requirement.need),
        };
        match self.attempts.failure(&fetch.shown()) {
            None => Ok(Remedy::Fetch(fetch)),
            Some(Attempt { date, said }) => {
                Err(Some(format!("`{}` failed on {date}: {said}", fetch.shown())))
            }
        }
    }
}

/// What has been found missing so far.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MissingParts {
    /// What is missing, each as a clause.
    pub missing: Vec<String>,
    /// The Debian packages that install it.
    pub packages: BTreeSet<String>,
    pub fetches: Vec<Fetch>,
    pub checkouts: Option<Checkouts>,
    pub hints: Vec<String>,
    /// Missing, with the reason why setup does not install it.
    beyond_reach: Vec<String>,
}

enum Remedy {
    Packages,
    Fetch(Fetch),
}

/// Whether another program is asked, which may itself be missing.
const fn asks_others(need: &Need) -> bool {
    match need {
        Need::Header(_) | Need::PkgConfig(_) | Need::Probe { .. } => true,
        Need::Command(_) | Need::Kernel { .. } | Need::IoUring => false,
    }
}

/// A need's name in a sentence.
fn name(need: &Need) -> String {
    match need {
        Need::Command(name) => format!("the program `{name}`"),
        Need::Header(name) => format!("the header <{name}>"),
        Need::PkgConfig(package) => format!("the pkg-config package `{package}`"),
        Need::Kernel { major, minor } => format!("Linux {major}.{minor} or later"),
        Need::IoUring => "io_uring".to_owned(),
        Need::Probe { what, .. } => what.clone(),
    }
}

#[cfg(test)]
mod tests;
