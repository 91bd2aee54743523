//! Notes on what figures hold for: services that were not restarted or of which no process was read, servers that close
//! each connection, and engines of the load generator.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::{
    id::VariantId,
    journal::{Journal, Reason, ReasonKind},
    load::EngineChoice,
};

/// Kinds of reasons that change no verdict, but what the figures of a server are about.
const NOTED: [ReasonKind; 3] =
    [ReasonKind::NotRestarted, ReasonKind::NoProcesses, ReasonKind::ClosesAfterReply];

/// One line for each fact, with the servers that it concerns.
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
    NOTED.into_iter().filter_map(note).chain(engines(journal)).collect()
}

/// That servers under the same load were loaded by different engines.
fn engines(journal: &Journal) -> Option<String> {
    journal.start.workloads.iter().find_map(|workload| {
        let mut by_engine: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for run in journal.runs.iter().filter(|run| run.workload == workload.name) {
            let engine = run.outcome.measured().filter(|it| it.tool.is_none());
            let engine = engine.map(|it| it.load.engine).filter(|it| *it != EngineChoice::Auto);
            let servers = engine.map(|engine| by_engine.entry(engine.name()).or_default());
            servers.map(|it| it.insert(run.variant.to_string()));
        }
        let of = |(engine, servers): (&&str, &BTreeSet<String>)| {
            format!("{engine} for {}", servers.iter().cloned().collect::<Vec<_>>().join(", "))
        };
        let used: Vec<String> = by_engine.iter().map(of).collect();
        let text = || {
            format!(
                "the load generator used {}: their rates and latencies include its difference",
                used.join(" and ")
            )
        };
        (used.len() > 1).then(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use wirebench_schema::journal::Outcome;

    #[test]
    fn sides_that_were_loaded_by_different_engines_are_named() {
        let mut journal = fixtures::journal();
        let name = journal.start.workloads[0].name.clone();
        let mut run = |variant: &str, engine| {
            let mut run = fixtures::run(0, variant, fixtures::rate(1000.0));
            run.workload.clone_from(&name);
            if let Outcome::Measured(measured) = &mut run.outcome {
                measured.load.engine = engine;
            }
            journal.runs.push(run);
        };
        run("ab/A", EngineChoice::IoUring);
        run("ab/B", EngineChoice::Epoll);
        let text = engines(&journal).unwrap();
        assert!(
            text.starts_with("the load generator used epoll for ab/B and io_uring for ab/A:"),
            "{text}"
        );
    }
}
