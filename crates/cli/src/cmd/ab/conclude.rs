//! What came of a comparison: the reports, the sentence, the exit code.

use anyhow::Context as _;
use wirebench_experiment::{experiment::Finished, journal};
use wirebench_report::{
    ab::{Ab, AbOptions, Verdict},
    analysis::Reads,
    compare::Gate,
};

use super::Arguments;
use crate::{exit::Exit, interrupt::Interrupt, junit, out, results};

impl Arguments {
    /// Prints what was found, the sentence last, and writes it into the folder of the results.
    pub(super) fn report(
        &self,
        interrupt: &Interrupt,
        finished: &Finished,
    ) -> anyhow::Result<Exit> {
        let wishes = AbOptions { metric: self.metric, conditions: self.fail_if.clone() };
        let ab = Ab::of(&finished.journal, &wishes)
            .context("the journal does not hold two servers in pairs")?;
        let exit = interrupt.exit();
        let mut place = results::place(&finished.folder);
        if exit.is_some() {
            let resume = journal::resume_command(&finished.folder);
            place += &format!("\nResume with: {resume}");
        }
        match self.format.text(&ab, None) {
            Some(text) => {
                out::note(&place);
                out::result(&text);
            }
            None => out::result(&format!("{}{place}\n{}", ab.lines(), ab.sentence())),
        }
        results::write(finished, &ab)?;
        let gate = ab.gate.as_ref();
        junit::write_gate(self.junit.as_deref(), "ab", gate)?;
        for warning in gate.iter().flat_map(|gate| &gate.warnings) {
            out::note(&format!("warning: {warning}"));
        }
        let well = finished.all_well() && !gate.is_some_and(Gate::fails);
        Ok(exit.unwrap_or(match (well, self.strict && !is_valid(&ab)) {
            (false, _) => Exit::Failed,
            (true, false) => Exit::Fine,
            (true, true) => Exit::NotValid,
        }))
    }
}

/// Whether the verdict is about figures that are what they claim to be.
fn is_valid(ab: &Ab<'_>) -> bool {
    let ratio = ab.figures.first().and_then(|figure| figure.ratio.as_ref());
    matches!(ab.verdict, Verdict::Claimed(_)) && ratio.is_some_and(|it| it.reads == Reads::Exactly)
}
