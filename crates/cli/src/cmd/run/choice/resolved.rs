//! The names of a suite: which entries they mean in this project, and which mean none. What a user names is checked
//! elsewhere.

use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    id::VariantId,
    journal::{Cause, LeftOut, Unavailable},
};

use crate::exit::usage;

/// The names of a suite, separated by whether they mean anything in this checkout.
#[derive(Default)]
pub(super) struct Resolved {
    pub(super) names: Vec<String>,
    /// Entries whose descriptions are wrong. The other entries can still run.
    pub(super) broken: Vec<Subject>,
    pub(super) missing: Vec<Unavailable>,
    pub(super) left_out: Vec<LeftOut>,
}

/// The entry that `name` refers to, if its description is wrong; its variants are then unknown.
pub(super) fn broken<'a>(known: &'a [Subject], name: &str) -> Option<&'a Subject> {
    let entry = name.split_once(':').map_or(name, |(entry, _)| entry);
    known.iter().find(|it| it.broken().is_some() && it.variant.id.entry() == entry)
}

impl Resolved {
    pub(super) fn of(names: &[String], known: &[Subject]) -> anyhow::Result<Self> {
        let mut here = Self::default();
        for name in names {
            if let Some(subject) = broken(known, name) {
                if !here.broken.contains(subject) {
                    here.broken.push(subject.clone());
                }
                continue;
            }
            let of_language = name.ends_with('/');
            if known.iter().any(|subject| subject.variant.id.is_among(name)) {
                here.names.push(name.clone());
            } else if of_language {
                let reason = "the project has no entry of this language".to_owned();
                here.left_out.push(LeftOut { what: name.clone(), reason });
            } else {
                let variant: VariantId = name.parse().map_err(usage)?;
                let same = |subject: &Subject| subject.variant.id.entry() == variant.entry();
                let reason = match (known.iter().any(same), variant.variant()) {
                    (true, Some(mode)) => {
                        format!("the entry `{}` has no variant `{mode}`", variant.entry())
                    }
                    _ => format!("the project has no entry `{}`", variant.entry()),
                };
                let cause = Cause::Missing;
                here.missing.push(Unavailable { variant, reason, cause });
            }
        }
        Ok(here)
    }
}
