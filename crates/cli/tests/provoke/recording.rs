//! Recorded evidence of the cases: written from what a debug build of wirebench appends to a file, and compared with
//! the list of cases.

use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path};
use wirebench_judge::validity::Evidence;
use wirebench_schema::journal::{Journal, Reason, ReasonKind, Run};

use crate::{
    bench,
    cases::Case,
    evidence_file::{self, Recorded, is_good},
};

/// Writes the evidence of one instance of each server, if it says the same as the journal.
pub(crate) fn write(case: &Case, journal: &Journal, lines: &Path) -> Result<(), String> {
    let text = fs::read_to_string(lines).map_err(|_| "only a debug build records".to_owned())?;
    let facts = text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>();
    let mut instances: Vec<((String, Option<u64>), Evidence)> = Vec::new();
    for mut fact in facts.map_err(|error| error.to_string())? {
        let key = (bench::name_of(fact["variant"].as_str().unwrap()), fact["copy"].as_u64());
        if fact.get("drift").is_some() {
            let (_, evidence) = instances.iter_mut().find(|(it, _)| *it == key).unwrap();
            evidence.instance.as_mut().unwrap().drift =
                serde_json::from_value(fact["drift"].take()).unwrap();
        } else {
            instances.push((key, serde_json::from_value(fact["evidence"].take()).unwrap()));
        }
    }
    let mut servers: BTreeMap<String, Evidence> = BTreeMap::new();
    for ((server, copy), evidence) in instances {
        let reasons = evidence.reasons();
        let is_of = |run: &Run| Some(run.copy.into()) == copy && run.outcome.reasons() == reasons;
        if !bench::runs_of(journal, &server).any(is_of) {
            return Err(format!("the evidence of {server} is not that of the journal"));
        }
        if suits(case, &server, &reasons) {
            servers.entry(server).or_insert(evidence);
        }
    }
    let recorded = Recorded { case: case.name.to_owned(), provoked: provoked(case), servers };
    let folder = folder();
    evidence_file::write(&folder, &recorded).map_err(|error| error.to_string())?;
    let written = evidence_file::read_all(&folder).map_err(|error| error.to_string())?;
    let written = written.into_iter().find(|it| it.case == case.name).unwrap();
    let reasons =
        |it: &Recorded| -> Vec<_> { it.servers.values().map(Evidence::reasons).collect() };
    match reasons(&written) == reasons(&recorded) {
        true => Ok(()),
        false => Err("the file does not have all that is judged".to_owned()),
    }
}

/// Whether an instance with these reasons is what the case is about.
fn suits(case: &Case, server: &str, reasons: &[Reason]) -> bool {
    let has = |kind| reasons.iter().any(|it| it.kind == kind);
    match case.provoked.is_empty() {
        true => is_good(reasons),
        false => case.provoked.iter().all(|(of, kind, _)| *of != server || has(*kind)),
    }
}

/// Whether the recorded cases are these, with the same kinds.
pub(crate) fn compare(cases: &[Case]) -> Result<(), String> {
    let recorded = evidence_file::read_all(&folder()).map_err(|error| error.to_string())?;
    let recorded: BTreeMap<String, _> =
        recorded.into_iter().map(|it| (it.case, it.provoked)).collect();
    let listed: BTreeMap<String, _> =
        cases.iter().map(|case| (case.name.to_owned(), provoked(case))).collect();
    match recorded == listed {
        true => Ok(()),
        false => Err(format!(
            "recorded: {recorded:#?}\nprovoked: {listed:#?}\nrun `cargo xtask provoke --record`"
        )),
    }
}

fn folder() -> std::path::PathBuf {
    evidence_file::folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../judge"))
}

/// The kinds of each server that must have some.
fn provoked(case: &Case) -> BTreeMap<String, Vec<ReasonKind>> {
    let mut kinds: BTreeMap<String, Vec<ReasonKind>> = BTreeMap::new();
    for (server, kind, _) in &case.provoked {
        kinds.entry((*server).to_owned()).or_default().push(*kind);
    }
    kinds
}
