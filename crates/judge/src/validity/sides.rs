//! Findings about the two sides: where they ran, whether the server was checked, what it
//! cost, and how it ended.

use wirebench_schema::{
    journal::{Placement, Reason, ReasonKind, Weight},
    suite::Phase,
    verification::Verification,
};

use super::{Evidence, Processes, ServerEnd};

/// Bytes on standard error above which a server was busy with writing them.
const STDERR_BYTES: u64 = 64 * 1024;

pub(super) fn placement(placement: &Placement) -> Option<Reason> {
    if !placement.pinned {
        let text = "not pinned: server and generator may share CPUs";
        return Some(ReasonKind::NotPinned.reason(Weight::Invalid, None, text));
    }
    if !placement.disjoint {
        let text = "server and generator share a CPU, so figures include waiting";
        return Some(ReasonKind::SharedCpu.reason(Weight::Invalid, None, text));
    }
    let list = |cpus: &Vec<u32>| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let cores: Vec<String> = placement.split_cores.iter().map(list).collect();
    let text = format!(
        "server and generator share a core (CPUs {}): absolute figures are valid for this machine only",
        cores.join(" and ")
    );
    let figure = Some(cores.len() as f64);
    (!cores.is_empty()).then(|| ReasonKind::SplitCore.reason(Weight::Note, figure, text))
}

/// Whether the server was checked before.
pub(crate) fn not_verified(verification: Verification) -> Option<Reason> {
    let text = "not verified: conformance checks skipped";
    let reason = || ReasonKind::NotVerified.reason(Weight::Invalid, None, text);
    (verification == Verification::LeftOut).then(reason)
}

/// Whether the server's cost was measured, and of which processes.
pub(super) fn cost(evidence: &Evidence<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let unknown = match evidence.processes {
        Processes::Lost(lost) => {
            let text = format!(
                "no cost: {lost} server processes ended without being waited for (SIGCHLD ignored or \
                 SA_NOCLDWAIT set), so their CPU time is unknown"
            );
            Some((Some(lost as f64), text))
        }
        Processes::Unread => {
            let text = "no cost: server processes started or ended between two slices, so their CPU time is \
                        unknown";
            Some((None, text.to_owned()))
        }
        Processes::Same | Processes::Changed => None,
    };
    if let Some((lost, text)) = unknown {
        let weight = if evidence.phase == Phase::Cost { Weight::Invalid } else { Weight::Note };
        reasons.push(ReasonKind::NoCost.reason(weight, lost, text));
    }
    if evidence.processes != Processes::Same {
        let text = "server processes started or ended in the window";
        reasons.push(ReasonKind::ProcessesChanged.reason(Weight::Note, None, text));
    }
    reasons
}

/// How the server ended, and what it said.
pub(super) fn end(end: &ServerEnd) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut note = |kind: ReasonKind, figure: Option<f64>, text: String| {
        reasons.push(kind.reason(Weight::Note, figure, text));
    };
    if end.forced {
        note(ReasonKind::Forced, None, "the server ignored SIGTERM and was killed".to_owned());
    }
    let left = &end.left_behind;
    if !left.is_empty() {
        let text = format!("the server left processes behind: {}", left.join(", "));
        note(ReasonKind::LeftBehind, Some(left.len() as f64), text);
    }
    let bytes = end.stderr_bytes;
    if bytes > STDERR_BYTES {
        let text = format!(
            "the server wrote {bytes} bytes of output during the load, as an access log does, and wirebench \
             read them"
        );
        note(ReasonKind::Stderr, Some(bytes as f64), text);
    }
    reasons
}
