//! What a run says of itself: which side was at its limit, and what a reader must know before
//! trusting the figures. Pure.

use wirebench_schema::{
    journal::{Bound, Cost, Placement, Reason, ReasonKind, ToolReport, Weight},
    load::{LoadReport, MOST_ARE_READY},
};

use crate::launch::Stopped;

/// A side that was busy for this share of the window was at its limit.
const BUSY: f64 = 0.95;
/// Bytes on standard error above which a server was busy with writing them.
const STDERR_BYTES: u64 = 64 * 1024;

/// Which side was at its limit.
///
/// Two busy sides say little, because a side with time to spare spends it on looking more often for
/// less. Then the place tells where the requests of the closed loop waited: more than half of them
/// at one side make it the limit.
pub(crate) fn bound(cost: &Cost, ready_share: f64) -> Bound {
    // A thread that is busy all the time is a limit even when other workers have time to spare.
    let server = cost.cpu_share >= BUSY || cost.busiest_thread_share >= BUSY;
    let generator = cost.generator_cpu_share >= BUSY;
    match (server, generator) {
        (true, true) if ready_share > MOST_ARE_READY => Bound::Generator,
        (true, _) => Bound::Server,
        (false, true) => Bound::Generator,
        (false, false) => Bound::Neither,
    }
}

/// What a reader must know of a load before trusting the figures.
pub(crate) fn load_reasons(load: &LoadReport) -> Vec<Reason> {
    let (errors, examples) = (load.errors.total(), load.error_examples.join("; "));
    let failed = (errors > 0).then(|| failed(load, format!("{errors} errors: {examples}")));
    let faults = load.faults().into_iter();
    let faults = faults.map(|text| ReasonKind::Unanswered.reason(Weight::Invalid, None, text));
    failed.into_iter().chain(faults).collect()
}

fn failed(load: &LoadReport, text: String) -> Reason {
    ReasonKind::Errors.reason(Weight::Invalid, Some(load.errors.total() as f64), text)
}

/// What a reader must know of a load that another generator than our own has made.
pub(crate) fn tool_reasons(load: &LoadReport, tool: &ToolReport) -> Vec<Reason> {
    let generator = &tool.generator;
    let text = format!(
        "load by {generator}: it compares no reply, and the server's CPU time is that of the whole \
         of its run, with connecting"
    );
    let mut reasons = vec![ReasonKind::ForeignGenerator.reason(Weight::Note, None, text)];
    if load.errors.total() > 0 {
        let text = format!("{} errors: {}", load.errors.total(), error_kinds(load));
        reasons.push(failed(load, text));
    }
    reasons
}

/// Why a load has no figures: nothing was answered correctly.
pub(crate) fn nothing_answered(load: &LoadReport) -> String {
    let mut reason = "no request was answered correctly in the window".to_owned();
    for example in &load.error_examples {
        reason += &format!(": {example}");
    }
    if load.error_examples.is_empty() && load.errors.total() > 0 {
        reason += &format!(": {}", error_kinds(load));
    }
    reason
}

/// How many errors of each kind there were.
fn error_kinds(load: &LoadReport) -> String {
    let kinds = load.errors.kinds().into_iter().filter(|(_, count)| *count > 0);
    let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{count} {kind}")).collect();
    kinds.join(", ")
}

/// What a reader must know of the two sides before trusting the figures.
pub(crate) fn side_reasons(placement: &Placement, stopped: &Stopped) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut flag = |condition: bool, (kind, weight): (ReasonKind, Weight), text: String| {
        if condition {
            reasons.push(kind.reason(weight, None, text));
        }
    };
    let not_pinned = (ReasonKind::NotPinned, Weight::Invalid);
    flag(
        !placement.pinned,
        not_pinned,
        "not pinned: server and generator may share CPUs".to_owned(),
    );
    flag(
        placement.pinned && !placement.disjoint,
        (ReasonKind::SharedCpu, Weight::Invalid),
        "server and generator share a CPU: their figures contain each other's waiting".to_owned(),
    );
    let forced = (ReasonKind::Forced, Weight::Note);
    flag(stopped.forced, forced, "the server ignored SIGTERM and was killed".to_owned());
    let left = &stopped.left_behind;
    let behind = (ReasonKind::LeftBehind, Weight::Note);
    flag(
        !left.is_empty(),
        behind,
        format!("the server left processes behind: {}", left.join(", ")),
    );
    flag(
        stopped.stderr_bytes > STDERR_BYTES,
        (ReasonKind::Stderr, Weight::Note),
        format!("the server wrote {} bytes to standard error", stopped.stderr_bytes),
    );
    reasons
}

#[cfg(test)]
mod tests;
