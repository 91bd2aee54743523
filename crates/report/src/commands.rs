//! `commands.txt`: the exact commands of a run, each cell once, to be read and typed again.

use std::{collections::BTreeSet, fmt::Write};
use wirebench_schema::{
    argv::display,
    journal::{Counts, Journal},
};

/// The commands of every cell of `journal`, from its first run that is no pilot. The port is another
/// one in each run. Silent connections need no generator.
#[must_use]
pub fn text(journal: &Journal) -> String {
    let mut text = format!("$ {}\n", display(&journal.start.command));
    let mut seen = BTreeSet::new();
    for run in journal.runs.iter().filter(|run| run.counts != Counts::Pilot) {
        if run.server_command.is_empty() || !seen.insert((&run.workload, &run.variant)) {
            continue;
        }
        let _ = write!(text, "\n# {} {}\n", run.workload, run.variant);
        for command in [&run.server_command, &run.generator_command] {
            if !command.is_empty() {
                text += &format!("{}\n", display(command));
            }
        }
    }
    text
}
