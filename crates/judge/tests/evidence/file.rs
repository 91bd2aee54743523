//! The files of recorded evidence, one for each fault that is provoked. `wirebench`'s test `provoke` writes them.
//!
//! A file has the facts that differ from those of a run in which nothing happened. So a new field with a default does
//! not make it invalid.

use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};
use wirebench_judge::{instance::InstanceEvidence, validity::Evidence, visits::VisitClocks};
use wirebench_schema::{
    journal::{Reason, ReasonKind},
    load::LatencySummary,
};

/// The server without a fault.
pub(crate) const GOOD: &str = "builtin/epoll";

/// Whether all reasons follow from what is asked for: from options, or from few connections.
pub(crate) fn is_good(reasons: &[Reason]) -> bool {
    use ReasonKind::{NeitherBound, NotPinned, NotVerified};
    reasons.iter().all(|it| matches!(it.kind, NotPinned | NotVerified | NeitherBound))
}

/// Whether a reason speaks against a server: a generator at its limit does not.
pub(crate) fn is_of_server(kind: ReasonKind) -> bool {
    kind != ReasonKind::GeneratorBound
}

/// One run of some servers, of which one at least has a fault.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// A sentence about the fault.
    pub(crate) case: String,
    /// The kinds of reason that each server must have.
    pub(crate) provoked: BTreeMap<String, Vec<ReasonKind>>,
    pub(crate) servers: BTreeMap<String, Evidence>,
}

/// The folder of the files, from the folder of the crate `judge`.
pub(crate) fn folder(of_judge: &Path) -> PathBuf {
    of_judge.join("tests/evidence")
}

/// All files, in the order of their names.
pub(crate) fn read_all(folder: &Path) -> io::Result<Vec<Recorded>> {
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|it| it.path()));
    let mut paths = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "json"));
    paths.sort();
    let read = |path: PathBuf| {
        let recorded = parse(&fs::read_to_string(&path)?);
        recorded.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
    };
    paths.into_iter().map(read).collect()
}

/// Writes the file of a case.
pub(crate) fn write(folder: &Path, recorded: &Recorded) -> io::Result<()> {
    let name = recorded.case.replace(|letter: char| !letter.is_alphanumeric(), "-");
    let server = |(name, evidence): (&String, &Evidence)| {
        let facts = difference(serde_json::to_value(without_histograms(evidence))?);
        Ok(format!("    {}: {facts}", json!(name)))
    };
    let servers = recorded.servers.iter().map(server).collect::<serde_json::Result<Vec<_>>>()?;
    let text = format!(
        "{{\n  \"case\": {},\n  \"provoked\": {},\n  \"servers\": {{\n{}\n  }}\n}}\n",
        json!(recorded.case),
        json!(recorded.provoked),
        servers.join(",\n")
    );
    fs::write(folder.join(name.replace("--", "-") + ".json"), text)
}

fn parse(text: &str) -> serde_json::Result<Recorded> {
    let mut value: Value = serde_json::from_str(text)?;
    let servers: Map<String, Value> = serde_json::from_value(value["servers"].take())?;
    let whole = |(name, facts)| {
        let mut evidence = serde_json::to_value(Evidence::default())?;
        complete(&mut evidence, facts);
        Ok((name, serde_json::from_value(evidence)?))
    };
    Ok(Recorded {
        case: serde_json::from_value(value["case"].take())?,
        provoked: serde_json::from_value(value["provoked"].take())?,
        servers: servers.into_iter().map(whole).collect::<serde_json::Result<_>>()?,
    })
}

/// A row for each reason, or one that says that there is none.
pub(crate) fn row(case: &str, server: &str, reason: Option<&Reason>) -> String {
    match reason {
        Some(reason) => {
            let Reason { kind, weight, .. } = reason;
            format!("| {case} | `{server}` | `{kind}` | {weight} | {reason} |")
        }
        None => format!("| {case} | `{server}` | - | - | - |"),
    }
}

/// The facts without the histograms of latencies, and without the figures of connecting: none is judged.
fn without_histograms(evidence: &Evidence) -> Evidence {
    let mut cut = evidence.clone();
    let load = &mut cut.load;
    load.connect = None;
    let summaries = [&mut load.latency, &mut load.service, &mut load.lag];
    for summary in summaries.into_iter().flatten() {
        *summary = LatencySummary {
            histogram: String::new(),
            replies: None,
            ages: None,
            ..summary.clone()
        };
    }
    cut
}

/// The facts that are not those of nothing. Elements of lists are whole, except clocks of visits, which are many.
fn difference(facts: Value) -> Value {
    let mut facts = differing(facts, &json!(Evidence::default()));
    if let Some(instance) = facts.get_mut("instance") {
        *instance = differing(instance.take(), &json!(InstanceEvidence::default()));
        for list in ["visits", "parked"] {
            let clocks = instance.get_mut(list).and_then(Value::as_array_mut);
            for clocks in clocks.into_iter().flatten() {
                *clocks = differing(clocks.take(), &json!(VisitClocks::default()));
            }
        }
    }
    facts
}

/// The keys of `value`, and of the objects in it, whose values are not those of `usual`.
fn differing(value: Value, usual: &Value) -> Value {
    match (value, usual) {
        (Value::Object(value), Value::Object(usual)) if !is_variant(usual) => {
            let others = value.into_iter().filter(|(key, it)| usual.get(key) != Some(it));
            let inner = |(key, it): (String, Value)| {
                let it = differing(it, usual.get(&key).unwrap_or(&Value::Null));
                (key, it)
            };
            Value::Object(others.map(inner).collect())
        }
        (value, _) => value,
    }
}

/// Whether it is a variant of an enumeration, which has one key: another variant has another one.
fn is_variant(object: &Map<String, Value>) -> bool {
    object.len() == 1
}

/// Puts the keys of `facts` into `value`.
fn complete(value: &mut Value, facts: Value) {
    match (value, facts) {
        (Value::Object(value), Value::Object(facts)) if !is_variant(value) => {
            for (key, fact) in facts {
                complete(value.entry(key).or_insert(Value::Null), fact);
            }
        }
        (value, facts) => *value = facts,
    }
}
