//! Notes on what figures hold for: services that were not restarted or of which no process was read, servers that close
//! each connection, and engines of the load generator.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::{
    id::VariantId,
    journal::{Journal, Reason, ReasonKind, Run},
    load::EngineChoice,
    verification::SAME_REPLIES,
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
    let differing = journal.verified.iter().flat_map(|it| {
        let replies = it.deviates.iter().filter(|(check, _)| check == SAME_REPLIES);
        replies.map(|(_, why)| format!("{}: {why}: their work may differ", it.variant))
    });
    NOTED.into_iter().filter_map(note).chain(engines(journal)).chain(differing).collect()
}

/// That servers under the same load were loaded by different engines.
fn engines(journal: &Journal) -> Option<String> {
    journal.start.workloads.iter().find_map(|workload| {
        let mut by_engine: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for run in journal.runs.iter().filter(|run| run.workload == workload.name) {
            let servers = engine(run).map(|engine| by_engine.entry(engine).or_default());
            servers.map(|it| it.insert(run.variant.to_string()));
        }
        let of = |(engine, servers): (&&str, &BTreeSet<String>)| {
            format!("{engine} for {}", servers.iter().cloned().collect::<Vec<_>>().join(", "))
        };
        let used: Vec<String> = by_engine.iter().map(of).collect();
        let used = (used.len() > 1).then(|| used.join(" and "))?;
        Some(format!(
            "the load generator used {used}: their rates and latencies include its difference"
        ))
    })
}

/// The engine that moved the bytes of a run; none where it is not known.
pub(crate) fn engine(run: &Run) -> Option<&'static str> {
    let measured = run.outcome.measured().filter(|it| it.tool.is_none());
    let engine = measured.map(|it| it.load.engine).filter(|it| *it != EngineChoice::Auto);
    engine.map(EngineChoice::name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn sides_that_were_loaded_by_different_engines_are_named() {
        let mut journal = fixtures::journal();
        let name = journal.start.workloads[0].name.clone();
        let mut run = |variant: &str, engine| {
            let outcome = fixtures::changed(fixtures::rate(1000.0), |it| it.load.engine = engine);
            let workload = name.clone();
            journal.runs.push(Run { workload, ..fixtures::run(0, variant, outcome) });
        };
        run("ab/A", EngineChoice::IoUring);
        run("ab/B", EngineChoice::Epoll);
        let text = engines(&journal).unwrap();
        assert!(
            text.starts_with("the load generator used epoll for ab/B and io_uring for ab/A:"),
            "{text}"
        );
    }

    #[test]
    fn servers_with_bodies_of_different_lengths_are_named_where_any_is_correct() {
        let mut journal = fixtures::journal();
        let why = "`GET` gets status 200, 48000 bytes; from ab/A it gets status 200, 47 bytes";
        journal.verified.push(fixtures::verified("ab/B", &[], &[(SAME_REPLIES, why)]));
        assert_eq!(notes(&journal), [format!("ab/B: {why}: their work may differ")]);
    }
}
