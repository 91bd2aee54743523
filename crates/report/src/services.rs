//! Notes on services that ran already: which were not restarted, and of which no process was read.

use wirebench_schema::{
    id::VariantId,
    journal::{Journal, Reason, ReasonKind},
};

/// One line for each fact, with the services that it concerns.
pub(crate) fn notes(journal: &Journal) -> Vec<String> {
    let note = |kind: ReasonKind| {
        let of = |id: &VariantId| {
            let mut runs = journal.runs.iter().filter(|run| run.variant == *id);
            runs.find_map(|run| run.outcome.reasons().iter().find(|reason| reason.kind == kind))
        };
        let ids = journal.start.variants.iter().map(|described| &described.variant);
        let (names, reasons): (Vec<String>, Vec<&Reason>) =
            ids.filter_map(|id| Some((id.to_string(), of(id)?))).unzip();
        reasons.first().map(|reason| format!("{}: {}", names.join(", "), reason.brief()))
    };
    [ReasonKind::NotRestarted, ReasonKind::NoProcesses].into_iter().filter_map(note).collect()
}
