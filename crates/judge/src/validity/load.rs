//! Findings about a load that depend on more than the generator's own report: which side was
//! its limit, and that another program made it.

use wirebench_schema::{
    journal::{Bound, Reason, ReasonKind, ToolReport, Weight},
    load::{LoadModel, LoadReport},
    suite::Phase,
};

use super::Evidence;
use crate::load::{ready, verdict};

/// That the rate is not the server's, in a phase whose figure is the rate.
pub(super) fn bound(evidence: &Evidence) -> Option<Reason> {
    let Evidence { phase, load, cost, tool, .. } = evidence;
    let bound = evidence.bound();
    let is_free = match &load.config.model {
        LoadModel::Closed => true,
        // Pauses are meant to set the rate; only a generator that cannot keep them is a limit.
        LoadModel::Think { .. } => bound == Bound::Generator,
        // A server that keeps a schedule shows only that, however busy it was.
        LoadModel::Rate { .. } => verdict(load).limit == Bound::Generator,
    };
    if *phase != Phase::Saturate || !is_free {
        return None;
    }
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    match bound {
        Bound::Server | Bound::Schedule | Bound::Unknown => None,
        Bound::Generator => {
            // Where the requests of another generator wait is not known.
            let ready = match tool {
                Some(_) => String::new(),
                None => ready(load, "were "),
            };
            let share = cost.generator_cpu_share;
            Some(ReasonKind::GeneratorBound.reason(Weight::Limit, Some(share), ready))
        }
        Bound::Neither => {
            let detail = format!("load generator at {}", percent(cost.generator_cpu_share));
            Some(ReasonKind::NeitherBound.reason(Weight::Note, Some(cost.cpu_share), detail))
        }
    }
}

/// Findings about a load that a third-party generator has generated.
pub(super) fn by_another_generator(load: &LoadReport, tool: &ToolReport) -> Vec<Reason> {
    let generator = &tool.generator;
    let detail = format!("{generator}; the server's CPU time includes connecting");
    let mut reasons = vec![ReasonKind::ForeignGenerator.reason(Weight::Note, None, detail)];
    let errors = load.errors.total();
    if errors > 0 {
        let kinds = error_kinds(load);
        reasons.push(ReasonKind::Errors.reason(Weight::Invalid, Some(errors as f64), kinds));
    }
    reasons
}

/// How many errors of each kind there were.
pub(super) fn error_kinds(load: &LoadReport) -> String {
    let kinds = load.errors.kinds().into_iter().filter(|(_, count)| *count > 0);
    let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{count} {kind}")).collect();
    kinds.join(", ")
}
