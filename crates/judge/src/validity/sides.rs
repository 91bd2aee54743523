//! Findings about the two sides: where they ran, whether the server was checked, what it
//! cost, and how it ended.

use wirebench_schema::{
    journal::{Placement, Reason, ReasonKind, Weight},
    suite::Phase,
    verification::Verification,
};

use super::evidence::{Evidence, Processes, ServerEnd};

/// Bytes on standard error above which a server was busy with writing them.
const STDERR_BYTES: u64 = 64 * 1024;

pub(super) fn placement(placement: &Placement) -> Option<Reason> {
    if !placement.pinned {
        return Some(ReasonKind::NotPinned.reason(Weight::Invalid, None, ""));
    }
    if !placement.disjoint {
        return Some(ReasonKind::SharedCpu.reason(Weight::Invalid, None, ""));
    }
    let list = |cpus: &Vec<u32>| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let cores: Vec<String> = placement.split_cores.iter().map(list).collect();
    let detail = format!("CPUs {}", cores.join(" and "));
    let figure = Some(cores.len() as f64);
    (!cores.is_empty()).then(|| ReasonKind::SplitCore.reason(Weight::Note, figure, detail))
}

/// Whether the server was checked before.
pub(crate) fn not_verified(verification: Verification) -> Option<Reason> {
    let reason = || ReasonKind::NotVerified.reason(Weight::Invalid, None, "");
    (verification == Verification::LeftOut).then(reason)
}

/// Whether the server's cost was measured, and of which processes.
pub(super) fn cost(evidence: &Evidence) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let unknown = match evidence.processes {
        Processes::Lost(lost) => {
            let why = "ended without being waited for: SIGCHLD ignored or SA_NOCLDWAIT set";
            Some((Some(lost as f64), format!("{lost} {why}")))
        }
        Processes::Unread => Some((None, "between two visits".to_owned())),
        Processes::Same | Processes::Changed => None,
    };
    if let Some((lost, detail)) = unknown {
        let weight = if evidence.phase == Phase::Cost { Weight::Invalid } else { Weight::Note };
        reasons.push(ReasonKind::NoCost.reason(weight, lost, detail));
    }
    if evidence.end.runs_on && !evidence.cost.is_of_processes() {
        reasons.push(ReasonKind::NoProcesses.reason(Weight::Note, None, ""));
    }
    if evidence.processes != Processes::Same {
        reasons.push(ReasonKind::ProcessesChanged.reason(Weight::Note, None, ""));
    }
    reasons
}

/// How the server ended, and what it said.
pub(super) fn end(end: &ServerEnd) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut note = |kind: ReasonKind, figure: Option<f64>, detail: String| {
        reasons.push(kind.reason(Weight::Note, figure, detail));
    };
    if end.runs_on {
        note(ReasonKind::NotRestarted, None, String::new());
    }
    if end.forced {
        note(ReasonKind::Forced, None, String::new());
    }
    let left = &end.left_behind;
    if !left.is_empty() {
        note(ReasonKind::LeftBehind, Some(left.len() as f64), left.join(", "));
    }
    let bytes = end.stderr_bytes;
    if bytes > STDERR_BYTES {
        note(ReasonKind::Stderr, Some(bytes as f64), String::new());
    }
    reasons
}
