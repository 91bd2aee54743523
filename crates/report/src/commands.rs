//! `commands.txt`: the exact commands of a run, each cell once, to be read and typed again.

use std::{collections::BTreeSet, fmt::Write};
use wirebench_schema::{argv::display, journal::Journal};

/// The commands of every cell of `journal`, from its first run. The port is another one in each
/// run.
#[must_use]
pub fn text(journal: &Journal) -> String {
    let mut text = format!("$ {}\n", display(&journal.start.command));
    let mut seen = BTreeSet::new();
    for run in &journal.runs {
        if run.server_command.is_empty() || !seen.insert((&run.workload, &run.variant)) {
            continue;
        }
        let (server, generator) = (display(&run.server_command), display(&run.generator_command));
        let _ = write!(text, "\n# {} {}\n{server}\n{generator}\n", run.workload, run.variant);
    }
    text
}
