//! The result of a comparison: the reports, the sentence, the exit code.

use anyhow::Context as _;
use wirebench_experiment::{experiment::Finished, journal};
use wirebench_report::ab::{Ab, AbOptions};

use super::Arguments;
use crate::{exit::Exit, interrupt::Interrupt, results};

impl Arguments {
    /// Prints what was found, the sentence last, and writes it into the folder of the results.
    pub(super) fn report(
        &self,
        interrupt: &Interrupt,
        finished: &Finished,
    ) -> anyhow::Result<Exit> {
        let wishes = AbOptions { metric: self.metric, conditions: self.gate.fail_if.clone() };
        let ab = Ab::of(&finished.journal, &wishes)
            .context("the journal does not hold two servers in pairs")?;
        let exit = interrupt.exit();
        let mut place = results::place(&finished.folder);
        if exit.is_some() {
            let resume = journal::resume_command(&finished.folder);
            place += &format!("\nResume with: {resume}");
        }
        self.format.print(&ab, place, |place| ab.page(Some(place)));
        results::write(finished, &ab)?;
        let of_gate = self.gate.conclude("ab", ab.gate.as_ref())?;
        Ok(exit.unwrap_or(match of_gate {
            Exit::Regression => of_gate,
            _ if !finished.all_well() => Exit::Failed,
            Exit::Fine if self.gate.strict && !ab.is_valid() => Exit::NotValid,
            _ => of_gate,
        }))
    }
}
