//! The records of the runs of a cohort.

use wirebench_schema::journal::{Outcome, Run};

use super::{
    course::{Cohort, Rounds, Slices},
    member::Ended,
    sum::Parts,
};
use crate::measure::{Cell, failed};

impl Cohort<'_> {
    pub(super) fn runs_of<'r>(
        &self,
        ended: &Ended<'_>,
        rounds: &'r Result<Rounds, String>,
        started: &str,
    ) -> Vec<Run> {
        let own = self.cells.iter().filter(|cell| cell.is_of(ended.subject, ended.copy));
        let outcome = |cell: &Cell<'_>| {
            let failed = |reason| failed(reason, ended.stopped.stderr.clone());
            let rounds = match (&ended.failure, rounds) {
                (None, Ok(rounds)) => rounds,
                (Some(reason), _) | (_, Err(reason)) => return failed(reason.clone()),
            };
            let key = (ended.load, cell.workload.name.clone());
            let of = |slices: &'r Slices| slices.get(&key).map_or(&[][..], Vec::as_slice);
            let parts = Parts {
                settings: self.settings,
                cell,
                ended,
                slices: of(&rounds.slices),
                natural: of(&rounds.natural),
                programs: &rounds.programs,
            };
            match parts.measurement() {
                Ok(measurement) => Outcome::Measured(Box::new(measurement)),
                Err(reason) => failed(reason),
            }
        };
        own.map(|cell| Run {
            server_command: ended.command.clone(),
            generator_command: ended.commands.get(&cell.workload.name).cloned().unwrap_or_default(),
            outcome: outcome(cell),
            ..self.empty(cell, started)
        })
        .collect()
    }

    pub(super) fn failed(&self, cell: &Cell<'_>, started: &str, reason: String) -> Run {
        Run { outcome: failed(reason, String::new()), ..self.empty(cell, started) }
    }

    fn empty(&self, cell: &Cell<'_>, started: &str) -> Run {
        Run { group: self.group, started: started.to_owned(), ..self.settings.begin(cell) }
    }
}
