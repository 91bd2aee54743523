//! A result on its way out: printed in its form, written to its folder, and judged by the conditions.

use wirebench_experiment::experiment::Finished;
use wirebench_report::{Report, gates::Gate};

use crate::{
    args::{
        format::FormatArgs,
        gate::{GateArgs, Shown},
    },
    exit::Exit,
    live::interrupt::Interrupt,
    out,
    results::stored,
};

/// The form of a result, and its conditions.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DeliveryArgs {
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

impl DeliveryArgs {
    /// Prints a stored result, on a terminal as `page`, and returns the exit code.
    pub(crate) fn show(
        &self,
        verb: &str,
        report: &dyn Report,
        gate: Option<&Gate>,
        page: impl FnOnce() -> String,
    ) -> anyhow::Result<Exit> {
        out::result(&self.format.text(report, None, page));
        self.judge((verb, gate, Shown::There), || Exit::Fine)
    }

    /// Prints a result that has just been measured and the place of its report files, and writes them. Returns the
    /// exit code, which is `of_result` unless a condition or an interrupt has one.
    pub(crate) fn keep(
        &self,
        verb: &str,
        report: &dyn Report,
        gate: Option<&Gate>,
        (finished, interrupt): (&Finished, &Interrupt),
        page: impl FnOnce(String) -> String,
        of_result: impl FnOnce() -> Exit,
    ) -> anyhow::Result<Exit> {
        let exit = interrupt.exit();
        let mut place = stored::place(&finished.folder);
        // A sweep or a search starts anew.
        if exit.is_some() && verb != "tune" {
            place += &format!("\n{}", finished.next_step());
        }
        if self.format.form.get().is_some() {
            out::note(&place);
        }
        out::result(&self.format.text(report, None, || page(place)));
        stored::write(finished, report)?;
        self.judge((verb, gate, Shown::There), || exit.unwrap_or_else(of_result))
    }

    /// Judges a result whose text has the results of conditions as `shown` says; other forms do not.
    pub(crate) fn judge(
        &self,
        (verb, gate, shown): (&str, Option<&Gate>, Shown),
        of_result: impl FnOnce() -> Exit,
    ) -> anyhow::Result<Exit> {
        let shown = if self.format.form.get().is_some() { Shown::Aside } else { shown };
        self.gate.conclude((verb, gate, shown), self.gate.inconclusive(), of_result)
    }
}
