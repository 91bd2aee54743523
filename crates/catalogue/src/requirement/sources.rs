//! Looks whether the sources of an entry are fetched.

use wirebench_schema::entry::{Need, Requirement};
use wirebench_server::executable::exists;

use super::{MissingParts, Prober};
use crate::{attempts::Attempt, subject::Subject};

impl Prober<'_> {
    /// Adds the sources to what is missing, unless the entry has none or they are there.
    pub(super) fn look_at_sources(&self, lacks: &mut MissingParts, subject: &Subject) {
        let Some(checkouts) = subject.checkouts.as_ref().filter(|it| !it.are_there()) else {
            return;
        };
        if !exists("git") {
            let git = Requirement {
                need: Need::Command("git".to_owned()),
                debian: vec!["git".to_owned()],
                fetch: None,
                hint: None,
            };
            let missing = "the program `git`, which fetches its source, is missing".to_owned();
            return self.add(lacks, &git, missing, subject);
        }
        let missing = "its source is not fetched".to_owned();
        match self.attempts.failure(&checkouts.key()) {
            None => lacks.checkouts = Some(checkouts.clone()),
            Some(Attempt { date, said }) => lacks.beyond_reach.push(format!(
                "{missing}: `wirebench setup {}` failed on {date}: {said}",
                checkouts.entry
            )),
        }
        lacks.missing.push(missing);
    }
}
