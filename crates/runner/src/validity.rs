//! What a run says of itself: which side was at its limit, and what a reader must know before
//! trusting the figures. Pure.

use wirebench_schema::{
    journal::{Bound, Cost, Placement},
    load::LoadReport,
};

use crate::launch::Stopped;

/// A side that was busy for this share of the window was at its limit.
const BUSY: f64 = 0.95;
/// Bytes on standard error above which a server was busy with writing them.
const STDERR_BYTES: u64 = 64 * 1024;
/// Jain's index below which some connections were starved.
const FAIR: f64 = 0.8;
/// Samples of which ten lie beyond the 99th percentile.
const ENOUGH_SAMPLES: u64 = 1000;

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
        (true, true) if ready_share > 0.5 => Bound::Generator,
        (true, _) => Bound::Server,
        (false, true) => Bound::Generator,
        (false, false) => Bound::Neither,
    }
}

/// What a reader must know before trusting the figures.
pub(crate) fn flags(load: &LoadReport, placement: &Placement, stopped: &Stopped) -> Vec<String> {
    let mut flags = Vec::new();
    let mut flag = |condition: bool, text: String| {
        if condition {
            flags.push(text);
        }
    };
    let asked = load.config.connections;
    let examples = load.error_examples.join("; ");
    flag(load.errors.total() > 0, format!("{} errors: {examples}", load.errors.total()));
    let made = load.connections_made;
    flag(made < asked, format!("{made} of {asked} connections could be made"));
    let busy = load.unanswered();
    flag(
        busy.is_some(),
        format!(
            "only {:.1} of {made} connections had a request that was answered, on average (Little's \
             law); {} requests had no answer when the window ended",
            busy.unwrap_or(0.0),
            load.in_flight_at_end
        ),
    );
    let samples = load.latency.as_ref().map_or(0, |latency| latency.count);
    flag(
        samples < ENOUGH_SAMPLES,
        format!("{samples} samples are too few for a 99th percentile: ten must lie beyond it"),
    );
    let fairness = load.fairness;
    flag(
        load.requests > 0 && fairness.jain_index < FAIR,
        format!(
            "unevenly served: {} to {} replies a connection, Jain's index {:.2}",
            fairness.replies_least, fairness.replies_most, fairness.jain_index
        ),
    );
    flag(!placement.pinned, "not pinned: server and generator may share CPUs".to_owned());
    flag(
        placement.pinned && !placement.disjoint,
        "server and generator share a CPU: their figures contain each other's waiting".to_owned(),
    );
    flag(stopped.forced, "the server ignored SIGTERM and was killed".to_owned());
    let left = &stopped.left_behind;
    flag(!left.is_empty(), format!("the server left processes behind: {}", left.join(", ")));
    flag(
        stopped.stderr_bytes > STDERR_BYTES,
        format!("the server wrote {} bytes to standard error", stopped.stderr_bytes),
    );
    flags
}

#[cfg(test)]
mod tests;
